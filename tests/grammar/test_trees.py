"""The tree of each construct, on one line (helpers/sketch.py says how to read it)."""

import pytest
from helpers.sketch import sketch

CASES = [
    ("cat /etc/hosts", "[cat /etc/hosts]"),
    ("a b | c |& d", "[a b] | [c] |& [d]"),
    ("a && b || c; d & e", "<[a] && [b] || [c]>; [d]& [e]"),
    ("! a | b", "! [a] | [b]"),
    ("time -p a", "time [a]"),
    ("time", "time "),
    ("!", "! "),
    ("a=1 b+=2 c d=3", "[a=1 b+=2 c d=3]"),
    ('a=(1 "2 3" [k]=v [j]+=w [i]=)', '[a=(1 "2 3" [k]=v [j]+=w [i]=)]'),
    ("a=(1  $x [k]+=v)z b", "[a=(·1· ·$x· [·k·]+=·v·)·z b]"),
    ("a[1]=x a[$i]+=y", "[a[1]=x a[$i]+=y]"),
    ("a >&-b >&- c", "[a b c >&- >&-]"),
    (">&-a=1 b", "[a=1 b >&-]"),
    ("declare -a a=(1) b=2 c", "[declare -a a=(1)⁼ b=2⁼ c]"),
    ("export x", "[export x]"),
    (">a 2>>b cmd <c >&2 {fd}<>d &>e", "[cmd >a 2>>b <c >&2 {fd}<>d &>e]"),
    ("cat <<E\na $x `b`\nE", "[cat <<E«a ·$x· ·`[b]`·⏎»]⏎"),
    ('cat <<"E" <<-F; d\n$x\nE\n\ty\n\tF', '[cat <<"E"«$x⏎»\' <<-F«y⏎»]; [d]⏎'),
    ("cat <<E\nx", "[cat <<E«x»…]⏎"),
    ('a <<< "b c"', '[a <<<"b c"]'),
    ("(a; b)", "([a]; [b])"),
    ("{ a; b & }", "{[a]; [b]&}"),
    ("{ a; } >b 2>&1", "{[a];} >b 2>&1"),
    (
        "if a; then b; elif c; then d; else e; fi",
        "if [a]; then [b]; elif [c]; then [d]; else [e]; fi",
    ),
    ("while a; do b; done <c", "while [a]; do [b]; done <c"),
    ("until a; do b; done", "until [a]; do [b]; done"),
    ('for x in a "b c"; do d; done', 'for x in a "b c" do [d]; done'),
    ("for x; do a; done", "for x do [a]; done"),
    ("for x in; do a; done", "for x in do [a]; done"),
    ("for x; { a; }", "for x do [a]; done"),
    ("for ((i=0; i<3; i++)); do a; done", "for ((i=0;  i<3;  i++)) do [a]; done"),
    ("for ((;;)); do a; done", "for ((; ; )) do [a]; done"),
    ("select x in a; do b; done", "select x in a do [b]; done"),
    (
        "case $x in a|b*) c;; (d) e;& *) ;;& f) g; esac",
        "case $x in a|b*) [c] ;; d) [e] ;& *)  ;;& f) [g]; esac",
    ),
    ("((x = 1 + 2))", "((x = 1 + 2))"),
    ("[[ -f a && ! $b == c* || (d < e) ]]", "[[ <<-f a && ! $b == c*> || d < e> ]]"),
    ("[[ a =~ ^(b c)+$ ]]", "[[ a =~ ^·(·b c·)·+$ ]]"),
    ("[[ a ]]", "[[ a ]]"),
    ("[[ a -nt b ]]", "[[ a -nt b ]]"),
    ("[[ $a == @(b|c d)* ]]", "[[ $a == @(b|c d)·* ]]"),
    ("f() { a; }", "f() {[a];}"),
    ("function f { a; }", "f() {[a];}"),
    ("function f() (a) >b", "f() ([a]) >b"),
    ("coproc a b", "coproc [a b]"),
    ("coproc n { a; }", "coproc n {[a];}"),
    ("coproc (a)", "coproc ([a])"),
    ("a\\ b'c d'\"e $f\"$'\\x2f\\n'$\"g\"", "[a·\\ ·b·'c d'·\"e ·$f\"·$'/\n'·$\"g\"]"),
    ('"$(a "b")"', '["$([a "b"])"]'),
    ("`a \\`b\\``", "[`[a `[b]`]`]"),
    ("$(a; b)", "[$([a]; [b])]"),
    ("$( (a) )", "[$(([a]))]"),
    ("$((a); (b))", "[$(([a]); ([b]))]"),
    ("$((1 + $x))", "[$((1 + ·$x))]"),
    ("$[1]", "[$((1))]"),
    ("<(a) >(b)", "[<([a]) >([b])]"),
    ("$a${b}$1$@$$", "[$a·${b}·$1·$@·$$]"),
    ("${a:-b $c}", "[${a :- b ·$c}]"),
    ("${a##*/}", "[${a ## */}]"),
    ("${a/b/c}", "[${a / b then c}]"),
    ("${a//b}", "[${a // b}]"),
    ("${a/#b/c d}", "[${a /# b then c d}]"),
    ("${a:1:2}", "[${a : 1 then 2}]"),
    ("${a: -1}", "[${a :  -1}]"),
    ("${#a}", "[${#a}]"),
    ("${#}", "[${#}]"),
    ("${!a}", "[${!a}]"),
    ("${!a*}", "[${!a *}]"),
    ("${!a[@]}", "[${!a[@]}]"),
    ("${a[1]}", "[${a[1]}]"),
    ("${a[@]:1}", "[${a[@] : 1}]"),
    ("${a[$i]}", "[${a[$i]}]"),
    ("${a^^}", "[${a ^^}]"),
    ("${a@Q}", "[${a @Q}]"),
    ("${a:?}", "[${a :?}]"),
    ("${ a; }", "[${  a; BAD}]"),
    ("${}", "[${ BAD}]"),
    ("\"${a:-'$b'}\"", "[\"${a :- '·$b·'}\"]"),
    ("\"${a#'b'}\"", "[\"${a # 'b'}\"]"),
    ("${a:-'b'}", "[${a :- 'b'}]"),
    ("~/x ~user {a,b} *.py a#b", "[~/x ~user {a,b} *.py a#b]"),
    ("a #b\nc", "[a]⏎ [c]"),
    ("a \\\n b", "[a b]"),
    ("wh\\\nile a; do b; done", "while [a]; do [b]; done"),
    ('"a\\\nb\\$c\\d"', '["ab·\\$·c\\d"]'),
    ("'a\\\nb'", "['a\\\nb']"),
    ("echo done if", "[echo done if]"),
    ("a; fi", "!found `fi`, expected a command or a newline"),
    ("a\nb)\nc", "[a]⏎ !found `)`, expected an operator or a newline"),
    ("eval a=(1)", "[eval a=(1)⁼]"),
    ("echo $a`", "!the quote ` is not closed"),
    ("x=$(cat <<E\na)b\nE\n)", "[x=$([cat <<E«a)b⏎»]⏎)]"),
    ("a() b", "!found `b`, expected a compound command or a newline"),
    ("a <<E | b\nx\nE\nc", "[a <<E«x⏎»] | [b]⏎ [c]"),
    ("case a in esac", "case a in  esac"),
    ("if a\nthen b\nfi", "if [a]⏎ then [b]⏎ fi"),
    ("a &&\nb", "<[a] && [b]>"),
    ("$(<a)", "[$([<a])]"),
    ("a 2>&1 >&- <&3-", "[a 2>&1 >&- <&3-]"),
    ('"\\a\\"\\`"', '["\\a·\\"·\\`"]'),
    ("a=b=c", "[a=b=c]"),
    ("a=~/x:~/y", "[a=~/x:~/y]"),
    ("2>a", "[2>a]"),
    ("echo 2 >a", "[echo 2 >a]"),
    ("a>b", "[a >b]"),
    ("x=`a`y", "[x=`[a]`·y]"),
    ("$a[1]", "[$a·[1]]"),
    ("{a}", "[{a}]"),
    ("{ a;}", "{[a];}"),
    ("a}", "[a}]"),
    ("!a", "[!a]"),
    ("[ -f a ]", "[[ -f a ]]"),
    ("@(a|b)", "!found `(`, expected an operator or a newline"),
    ("echo $'\\u00e9\\101\\cA\\''", "[echo $'éA\x01'']"),
    ("${#}", "[${#}]"),
    ("${##}", "[${##}]"),
    ("${#a[@]}", "[${#a[@]}]"),
    ("${!a@}", "[${!a @}]"),
    ("${#:-x}", "[${# :- x}]"),
    ("${##x}", "[${# # x}]"),
    ("${!#}", "[${!#}]"),
    ("${a/\\\\//b}", "[${a / \\\\ then /b}]"),
    ("${a/x/}", "[${a / x then}]"),
    ('${a//$b/"c/d"}', '[${a // $b then "c/d"}]'),
    ("${a:$((1+2)):${#b}}", "[${a : $((1+2)) then ${#b}}]"),
]


