"""Awk, sed and SQL programs: the files they open and the commands they run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

AWK = [
    ("{print $1}", ""),
    ('BEGIN{print "/etc/x"}', ""),
    ("/a\\/b/{print}", ""),
    ("$1 ~ /x>y/ {print $2 / $3}", ""),
    ("$5 > 100", ""),
    ('{ if ($1 > "/etc/x") print }', ""),
    ('{print ($1 > "/etc/x")}', ""),
    ('{print > "/opt/x"}', "write:/opt/x"),
    ('{print $1, $2 >> "../log"; next}', "write:../log"),
    ('{printf "%s\\n", $1 > "build/a.txt"}', "write:build/a.txt"),
    ('{print > "/dev/stderr"}', ""),
    ('{print "a" > "/tmp/" "b" ".txt"}', "write:/tmp/b.txt"),
    ('{print > ("/tmp/" NR ".txt")}', "write:/tmp/*.txt"),
    ('{print > "/tmp/" n++ ".txt"}', "write:/tmp/*.txt"),
    ('{print > "/tmp/" $1}', "write:/tmp/?"),
    ("{print > $1}", "opaque"),
    ("{print > out}", "opaque"),
    ('{out = "/tmp/" $1; print > out}', "write:/tmp/?"),
    ('BEGIN{f="/a"} {print > f}', "write:/a"),
    ('{f = NR > 1 ? "/a" : "/b"; print > f}', "opaque"),
    ('function w(f) { print > f }\n{w("/a")}', "opaque"),
    ('BEGIN{while((getline l < "/srv/a.txt")>0) print l}', "read:/srv/a.txt"),
    ('BEGIN{d="/srv"; getline x < (d "/b"); print x}', "read:/srv/b"),
    ('BEGIN{getline < "/a"}', "read:/a"),
    ('BEGIN{getline line < "-"}', ""),
    ("{getline; print}", ""),
    ('BEGIN{"cat ../n" | getline x; print x}', "sh:cat ../n"),
    ('BEGIN{while (("ls " d) | getline x) print x}', "sh:ls ?"),
    ('{cmd = "date"; cmd | getline t; close(cmd)}', "sh:date"),
    ('{print | "tee /tmp/a"}', "sh:tee /tmp/a"),
    ('{print | "sort -u"; close("sort -u")}', "sh:sort -u"),
    ('{system("rm /x")}', "sh:rm /x"),
    ('{system("rm " $1)}', "sh:rm ?"),
    ("{system($0)}", "opaque"),
    ('{system("")}', ""),
    ('{system(sprintf("cp %s /b", "/a"))}', "sh:cp /a /b"),
    ('{print > (ENVIRON["HOME"] "/x")}', "write:/home/dev/x"),
    ('{print > "\\057etc\\x2fx"}', "write:/etc/x"),
    ('BEGIN{ARGV[1]="/etc/x"; ARGC=2} {print}', "read:/etc/x"),
    ('@include "/lib/x.awk"', "read:/lib/x.awk"),
    ('# print > "/etc/x"\n{print}', ""),
    ('{n = split($0, a, "/"); print a[n]}', ""),
    ('{gsub("/", "_"); print}', ""),
    ('{print $1 "|" $2}', ""),
    ('{print "a > b | c"}', ""),
    ("NR==1 || $3 > m {m = $3}", ""),
]

SED = [
    ("s/a/b/", ""),
    ("s,/usr,/opt,g", ""),
    ("/foo/d", ""),
    ("s/\\/usr\\/local/\\/opt/g", ""),
    ("1,5p", ""),
    ("$!N;P;D", ""),
    ("/a/,/b/{s/x/y/;p}", ""),
    ("0~3d; 2,+3p; /x/I,$d", ""),
    ("\\,/etc/x,d", ""),
    ("y/abc/xyz/", ""),
    ("s/[/w]/x/", ""),
    ("s/[^]/]*w/x/", ""),
    ("s/x/[/;p", ""),
    ("a\\\n/etc/x\nw out", "write:out"),
    ("1i r /etc/x", ""),
    ("$a\\", ""),
    ("# w /etc/x\np", ""),
    ("r /etc/x", "read:/etc/x"),
    ("1r../x\np", "read:../x"),
    ("R /etc/x", "read:/etc/x"),
    ("w /opt/x", "write:/opt/x"),
    ("/a/w /opt/x y;p", "write:/opt/x y;p"),
    ("W /opt/x", "write:/opt/x"),
    ("w /dev/stdout", ""),
    ("s/a/b/w /opt/x", "write:/opt/x"),
    ("s/a/b/gpw out.txt", "write:out.txt"),
    ("p;s|a|b|;w a\nr b", "write:a read:b"),
    ("e cat /etc/x", "sh:cat /etc/x"),
    ("1e date\np", "sh:date"),
    ("e", "opaque"),
    ("s/a/b/e", "opaque"),
    ("s/.*/cat \\/etc\\/x/e", "sh:cat /etc/x"),
    (":a;N;$!ba;s/\\n/ /g", ""),
    ("/x/{r a\n}", "read:a"),
    ("s/a/\0/", ""),
    ("w /tmp/\0", "write:/tmp/?"),
    ("\0,+3p", ""),
    ("\0,\0d;$d", ""),
    ("\0", "opaque"),
    ("s/a/b", "opaque"),
    ("k", "opaque"),
    ("", ""),
]


SQLITE = [
    ("SELECT '/etc/x' FROM t WHERE a > 1;", ""),
    ("SELECT * FROM t WHERE id='\0'", ""),
    (".tables", ""),
    (".schema t", ""),
    (".read /opt/x.sql", "read:/opt/x.sql"),
    (".read '|cat x'", "sh:cat x"),
    (".read |cat x", "sh:cat x"),
    (".mode csv\n.output ../out.csv\nSELECT 1;\n.output stdout", "write:../out.csv"),
    (".once -x /tmp/o", "write:/tmp/o"),
    (".import --csv '/tmp/a b.csv' t", "read:/tmp/a b.csv"),
    (".backup main /tmp/b.db", "write:/tmp/b.db"),
    (".system ls /etc", "sh:ls /etc"),
    (".shell rm x", "sh:rm x"),
    ("ATTACH '/srv/o.db' AS o; SELECT 1", "write:/srv/o.db"),
    ("attach database 'file:/srv/o.db?mode=ro' as o", "write:/srv/o.db"),
    ("ATTACH ':memory:' AS m", ""),
    ("VACUUM INTO '/tmp/v.db'", "write:/tmp/v.db"),
    ("VACUUM main INTO '/tmp/v.db'", "write:/tmp/v.db"),
    ("INSERT INTO vacuumed VALUES ('/x')", ""),
    ("SELECT readfile('/etc/x')", "read:/etc/x"),
    ("SELECT writefile('/tmp/' || id, data) FROM b", "opaque"),
    ("SELECT readfile(name) FROM t", "opaque"),
    ("-- .read /etc/x\n/* ATTACH '/x' */ SELECT 1", ""),
    ("SELECT 'ATTACH ''/x'' AS y'", ""),
    ("\0", "opaque"),
]

CLIENTS = [
    ("psql", "SELECT 1", ""),
    ("psql", "\\dt", ""),
    ("psql", "\\i /opt/x.sql", "read:/opt/x.sql"),
    ("psql", "\\o |less", "sh:less"),
    ("psql", "\\! ls /etc", "sh:ls /etc"),
    ("psql", "\\copy t FROM '../a.csv' CSV", "read:../a.csv"),
    ("psql", "\\copy (SELECT 1) to program 'gzip'", "sh:gzip"),
    ("psql", "\\copy t to stdout", ""),
    ("psql", "COPY t TO '/server/side'", ""),
    ("mysql", "SELECT * FROM source", ""),
    ("mysql", "source /opt/x.sql", "read:/opt/x.sql"),
    ("mysql", "\\! id", "sh:id"),
    ("mysql", "LOAD DATA LOCAL INFILE '/tmp/a' INTO TABLE t", "read:/tmp/a"),
    ("mysql", "SELECT 1 INTO OUTFILE '/server/side'", ""),
    (
        "duckdb",
        "SELECT * FROM '/srv/a.csv' JOIN \"../b.json\" USING (x)",
        "read:/srv/a.csv read:../b.json",
    ),
    ("duckdb", "SELECT * FROM t WHERE x = '/srv/a'", ""),
    ("duckdb", "COPY t TO '/srv/a.csv' (HEADER)", "write:/srv/a.csv"),
    ("duckdb", "COPY (SELECT 1) TO '../a.csv'; COPY t FROM '/b'", "write:../a.csv read:/b"),
    ("duckdb", "EXPORT DATABASE '/srv/d'; IMPORT DATABASE '/srv/e'", "write:/srv/d read:/srv/e"),
    ("duckdb", "SELECT * FROM read_csv('/a') WHERE EXTRACT(year FROM d) = 1", "read:/a"),
    ("duckdb", "SELECT * FROM 'https://x.org/a.csv'", ""),
    ("duckdb", ".sh ls /etc", "sh:ls /etc"),
    ("sqlite", "SELECT * FROM '/no/file'", ""),
    ("jq", ".a | input_filename", ""),
    ("jq", 'import "a" as a; include "b"; a::x', ""),
    ("jq", 'import "/srv/a" as $a; $a', "read:/srv/a"),
    ("jq", 'include "b" {search: "../lib"}; .', "read:../lib"),
    ("jq", '.imports["/srv/a"] | test("include")', ""),
    ("jq", "\0", ""),
    ("yq", '.a = load("/srv/a.yml")', "read:/srv/a.yml"),
    ("yq", '.a = load_str("../b") | .b', "read:../b"),
    ("yq", ".a = load(.file)", "opaque"),
    ("yq", '.load == "/srv/a"', ""),
    ("yq", "\0", ""),
    ("dc", "1 2 + p", ""),
    ("dc", "1 2 !=a 3 !<b", ""),
    ("dc", "[a]p\n! cat /etc/x\n2p", "sh:cat /etc/x"),
    ("m4", "define(`a', `/etc/x')dnl", ""),
    ("m4", "include(`/etc/x')", "read:/etc/x"),
    ("m4", "sinclude(../x)undivert(1)undivert(`y')", "read:../x read:y"),
    ("m4", "include(a`'b)", "opaque"),
    ("m4", "include(`$1')", "opaque"),
    ("m4", "syscmd(`cat `/etc/x'')", "sh:cat `/etc/x'"),
    ("m4", "esyscmd(a)", "opaque"),
    ("fish", "cat /etc/x", "sh:cat /etc/x"),
    ("klingon", "x", "opaque"),
]


@pytest.mark.parametrize(("text", "expected"), AWK)
def test_awk_programs(found, text, expected):
    """Only redirections, getline, system and pipes of an awk program reach files."""
    assert found("awk", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BEGIN{getline x < f}", "read:/srv/a"),
        ('{print > FILENAME ".new"}', "write:../n.new"),
        ("BEGIN{getline x < ARGV[1]}", "read:f=/srv/a read:../n"),
    ],
)
def test_awk_parameters(found, text, expected):
    """Arguments are assignments or files."""
    assert found("awk", text, "f=/srv/a", "../n") == expected


@pytest.mark.parametrize(("text", "expected"), SED)
def test_sed_scripts(found, text, expected):
    """Only ``r``, ``w``, ``e`` and the flags of ``s`` reach files."""
    assert found("sed", text) == expected


@pytest.mark.parametrize(("text", "expected"), SQLITE)
def test_sqlite(found, text, expected):
    """Dot commands, ATTACH, VACUUM INTO and a few functions reach files."""
    assert found("sqlite", text) == expected


@pytest.mark.parametrize(("language", "text", "expected"), CLIENTS)
def test_clients(found, language, text, expected):
    """The clients of servers reach files by their own commands; other languages are opaque."""
    assert found(language, text) == expected


@pytest.mark.parametrize(
    ("language", "text", "place"),
    [
        ("awk", '{print > "/opt/" "x"; next}', '"/opt/" "x"'),
        ("awk", 'BEGIN{getline l < "/é"}', '"/é"'),
        ("sed", "1r /etc/é\np", "/etc/é"),
        ("sed", "s/é/b/w out", "out"),
        ("sqlite", "SELECT 'é';\n.read /é", "/é"),
        ("sqlite", "ATTACH '/é' AS x", "'/é'"),
    ],
)
def test_places(inspect, language, text, place):
    """Offsets point at the words that name the file."""
    (path,) = inspect(language, text).paths
    assert text[path.start : path.end] == place


@given(st.text('{}()[]$/"\\\n;|><=, print getline system f1~', max_size=30))
def test_any_awk_text_is_answered(inspect, text):
    """No text makes the inspection raise."""
    inspect("awk", text)


@given(st.text("s/awreyi,;{}[]\\\n !1$x", max_size=30))
def test_any_sed_text_is_answered(inspect, text):
    """No text makes the inspection raise."""
    inspect("sed", text)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("awk", "print(" * 10000),
        ("awk", "x | getline " * 5000),
        ("awk", "{print > " + "(" * 3000),
        ("awk", "a=b;b=a;" * 2000 + "{print > a}"),
        ("awk", "{print>" + "x " * 3000 + "}"),
        ("sed", "s/" + "[" * 20000),
        ("sed", "{" * 20000),
        ("sqlite", "readfile(" * 9000),
    ],
)
def test_hostile_text_is_answered(inspect, language, text):
    """Depth and length end in an answer."""
    inspect(language, text)
