"""Python programs: the files they open and the commands they run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

OPENS = [
    ("open('/etc/x')", "read:/etc/x"),
    ("open('a').read()", "read:a"),
    ("open('/tmp/x', 'w').write('y')", "write:/tmp/x"),
    ("open('/tmp/x', mode='ab')", "write:/tmp/x"),
    ("open(file='/tmp/x', encoding='utf-8')", "read:/tmp/x"),
    ("with open('/a') as f, open('/b', 'w') as g: g.write(f.read())", "read:/a write:/b"),
    ("import io; io.open(r'/etc/x')", "read:/etc/x"),
    ("import json; json.load(open('c.json'))['/etc']", "read:c.json"),
    ("import os; os.remove('/x'); os.rename('a', '../b')", "delete:/x delete:a write:../b"),
    ("from os import remove as r; r('/x')", "delete:/x"),
    ("import os as o; o.listdir('/srv')", "read:/srv"),
    ("import os; os.path.exists('/x')", "test:/x"),
    ("import os.path\nos.path.isfile('/x')", "test:/x"),
    ("import shutil; shutil.copy('R', '/tmp/w/')", "read:R write:/tmp/w/"),
    ("import shutil; shutil.rmtree('../x', ignore_errors=True)", "delete:../x"),
    ("import glob; glob.glob('/srv/o/*.txt')", "read:/srv/o"),
    ("import tempfile; tempfile.mkdtemp()", "write:/tmp/*"),
    ("import tempfile; tempfile.mkdtemp(dir='build')", "write:build/*"),
    ("import sqlite3; sqlite3.connect('/x.db')", "write:/x.db"),
    ("import sqlite3; sqlite3.connect('file:/x.db?mode=ro', uri=True)", "read:/x.db"),
    ("import sqlite3; sqlite3.connect(':memory:')", ""),
    ("import pandas as pd; pd.read_csv('/d.csv')", "read:/d.csv"),
    ("import pandas as pd; pd.read_csv('https://x.io/d.csv')", ""),
    ("import sys; sys.path.insert(0, '/srv/lib'); import helper", "read:/srv/lib"),
    ("import os; os.chdir('/srv'); open('x')", "enter:/srv read:/srv/x"),
    ("import zipfile; zipfile.ZipFile('a.zip').extractall('/x')", "read:a.zip write:/x"),
    ("import tarfile\nwith tarfile.open('a', 'w') as t: t.add('/etc/x')", "write:a read:/etc/x"),
    ("import configparser as c; p = c.ConfigParser(); p.read('/x.ini')", "read:/x.ini"),
    ("from PIL import Image; Image.open('/a').save('/b')", "read:/a write:/b"),
    ("import os; os.open('/x', os.O_RDONLY)", "read:/x"),
    ("import os; os.open('/x', os.O_WRONLY | os.O_CREAT)", "write:/x"),
    ("import urllib.request as u; u.urlopen('file:///etc/x')", "read:/etc/x"),
    ("print(*open('/x'))", "read:/x"),
    ("import os; os.symlink('/srv/o', 'l')", "unknown:/srv/o write:l"),
    ("import urllib.request as u; u.urlretrieve('https://x.io', '/tmp/f')", "write:/tmp/f"),
    ("import urllib.request as u; u.urlopen('https://x.io/a/b').read()", ""),
    ("__import__('os').remove('/x')", "delete:/x"),
    ("import importlib; importlib.import_module('os').unlink('/x')", "delete:/x"),
    ("import os; getattr(os, 'remove')('/x')", "delete:/x"),
    ("exec(\"open('/etc/x')\")", "read:/etc/x"),
    ("f = open; f('/etc/x')", "read:/etc/x"),
    ("list(map(open, ['/a', '/b']))", "read:/a read:/b"),
    ("open(0).read()", ""),
    ("import fileinput\nfor l in fileinput.input(['/a', 'b']): pass", "read:/a read:b"),
]

PATHLIB = [
    ("from pathlib import Path; Path('../t.md').read_text()", "read:../t.md"),
    ("from pathlib import Path; Path('/srv/a.txt').name", ""),
    ("from pathlib import Path; (Path.home() / 'n.txt').read_text()", "read:/home/dev/n.txt"),
    ("import pathlib; pathlib.Path('~/n').expanduser().open('w')", "write:/home/dev/n"),
    ("from pathlib import Path; p = Path('/a') / 'b'; p.unlink()", "delete:/a/b"),
    ("from pathlib import Path; Path('/a/b.c').parent.joinpath('d').touch()", "write:/a/d"),
    ("from pathlib import Path; Path('/a/b.c').with_suffix('.d').exists()", "test:/a/b.d"),
    ("from pathlib import Path; Path('a').rename('/b')", "delete:a write:/b"),
    (
        "from pathlib import Path\nfor p in Path('/s').rglob('*.py'): print(p.read_text())",
        "read:/s read:/s/§",
    ),
    (
        "from pathlib import Path\nfor p in sorted(Path('s').iterdir()):\n  p.write_text('')",
        "read:s write:s/*",
    ),
    ("from pathlib import Path; open(Path('/a') / 'b')", "read:/a/b"),
    ("from pathlib import Path; print(Path('/a') / 'b')", ""),
]

VALUES = [
    ("p = '/srv/a'\nprint(p)", ""),
    ("print('/etc/passwd')", ""),
    ("# open('/srv/a')\nprint(1)", ""),
    ("p = '/srv'; open(p + '/a')", "read:/srv/a"),
    ("p = '/srv'; open(f'{p}/a')", "read:/srv/a"),
    ("open('%s/a' % '/srv')", "read:/srv/a"),
    ("open('/srv/%s-%d' % ('a', 1))", "read:/srv/a-1"),
    ("open('{}/a'.format('/srv'))", "read:/srv/a"),
    ("open('/'.join(['', 'srv', 'a']))", "read:/srv/a"),
    ("open('/SRV/A'.lower())", "read:/srv/a"),
    ("import os; open(os.path.join('/srv', 'a'))", "read:/srv/a"),
    ("import os.path; print(os.path.join('/srv', 'a'))", ""),
    ("import os; open(os.path.expanduser('~/n'))", "read:/home/dev/n"),
    ("import os; open(os.environ['HOME'] + '/n')", "read:/home/dev/n"),
    ("import os; open(os.environ.get('UNSET', '/d') + '/n')", "read:/d/n"),
    ("import os; open(os.path.dirname('/a/b') + '/c')", "read:/a/c"),
    ("import os; open(os.path.join(os.getcwd(), 'a'))", "read:/home/dev/project/a"),
    ("for p in ['/a', 'b']: open(p)", "read:/a read:b"),
    ("for i, p in enumerate(('/a',)): open(p)", "read:/a"),
    ("for i in range(3): open(f'/tmp/{i}.txt', 'w')", "write:/tmp/*.txt"),
    ("[open(p) for p in ('/a', '/b') if p]", "read:/a read:/b"),
    ("d = {'k': '/a'}; open(d['k'])", "read:/a"),
    ("for k, v in {'k': '/a'}.items(): open(v)", "read:/a"),
    ("ps = []; ps.append('/a')\nfor p in ps: open(p)", "read:/a"),
    ("a, b = '/a', '/b'; open(b)", "read:/b"),
    ("def f(p, m='r'):\n  return open(p, m)\nf('/a'); f('/b', 'w')", "read:/a write:/b"),
    ("def g(n): return '/etc/' + n\nopen(g('x'))", "read:/etc/x"),
    ("f = lambda p: open(p); f('/a')", "read:/a"),
    ("import os, sys\nif sys.argv: p = '/a'\nelse: p = '/b'\nopen(p)", "read:/a read:/b"),
    ("P = 'a'\ndef f():\n  global P; P = '/b'\nf(); open(P)", "read:a read:/b"),
    ("import os\nfor n in os.listdir('s'): open('s/' + n)", "read:s read:s/*"),
    (
        "import os\nfor r, d, fs in os.walk('/s'):\n  for f in fs: open(os.path.join(r, f))",
        "read:/s read:/s/§/*",
    ),
    ("import glob\nfor f in glob.glob('s/*.py'): open(f)", "read:s read:s/*.py"),
    ("from os import *\nremove('/a'); system('ls')", "delete:/a sh:ls"),
    ("ps = []\ndef add(p): ps.append(p)\nadd('/a')\nfor p in ps: open(p)", "read:/a"),
    ("P = '/b'\ndef g(): open(P)\ndef f():\n  P = 'a'; g()\nf()", "read:/b read:a"),
    ("ps = [] if x else ['/a']\nfor p in ps: open(p)", "read:/a"),
    ("try:\n  open('/a')\nexcept OSError:\n  open('/b')", "read:/a read:/b"),
    ("class A:\n  def f(self): open('/a')", "read:/a"),
    ("import re; re.sub('/srv', '/etc', '/srv/o')", ""),
    ("x = open('/etc/' + input())", "read:/etc/?"),
]

RUNS = [
    ("import os; os.system('cat /etc/x')", "sh:cat /etc/x"),
    ("from os import system; system('ls')", "sh:ls"),
    ("import os; os.popen('cat ../x').read()", "sh:cat ../x"),
    ("import subprocess; subprocess.run('cat x', shell=True)", "sh:cat x"),
    ("import subprocess as s; s.run(['cat', '/etc/x'], check=True)", "sh:cat /etc/x"),
    ("import subprocess; subprocess.check_output(['git', 'log'])", "sh:git log"),
    (
        "import subprocess; subprocess.run(['sh', '-c', 'ls'], cwd='/srv')",
        "sh:env -C /srv sh -c ls",
    ),
    ("import subprocess; subprocess.run('ls', shell=True, cwd='/s')", "sh:env -C /s sh -c ls"),
    ("import subprocess, sys; subprocess.run([sys.executable, '-V'])", "sh:python3 -V"),
    ("import subprocess\nfor f in ['a', '/b']: subprocess.run(['cat', f])", "sh:cat '?'"),
    ("import subprocess; subprocess.run(['ls'] + ['/a'])", "sh:ls /a"),
    ("import subprocess; subprocess.run('ls -l'.split())", "sh:ls -l"),
    ("import subprocess, shlex; subprocess.run(shlex.split('ls -l /a'))", "sh:ls -l /a"),
    ("import subprocess as s; s.run('ls /a', **kw)", "sh:ls /a"),
    ("import ctypes; ctypes.CDLL(None).system(b'ls /a')", "sh:ls /a"),
    ("import os; os.execvp('ls', ['ls', '/a'])", "sh:ls /a"),
    ("import os; os.execlp('ls', 'ls', '/a')", "sh:ls /a"),
]

OPAQUE = [
    "open(input())",
    "import sys; open(sys.stdin.read().strip())",
    "import json, sys; [open(x['path']) for x in json.load(sys.stdin)]",
    "exec(input())",
    "import requests; exec(requests.get('https://x.io').text)",
    "import os; os.system(input())",
    "import subprocess, sys; subprocess.run(sys.stdin.read().split())",
    "import os, sys; getattr(os, sys.stdin.read())('/x')",
    "def f(p): open(p)\nprint(f)\nimport x; x.register(f)",
    "import os; vars(os)['remove']('/x')",
    "import os; os.__dict__['remove']('/x')",
    "import sys; sys.modules['os'].remove('/x')",
    "ps = []\nfill(ps)\nfor p in ps: open(p)",
    "from app.settings import PATH; open(PATH)",
    "import settings; open(settings.PATH)",
    "open('x'",
    "import os; print os.listdir('.')",
    "open(",
    "p = '/a'\nwhile x: p = p + '/b'\nopen(p)",
]

SILENT = [
    "import json,sys; print(json.load(sys.stdin)['a'])",
    "import sys\nfor l in sys.stdin: print(l.split('/')[1])",
    "import django; django.setup(); from app.models import User; print(User.objects.count())",
    "import pytest; pytest.main(['-q'])",
    "from app import db; db.open('/x'); db.remove('/y')",
    "print 'hello'",
    "import ast; ast.literal_eval(input())",
    "import sys; sys.path.insert(0, 'src')\nimport app",
    "import hashlib; print(hashlib.md5(('/a' + '/b').encode()).hexdigest())",
    "import datetime; datetime.datetime.now().replace(hour=0)",
    "s = 'a/b'.replace('/', '_'); print(s)",
    "import io, csv; csv.reader(io.StringIO('/a'))",
    "def walk(n, path=''):\n  for k in n: walk(n[k], path + '/' + k)\nwalk({})",
    "import re; re.compile('/x').search('/y')",
    "import requests; requests.get('https://x.io/a').json()",
    "import socket; socket.gethostname()",
    "import pandas as pd, sys; print(pd.read_csv(sys.stdin))",
]


@pytest.mark.parametrize(("text", "expected"), OPENS + PATHLIB + VALUES + RUNS)
def test_what_a_program_does(found, text, expected):
    """Paths and commands are found where they are opened and run, nowhere else."""
    assert found("python", text) == expected


@pytest.mark.parametrize("text", OPAQUE)
def test_what_cannot_be_known_is_opaque(found, text):
    """A path, command or text to run that is only known at run time is opaque."""
    assert found("python", text).endswith("opaque")


@pytest.mark.parametrize("text", SILENT)
def test_what_opens_nothing_elsewhere_is_silent(found, text):
    """Programs without a visible use of files outside are not asked about."""
    assert found("python", text) in ("", "read:src")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import sys; open(sys.argv[1])", "read:/a"),
        ("import sys; [open(p) for p in sys.argv[1:]]", "read:/a read:b"),
        ("from sys import argv; open(argv[2])", "read:b"),
        ("import sys; print(sys.argv)", ""),
    ],
)
def test_parameters(found, text, expected):
    """``sys.argv`` holds the arguments that the program receives."""
    assert found("python", text, "/a", "b") == expected


def test_places(inspect):
    """Offsets count code points of the program, also after other lines and wide characters."""
    text = "s = 'é€😀'; print(s)\n\nopen('/etc/é')  # x\nopen(\n  '/b')"
    places = [text[path.start : path.end] for path in inspect("python", text).paths]
    assert places == ["'/etc/é'", "'/b'"]


def test_an_unknown_part_of_the_text(found):
    """A part that bash could not know counts as text inside quotes, and else is opaque."""
    assert found("python", "open('/etc/\0')") == "read:/etc/?"
    assert found("python", "open('\0')") == "opaque"
    assert found("python", "print(1); \0") == "opaque"
    assert found("python", "print('\0')") == ""


HOSTILE = [
    "(" * 5000,
    "x=" + "-" * 20000 + "1",
    "f(" * 80 + ")" * 80,
    "'a'" + "+'a'" * 5000,
    "def f(): f()\nf()",
    "def f(a): g(a)\ndef g(a): f(a); open(a)\nf('x')",
    "while 1: x = [x]",
    "".join(" " * i + f"for x{i} in y:\n" for i in range(18)) + " " * 18 + "z=1",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_programs_are_answered(inspect, text):
    """Depth, recursion and length end in an answer."""
    inspect("python", text)


NAMES = st.sampled_from(
    ["open", "os", "x", "'/a'", "Path", ".join", "lambda ", "import ", "f'{x}'", "if ", "for "]
) | st.sampled_from(["(", ")", "[", "]", "+", "/", "=", ":", "\n", " ", ",", " in "])


@given(st.lists(NAMES, max_size=25).map("".join))
def test_any_text_is_answered(inspect, text):
    """No text makes the inspection raise."""
    inspect("python", text)
