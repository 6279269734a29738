"""Words expand as in bash; each script here is also given to a real bash."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from ringfence.rules.model import NAME, UNKNOWN

# Each calls `show` once, with known words only.
SCRIPTS = [
    # quoting
    "show a\\ b 'c d' \"e f\" $'g\\th' ''",
    "show \"a\"'b'c",
    'show "\\$x \\a \\\\"',
    # parameters
    "x='a b'; show $x \"$x\" ${x}c",
    'x=; show $x "$x" y',
    'unset x; show $x "$x" y',
    "x=a; x+=b; show $x",
    "x=abc; show ${#x} ${x:1} ${x:0:1} ${x: -2} ${x:1:-1}",
    "x=a/b/c; show ${x#*/} ${x##*/} ${x%/*} ${x%%/*}",
    "x=a.b.c; show ${x/./-} ${x//./-} ${x/#a/z} ${x/%c/z} ${x//.}",
    "x=abc; show ${x^} ${x^^} ${x^^[b]}; ",
    "x=ABC; show ${x,} ${x,,}",
    "x=; show ${x:-d} ${x-d} ${y:-d} ${y-d} ${x:+d} ${x+d}",
    "show ${x:=a} $x",
    "show ${x:-'a b'} ${x:-a b} \"${x:-a b}\"",
    "x=y y=z; show ${!x}",
    "x_a=1 x_b=2; show ${!x_*}",
    "x='a b'; show ${x@Q}",
    "x='a\\tb'; show \"${x@E}\"",
    # attributes, scopes and references
    'f() { local V=$V; show "$V"; }; V=a; f',
    'f() { local V=x; unset V; show "$V"; }; V=a; f',
    'f() { local V=x; g; }; g() { unset V; show "$V"; }; V=a; f',
    "f() { declare -g x=9; }; x=1; f; show $x",
    "declare -n r=a; a=5; show ${!r} $r",
    "declare -A a=(k v l w); show ${a[k]} ${a[l]}",
    "declare -u s=abc; declare -l t=ABC; show $s $t",
    "BASH_ARGV0=z; show $0",
    # what is read
    "mapfile -t -s 1 -n 1 l <<< $'a\nb\nc'; show ${l[@]}",
    "mapfile -d : -t l <<< a:b; show ${l[0]}",
    "read -n 2 x <<< abcd; show $x",
    "read -N 3 x <<< abcd; show $x",
    "IFS=, read -ra p <<< a,b,c; show ${p[2]}",
    "{ read x; read y; } <<< $'a\nb'; show $x $y",
    # replacing and cases
    r'x=abc; show "${x//b/[&]}" "${x/b/\&}" "${x/b/"&"}"',
    'y=\'<&>\'; x=abc; show ${x/b/$y} "${x/b/"$y"}"',
    "shopt -s nocasematch; x=no; [[ ABC == abc ]] && x=yes; show $x",
    "shopt -s nocasematch; case ABC in abc) x=yes;; *) x=no;; esac; show $x",
    # arrays
    'a=(x \'y z\'); show ${a[@]} "${a[@]}" "${a[*]}" ${#a[@]} ${a[1]} $a ${!a[@]}',
    'a=(x y z); show "${a[@]:1}" "${a[@]:0:2}" ${a[-1]}',
    "a=(x y); a+=(z); unset 'a[0]'; show \"${a[@]}\" ${!a[@]}",
    "a=([2]=x y); show ${!a[@]} ${a[3]}",
    "declare -A m=([k]=v [l]=w); show ${m[k]} ${m[l]} ${#m[@]}",
    'a=(x y); show "p${a[@]}s"',
    'a=(); show "${a[@]}" end',
    'a=(a/b c/d); show "${a[@]#*/}" "${a[@]/#/x}"',
    # positional parameters
    'set -- \'a b\' c; show $@ "$@" "$*" $# $1 "${@:2}"',
    "set -- a b c; shift; show $1 $#",
    'set --; show "$@" end',
    'IFS=,; set -- a b; show "$*"',
    # splitting
    "IFS=:; x=a:b::c; show $x",
    "IFS=' :'; x='a : b'; show $x",
    "x=' a  b '; show c$x",
    "x='a b'; y=$x; show \"$y\"",
    # braces and tildes
    "show {a,b}{1,2} {1..3} {a..c} {01..3} {3..1..2}",
    "show a{b,'c d'}e {x} {a,b",
    "x=1; show {$x,2}",
    'show ~ ~/x a~ ~/"x" \'~\' "~"',
    "x=~/a:~/b; show $x",
    "show --d=~/x",
    # arithmetic
    "show $((1+2*3)) $((x=4)) $x $((1 ? 2 : 3))",
    "x=3; ((x++)); show $x; ",
    "let x=2+3; show $x",
    "declare -i n=2; n+=3; show $n",
    # substitutions
    'show $(echo a b) "$(echo a b)" `echo c`',
    "show \"$(printf '%s\\n' a b)\" $(printf '%s\\n' a b)",
    "x=$(echo /a/b); show $(dirname $x) $(basename $x)",
    'show "$(echo "$(echo a)")"',
    'f() { echo "<$1>"; }; show $(f x)',
    "show $(cat <<< hi) $(cat <<E\nlo\nE\n)",
    # variables and scopes
    "x=1; (x=2); show $x",
    "x=1; f() { local x=2; y=$x; }; f; show $x $y",
    "x=1; f() { x=2; }; f; show $x",
    "f() { show \"$@\"; }; f a 'b c'",
    "f() { shift; show $1 $#; }; f a b",
    "f() { local -n r=$1; r=new; }; v=old; f v; show $v",
    "x=1; x=2 true; show $x",
    "read a b <<< 'x y z'; show $a \"$b\"",
    "IFS=, read a b <<< 'x,y'; show $a $b",
    "read -r a <<< 'x\\y'; show $a",
    "read -a a <<< 'x y'; show ${a[1]}",
    "mapfile -t l <<< $'a\\nb'; show \"${l[@]}\"",
    "printf -v x '%s-%02d' a 7; show $x",
    "eval 'x=1; y=2'; show $x $y",
    "readonly r=1; show $r",
    "export e=1; show $e",
    # control flow
    "x=; for i in a b; do x=$x$i; done; show $x",
    "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; show $i",
    "x=; for ((i=0; i<3; i++)); do x=$x$i; done; show $x",
    "x=; until [[ $x == aaa ]]; do x+=a; done; show $x",
    "x=; for i in 1 2 3; do [ $i = 2 ] && continue; x=$x$i; done; show $x",
    "x=; for i in 1 2 3; do [ $i = 2 ] && break; x=$x$i; done; show $x",
    "x=; for i in 1 2; do for j in 1 2; do [ $j = 2 ] && continue 2; x=$x$i$j; done; done; show $x",
    "if true; then x=a; else x=b; fi; show $x",
    "if false; then x=a; elif true; then x=b; fi; show $x",
    "case abc in x) y=1;; a*) y=2;; *) y=3;; esac; show $y",
    "case a in a) x=1;& b) x=${x}2;; esac; show $x",
    "case a in a) x=1;;& [a-c]) x=${x}2;; esac; show $x",
    "false || x=1; true && y=2; show $x $y",
    "f() { return 1; }; f || x=failed; show $x",
    "f() { return; x=never; }; f; show ${x:-unset}",
    "! false && x=1; show $x",
    "x=$(exit 0) && y=1; show $y",
    "[[ abc == a* && ! x == y ]] && x=1; show $x",
    "[ a = a -a b != c ] && x=1; show $x",
    "getopts ab: o -b v && show $o $OPTARG",
    "true; show $?",
    "false; show $?",
]


@pytest.fixture
def bash() -> str:
    found = shutil.which("bash")
    if found is None:
        pytest.skip("there is no bash to compare with")
    return found


@pytest.mark.parametrize("script", SCRIPTS)
def test_words_are_those_of_bash(world, bash, tmp_path, script):
    """What `show` receives here is what it receives in bash."""
    real = subprocess.run(
        [bash, "-c", "show() { printf '%s\\0' \"$@\"; }\n" + script],
        env={"HOME": "/home/me", "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split("\0")[:-1]
    assert world.words(script) == [tuple(real)]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("show $NEVER_SET", (UNKNOWN,)),
        ("show a-$NEVER_SET", (f"a-{UNKNOWN}",)),
        ("show $(unheard_of)", (UNKNOWN,)),
        ("show $RANDOM $$ $(date +%s)", (NAME, NAME, NAME)),
        ("show $((RANDOM % 3))", (NAME,)),
        ("read x; show $x", ()),
        ("unheard_of | { read x; show $x; }", (UNKNOWN,)),
        ("show ${NEVER_SET:-default}", ("default",)),
        ("show ${NEVER_SET##*/}", (NAME,)),
        ("x=/etc/$NEVER_SET; show ${x##*/}", (NAME,)),
        ("x=/etc/$NEVER_SET; show ${x:0:4}", ("/etc",)),
        ("show {1..5000}", (NAME,)),
    ],
)
def test_unknown_stays_unknown_with_what_is_known_around_it(world, script, words):
    """What cannot be known is a sentinel, never empty text."""
    assert world.words(script) == [words]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("if unheard_of; then x=a; else x=b; fi; show $x", [("a",), ("b",)]),
        ("x=a; unheard_of && x=b; show $x$x", [("bb",), ("aa",)]),
        ("case $NEVER_SET in a) x=1;; b) x=2;; *) x=3;; esac; show $x", [("1",), ("2",), ("3",)]),
        ("x=$(unheard_of >/dev/null && echo a || echo b); show $x", [("a",), ("b",)]),
    ],
)
def test_alternatives_are_tried_one_by_one(world, script, words):
    """Where ways join, every value is tried, and none is mixed with another."""
    found = world.words(script)
    assert {w for w in found if UNKNOWN not in w[0]} == set(words)
