"""JavaScript, Perl, Ruby and PHP programs: the files they open and the commands they run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

JAVASCRIPT = [
    ("console.log('/etc/x')", ""),
    ("// hi\nconsole.log(1)", ""),
    ("/* fs.readFileSync('/etc/x') */ 1", ""),
    ("'a/b'.replace(/\\/etc/g, '/x')", ""),
    ("const a = 4 / 2; console.log(a / 1)", ""),
    ("fs.readFileSync('/etc/x', 'utf8')", "read:/etc/x"),
    ("console.log(require('fs').readFileSync('../n', 'utf8'))", "read:../n"),
    ("const fs = require('node:fs'); fs.writeFileSync('/tmp/n', 'x')", "write:/tmp/n"),
    ("const f = require('fs').promises; f.readFile('/a')", "read:/a"),
    ("const {readFileSync: r, existsSync} = require('fs'); r('/a'); existsSync('/b')",
     "read:/a test:/b"),
    ("import {readFile} from 'fs/promises'; await readFile('/a')", "read:/a"),
    ("import * as fs from 'fs'; fs.rmSync('/a', {recursive: true})", "delete:/a"),
    ("import fs from 'node:fs'; fs.renameSync('a', '../b')", "delete:a write:../b"),
    ("require('fs').openSync('/a', 'w')", "write:/a"),
    ("const p = '/srv'; fs.readFileSync(p + '/a')", "read:/srv/a"),
    ("const p = '/srv'; fs.readFileSync(`${p}/a`)", "read:/srv/a"),
    ("fs.readFileSync(path.join('/srv', 'a'))", "read:/srv/a"),
    ("fs.readFileSync(require('path').join(require('os').homedir(), 'n'))", "read:/home/dev/n"),
    ("const os = require('os'), path = require('path'); fs.readFileSync(path.join(os.homedir(), 'n'))",
     "read:/home/dev/n"),
    ("fs.readFileSync(process.env.HOME + '/n')", "read:/home/dev/n"),
    ("fs.readFileSync(process.env['HOME'] + '/n')", "read:/home/dev/n"),
    ("for (const f of ['/a', 'b']) fs.unlinkSync(f)", "delete:/a delete:b"),
    ("function f(p) { return fs.readFileSync(p) }\nf('/a')", "read:/a"),
    ("const p = x ? '/a' : '/b'; fs.statSync(p)", "test:/a test:/b"),
    ("const f = 'a'; xs.map(f => fs.readFileSync(f))", "read:a opaque"),
    ("const f = 'a'; xs.map((f, i) => fs.readFileSync(f))", "read:a opaque"),
    ("function f(p) { fs.readFileSync(p) }\nf('a'); xs.forEach(f)", "read:a opaque"),
    ("const x = JSON.parse(fs.readFileSync(0)); console.log(x['/a'])", ""),
    ("fs.readFileSync('/dev/stdin')", "read:/dev/stdin"),
    ("require('./package.json').name", "read:./package.json"),
    ("require('../other/x')", "read:../other/x"),
    ("require('lodash').map([1])", ""),
    ("import x from '../y.js'", "read:../y.js"),
    ("import('../y.js')", "read:../y.js"),
    ("import x from 'y'; x('/a')", ""),
    ("require('child_process').execSync('cat /etc/x')", "sh:cat /etc/x"),
    ("const {exec} = require('child_process'); exec('ls')", "sh:ls"),
    ("/a/.exec('b')", ""),
    ("const r = /a/; r.exec('/etc/x')", ""),
    ("const cp = require('child_process'); cp.spawn('cat', ['/etc/x'])", "sh:cat /etc/x"),
    ("const {execFileSync} = require('child_process'); execFileSync('ls', ['-l'], {cwd: '/s'})",
     "sh:env -C /s ls -l"),
    ("const cp = require('child_process'); cp.spawn('ls | wc', {shell: true})", "sh:ls | wc"),
    ("await $`cat /etc/x`", "sh:cat /etc/x"),
    ("$('/etc/x').text()", ""),
    ("eval(\"fs.readFileSync('/a')\")", "read:/a"),
    ("eval(input)", "opaque"),
    ("require('fs')['unlinkSync']('/a')", "delete:/a"),
    ("const f = require('fs'); f['unlink' + 'Sync']('/a')", "delete:/a"),
    ("const f = require('fs'); f[name]('/a')", "opaque"),
    ("handlers[name]('/a'); xs[0]('/b')", ""),
    ("fs.readFileSync(input)", "opaque"),
    ("fs.readFileSync('/tmp/' + input)", "read:/tmp/?"),
    ("require(name)", "opaque"),
    ("console.log(`${fs.readFileSync('/a')}`)", "read:/a"),
    ("fetch('https://x.io/a/b').then(r => r.text())", ""),
    ("const p =\n  '/a' +\n  '/../b'\nfs.readFileSync(p)", "read:/a/../b"),
    ("fs.readFileSync(process.argv[1])", "read:/arg"),
    ("fs.readFileSync('\\x2fetc/x')", "read:/etc/x"),
    ("Bun.write('/a', 'b')", "write:/a"),
]  # fmt: skip

PERL = [
    ("print", ""),
    ('print "/etc/x\\n"', ""),
    ("s/a/b/", ""),
    ("s{/srv}{/etc}g", ""),
    ("tr/a-z/A-Z/", ""),
    ("print if m{^/etc/} && !/b/", ""),
    ("$x = $y / 2; print $x / 3", ""),
    ('open(F, "<", "/srv/a"); print <F>', "read:/srv/a"),
    ('open my $f, ">", "/tmp/x" or die', "write:/tmp/x"),
    ('open(F, "/srv/a") || die', "read:/srv/a"),
    ('open(F, ">>/tmp/x")', "write:/tmp/x"),
    ('open(F, "cat /etc/x |")', "sh:cat /etc/x"),
    ('open(F, "-|", "ls", "/etc")', "sh:ls /etc"),
    ('open(F, "<", \\$text)', ""),
    ('opendir(D, "/srv"); readdir D', "read:/srv"),
    ('unlink "/a", "b"', "delete:/a delete:b"),
    ('rename("a", "../b")', "delete:a write:../b"),
    ('unlink "\\x{2f}a\\x2fb"', "delete:/a/b"),
    ('chmod 0644, "/a"', "write:/a"),
    ('print "y" if -e "/etc/x"', "test:/etc/x"),
    ('print "y" if -f $p', "opaque"),
    ("print 3 -e", ""),
    ("system('cat /etc/x')", "sh:cat /etc/x"),
    ('system "rm", "-f", "/x"', "sh:rm -f /x"),
    ("print `cat ../n`", "sh:cat ../n"),
    ("print qx{cat ../n}", "sh:cat ../n"),
    ("my $d = '/srv'; open(F, '<', \"$d/a\")", "read:/srv/a"),
    ('open(F, "<", "$ENV{HOME}/n")', "read:/home/dev/n"),
    ("open(F, '<', $ENV{HOME} . '/n')", "read:/home/dev/n"),
    ('for my $f ("/a", "b") { unlink $f }', "delete:/a delete:b"),
    ('@ARGV = ("/a"); print while <>', "read:/a"),
    ("use File::Find; find(sub { print }, '/etc')", "read:/etc"),
    ("unlink qw(/a /b)", "delete:/a delete:/b"),
    ('do "/srv/x.pl"', "read:/srv/x.pl"),
    ("require Foo::Bar; use POSIX qw(floor); eval { die }; do { 1 }", ""),
    ("use lib '/srv/lib'", "read:/srv/lib"),
    ("s/x/`cat \\/etc\\/x`/e", "sh:cat /etc/x"),
    ("s/(\\d+)/$1+1/e", ""),
    ("eval 'unlink \"/a\"'", "delete:/a"),
    ("eval $code", "opaque"),
    ("open(F, '<', $ARGV[0])", "read:/arg"),
    ("glob('/etc/*')", "read:/etc"),
    ("# unlink '/a'\n1", ""),
    ("print <<\"E\";\nunlink '/a'\nE\nunlink '/b'", "delete:/b"),
    ("%h = (s => 1, y => 2, q => 3); print keys %h", ""),
]

RUBY = [
    ("puts '/etc/x'", ""),
    ("puts ARGF.read.gsub(/\\/etc/, '/x')", ""),
    ("puts File.read('/etc/x')", "read:/etc/x"),
    ("File.write '/tmp/x', 'y'", "write:/tmp/x"),
    ("File.open('/tmp/x', 'w') { |f| f.puts 1 }", "write:/tmp/x"),
    ("d = '/srv'; File.read(\"#{d}/a\")", "read:/srv/a"),
    ("File.read(File.join('/srv', 'a'))", "read:/srv/a"),
    ("File.read(File.expand_path('~/n'))", "read:/home/dev/n"),
    ("File.read(Dir.home + '/n')", "read:/home/dev/n"),
    ("File.read(ENV['HOME'] + '/n')", "read:/home/dev/n"),
    ("require 'fileutils'; FileUtils.rm_rf '/x'", "delete:/x"),
    ("require_relative '../x'", "read:../x"),
    ("require 'json'; puts JSON.parse(STDIN.read)['a/b']", ""),
    ("puts Dir['/etc/*']", "read:/etc"),
    ("system('cat /etc/x')", "sh:cat /etc/x"),
    ("system 'rm', '/x'", "sh:rm /x"),
    ("puts `cat ../n`", "sh:cat ../n"),
    ("puts %x(cat ../n)", "sh:cat ../n"),
    ("open('|cat /etc/x')", "sh:cat /etc/x"),
    ("puts \"#{File.read('/a')}\"", "read:/a"),
    ("for f in ['/a', 'b'] do File.delete(f) end", "delete:/a delete:b"),
    ("f = 'a'; gets.each { |f| File.read(f) }", "read:a opaque"),
    ("%w[/a /b].each { |f| puts f }", ""),
    ("File.exist?('/a') && puts(1)", "test:/a"),
    ("eval gets", "opaque"),
    ("File.read(gets)", "opaque"),
    ("# File.read('/a')\n1", ""),
    ("puts 4 / 2 / 1", ""),
]

PHP = [
    ("echo '/etc/x';", ""),
    ("echo file_get_contents('/etc/x');", "read:/etc/x"),
    ("file_put_contents(\"/tmp/x\", 'y');", "write:/tmp/x"),
    ("$d = '/srv'; unlink(\"$d/a\");", "delete:/srv/a"),
    ("$d = '/srv'; unlink(\"{$d}/a\");", "delete:/srv/a"),
    ("unlink(__DIR__ . '/../a');", "delete:/home/dev/project/../a"),
    ("fopen('/tmp/x', 'w');", "write:/tmp/x"),
    ("require '../x.php';", "read:../x.php"),
    ("require_once('vendor/autoload.php');", ""),
    ("foreach (['/a', 'b'] as $f) unlink($f);", "delete:/a delete:b"),
    ("echo shell_exec('cat /etc/x');", "sh:cat /etc/x"),
    ("echo `cat ../n`;", "sh:cat ../n"),
    ("eval($x);", "opaque"),
    ("call_user_func('unlink', '/a');", "delete:/a"),
    ("call_user_func($f, '/a');", "opaque"),
    ("readfile(getenv('HOME') . '/n');", "read:/home/dev/n"),
    ("print_r(glob('/etc/*'));", "read:/etc"),
    ("file_get_contents('https://x.io/a');", ""),
    ("// unlink('/a')\n# unlink('/b')\necho 1;", ""),
]

OTHERS = [
    ("lua", "print('/etc/x')", ""),
    ("lua", "io.open('/tmp/' .. 'x', 'w')", "write:/tmp/x"),
    ("lua", "os.execute('cat /etc/x')", "sh:cat /etc/x"),
    ("lua", "-- os.remove('/a')\nos.remove(os.getenv('HOME') .. '/n')", "delete:/home/dev/n"),
    ("lua", "print([[os.remove('/a')]]); os.remove([[/b]])", "delete:/b"),
    ("r", "x <- read.csv('/srv/a.csv'); print(x)", "read:/srv/a.csv"),
    ("r", "readLines(file.path('/srv', 'a'))", "read:/srv/a"),
    ("r", "cat('/etc/x')", ""),
    ("r", "system('ls /etc')", "sh:ls /etc"),
    ("julia", 'println(read("/etc/x", String))', "read:/etc/x"),
    ("julia", 'd = "/srv"; rm("$d/a")', "delete:/srv/a"),
    ("julia", "run(`cat /etc/x`)", "sh:cat /etc/x"),
    ("vim", ":w /tmp/x", "write:/tmp/x"),
    ("vim", "wq! /tmp/x", "write:/tmp/x"),
    ("vim", ":%s#/srv#/etc#\nwq", ""),
    ("vim", "r ../x\n:e ~/n", "read:../x read:/home/dev/n"),
    ("vim", ":!cat /etc/x", "sh:cat /etc/x"),
    ("vim", ":r !cat /etc/x", "sh:cat /etc/x"),
    ("vim", "call system('x')", "opaque"),
    ("vim", "set ft=/x", ""),
]

CASES = OTHERS + [
    (language, text, expected)
    for language, table in (("node", JAVASCRIPT), ("perl", PERL), ("ruby", RUBY), ("php", PHP))
    for text, expected in table
]


@pytest.mark.parametrize(("language", "text", "expected"), CASES)
def test_what_a_program_does(found, language, text, expected):
    """Paths and commands are found where they are opened and run, nowhere else."""
    assert found(language, text, "/arg") == expected


@pytest.mark.parametrize(
    ("language", "text", "place"),
    [
        ("node", "'é'; fs.readFileSync('/é')", "'/é'"),
        ("node", "`${fs.readFileSync('/é')}`", "'/é'"),
        ("perl", 'unlink "/é"', '"/é"'),
        ("ruby", "File.read('/é')", "'/é'"),
        ("php", "unlink('/é');", "'/é'"),
    ],
)
def test_places(inspect, language, text, place):
    """Offsets point at the argument that names the file."""
    (path,) = inspect(language, text).paths
    assert text[path.start : path.end] == place


PIECES = st.sampled_from(
    ["fs.readFileSync", "open", "system", "x", "'/a'", '"$x#{y}"', "`${z}`", "require", "eval "]
) | st.sampled_from(["(", ")", "[", "]", "{", "}", "+", ".", "=", ",", "/", "\n", " ", "<<E", "?"])


@pytest.mark.parametrize("language", ["node", "perl", "ruby", "php"])
@given(text=st.lists(PIECES, max_size=25).map("".join))
def test_any_text_is_answered(inspect, language, text):
    """No text makes the inspection raise."""
    inspect(language, text)


@pytest.mark.parametrize("language", ["node", "perl", "ruby", "php"])
@pytest.mark.parametrize(
    "text",
    ["(" * 20000, "a=b;b=a;" * 500, "`${" * 300, "'" + "x" * 50000, "x=" + "'a'+" * 5000 + "'b'",
     "".join(f"a{i}=a{i + 1}+a{i + 1};" for i in range(60)) + "fs.readFileSync(a0)",
     "a()" + ".b()" * 3000, "fs" + "['x']" * 3000 + "()", ")" * 20000,
     'x="$x#{x}$x";' * 100 + "unlink($x)"],
)  # fmt: skip
def test_hostile_text_is_answered(inspect, language, text):
    """Depth and length end in an answer."""
    inspect(language, text)