@pytest.mark.parametrize(("text", "tree"), CASES)
def test_tree(text: str, tree: str) -> None:
    """Each construct has the tree that the bash manual describes."""
    assert sketch(text) == tree


EXTENDED = [
    ("echo @(a|b)c", "[echo @(a|b)·c]"),
    ("!(a)", "[!(a)]"),
    ("case x in +(a)) b;; esac", "case x in +(a)) [b] ;; esac"),
    ("a=(?(b) c)", "[a=(?(b) c)]"),
    ("echo *(a|*(b))", "[echo *(a|*(b))]"),
    ("! a", "! [a]"),
]


@pytest.mark.parametrize(("text", "tree"), EXTENDED)
def test_extended_patterns(text: str, tree: str) -> None:
    """With extglob on, extended patterns are parts of words everywhere."""
    assert sketch(text, extglob=True) == tree


def test_shopt_is_followed_from_the_next_line() -> None:
    """Bash reads a whole line before it runs it: extglob counts from the next one."""
    later = "shopt -s extglob\necho @(a)"
    assert sketch(later, follow_shopt=True) == "[shopt -s extglob]⏎ [echo @(a)]"
    assert "!found" in sketch("shopt -s extglob; echo @(a)", follow_shopt=True)
    assert "!found" in sketch(later)
