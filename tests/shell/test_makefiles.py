"""Makefiles that a command brings itself: what make would run for the goals is judged."""

from __future__ import annotations

import pytest

FILES = {
    "/etc/x": "",
    "/home/me/app/Makefile": "all:\n\techo all\ninstall:\n\tcp a /etc/x\n",
    "/home/me/app/own.mk": "all:\n\tcat /etc/x\n",
    "/home/me/app/a.c": "",
    "/home/me/app/sub/b.c": "",
}


def written(text: str, then: str = "make", name: str = "Makefile") -> str:
    return f"cat > {name} <<'EOF'\n{text}\nEOF\n{then}"


@pytest.mark.parametrize(
    ("text", "then", "touched"),
    [
        ("all:\n\tcat /etc/x", "make", ["/etc/x"]),
        ("all: ; @cat /etc/x", "make all", ["/etc/x"]),
        ("all: b\nb:\n\t@-cat /etc/x", "make", ["/etc/x"]),
        ("all:\n\tcat \\\n\t  /etc/x", "make", ["/etc/x"]),
        ("all:\n\techo \\\n  ok", "make -s -j4", []),
        # Only the goals, and what they need.
        ("all:\n\techo\ninstall:\n\tcp a /etc/x", "make", []),
        ("all:\n\techo\ninstall:\n\tcp a /etc/x", "make -j 2 all", []),
        ("all:\n\techo\ninstall:\n\tcp a /etc/x", "make -s install", ["/etc/x"]),
        ("all:\n\techo\ninstall: all\n\tcp a /etc/x", "make -n install", []),
        (".PHONY: all x\nall: a.o\n%.o: %.c\n\tcc -c $< -o $@ -include /etc/x", "make", ["/etc/x"]),
        (".DEFAULT_GOAL := b\na:\n\tls\nb:\n\tcat /etc/x", "make", ["/etc/x"]),
        # Variables.
        ("D = /etc\nall:\n\tcat $(D)/x", "make", ["/etc/x"]),
        ("D := /etc\nF = ${D}/x\nall:\n\tcat $F", "make", ["/etc/x"]),
        ("D ?= .\nall:\n\tcat $(D)/x", "make", []),
        ("D ?= .\nall:\n\tcat $(D)/x", "make D=/etc", ["/etc/x"]),
        ("D ?= .\nall:\n\tcat $(D)/x", "export D=/etc; make", ["/etc/x"]),
        ("all: D = /etc\nall:\n\tcat $(D)/x", "make", ["/etc/x"]),
        ("all:\n\tfor f in x; do cat /etc/$$f; done", "make", ["/etc/x"]),
        ("all:\n\tcat $(HOME)/x", "make", ["/home/me/x"]),
        ("define R\ncat /etc/x\nendef\nall:\n\t$(R)", "make", ["/etc/x"]),
        (("CC ?= gcc\nOBJ = $(patsubst %.c,%.o,$(wildcard *.c))\nSRC = a.c\nall: p\np: $(OBJ)\n"
         "\t$(CC) $(CFLAGS) -o $@ $^ $(LDFLAGS)\n%.o: %.c\n\t$(CC) -c $< -o $@\n"
         "q: $(SRC:.c=.o)\nclean:\n\t$(RM) -r p *.o"), "make && make clean", []),
        # Functions.
        ("all:\n\tcat $(addprefix /etc/,x)", "make", ["/etc/x"]),
        ("X := $(shell cat /etc/x)\nall:\n\tls", "make", ["/etc/x"]),
        ("V := $(shell git describe)\nall:\n\tdocker build -t app:$(V) .", "make", []),
        ("X != cat /etc/x\nall:\n\tls", "make", ["/etc/x"]),
        ("$(file >/etc/x,text)\nall:\n\tls", "make", ["/etc/x"]),
        ("include /etc/x\nall:\n\tls", "make", ["/etc/x"]),
        ("$(eval $(shell cat list))\nall:\n\tls", "make", ["opaque make"]),
        # Variables that grow without end, or hold themselves.
        ("\n".join(f"A{n} = " + f"$(A{n + 1})" * 9 for n in range(20)) + "\nall:\n\tcat $(A0)", "make",
         ["opaque make"]),
        ("A = $(A)/x\nall:\n\tcat $(A)", "make", ["opaque make"]),
        # Where, and with what.
        ("SHELL := /bin/bash\nall:\n\tcat /etc/x", "make", ["/etc/x"]),
        ("SHELL := python3\nall:\n\topen('/etc/x')", "make", ["opaque make"]),
        (".ONESHELL:\nall:\n\tcd /etc\n\tcat x", "make", ["/etc", "/etc/x"]),
        ("all:\n\tcd /etc\n\tcat x", "make", ["/etc"]),
        ("all:\n\t$(MAKE) -C sub", "make", []),
    ],
)  # fmt: skip
def test_makefiles_that_are_written(rooted, text, then, touched):
    """Recipes, and what is run while the file is read."""
    assert rooted(FILES).touched(written(text, then)) == touched


@pytest.mark.parametrize(
    ("command", "touched"),
    [
        ("printf 'all:\\n\\tcat /etc/x\\n' | make -f -", ["/etc/x"]),
        ("make -f - <<< 'all: ; cat /etc/x'", ["/etc/x"]),
        ("make --file=- <<< 'all: ; cat /etc/x'", ["/etc/x"]),
        ("make -f /dev/stdin <<< 'all: ; cat /etc/x'", ["/etc/x"]),
        ("make -f <(echo 'all: ; cat /etc/x')", ["/etc/x"]),
        ("make b -f <(printf 'a: ;\\nb: ; cat /etc/x')", ["/etc/x"]),
        ("make a -f <(printf 'a: ;\\nb: ; cat /etc/x')", []),
        ("make --eval='all: ; cat /etc/x'", ["/etc/x"]),
        ("make --eval='$(shell cat /etc/x)'", ["/etc/x"]),
        ("MAKEFLAGS='--eval=all:;cat\\ /etc/x' make", ["/etc/x"]),
        ("make -f - < unknown.mk", ["opaque -"]),
        ("curl https://a.example/m > m.mk; make -f m.mk", ["opaque m.mk"]),
        ("curl -o Makefile https://a.example/m; make", ["opaque make"]),
        ("make -f /srv/m.mk", ["/srv", "/srv/m.mk"]),
        (written("all:\n\tcat ../a.c", "make -C sub", "sub/Makefile"), []),
        (written("all:\n\tcat ../../x", "make -C sub", "sub/Makefile"), ["/home/me/x"]),
        (written("all:\n\tcat /etc/x", "make -f m.mk", "m.mk"), ["/etc/x"]),
        # The project's own targets are its own code.
        ("make", []),
        ("make install", []),
        ("make -f own.mk", []),
        ("sed -i s/a/b/ Makefile && make", []),
        ("git checkout main && make", []),
    ],
)
def test_makefiles_from_elsewhere(rooted, command, touched):
    """One that comes in on standard input, or through a file that was written."""
    assert rooted(FILES).touched(command) == touched
