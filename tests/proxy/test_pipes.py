"""The process between two pipes: bytes, ends, exit statuses."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(b'got ' + line)
    sys.stdout.buffer.flush()
"""


@pytest.fixture
def env(tmp_path):
    return {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""}


def command(*server, name="s"):
    proxy = [sys.executable, "-m", "ringfence.engine.cli", "mcp-proxy", "--name", name, "--"]
    return [*proxy, *server]


def run(env, server, content=b"", **options):
    done = subprocess.run(
        command(*server), input=content, capture_output=True, env=env, timeout=60, check=False,
        **options,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr.partition(b"\n")[2]


def start(env, *server):
    pipe = subprocess.PIPE
    return subprocess.Popen(command(*server), stdin=pipe, stdout=pipe, stderr=pipe, env=env)


def python(code):
    return [sys.executable, "-c", code]


def call(path, key=1):
    params = {"name": "t", "arguments": {"path": path}}
    message = {"jsonrpc": "2.0", "id": key, "method": "tools/call", "params": params}
    return json.dumps(message).encode() + b"\n"


def test_byte_for_byte(env):
    """Spaces, escapes, line ends, an end without one: as it came."""
    lines = [
        b'{ "jsonrpc" : "2.0","id":1.50, "method":"x\\u0041" }\r\n',
        b"\n",
        call("inside").replace(b"inside", b"in\\u0073ide"),
        b'[{"jsonrpc":"2.0","method":"a"}]\n',
        '{"method":"ü"}'.encode(),
    ]
    status, out, err = run(env, python(ECHO), b"".join(lines))
    assert (status, err) == (0, b"")
    assert out == b"".join(b"got " + line for line in lines)


def test_refused_calls_do_not_arrive(env):
    status, out, _ = run(env, python(ECHO), call("/etc/hosts", 7) + call("a", 8))
    lines = out.splitlines(keepends=True)
    assert status == 0
    assert sorted(lines, key=lambda line: line.startswith(b"got"))[1] == b"got " + call("a", 8)
    answer = next(json.loads(line) for line in lines if not line.startswith(b"got"))
    assert answer["id"] == 7
    assert answer["result"]["isError"]


def test_ours_never_stands_within_a_line_of_the_servers(env):
    """The server is in the middle of a line when a call is refused."""
    code = """
import sys, time
sys.stdout.write('{"half":'); sys.stdout.flush()
sys.stdin.readline()
sys.stdout.write('1}\\n'); sys.stdout.flush()
"""
    proxy = start(env, *python(code))
    time.sleep(0.5)
    proxy.stdin.write(call("/etc/hosts"))
    proxy.stdin.flush()
    first = proxy.stdout.readline()
    proxy.stdin.write(b'{"method":"go"}\n')
    proxy.stdin.close()
    assert json.loads(first)["id"] == 1
    assert proxy.stdout.read() == b'{"half":1}\n'
    assert proxy.wait() == 0


def test_huge_lines_both_ways(env):
    line = json.dumps({"method": "x", "params": {"data": "x" * 5_000_000}}).encode() + b"\n"
    assert run(env, python(ECHO), line)[1] == b"got " + line


def test_a_line_past_the_limit(monkeypatch):
    """It is dropped, and what follows is read from its end on."""
    from ringfence.engine.mcp import pipes

    monkeypatch.setattr(pipes, "_CHUNK", 7)
    reader, writer = os.pipe()
    os.write(writer, b"short\n" + b"x" * 50 + b"\nshort\n" + b"y" * 11)
    os.close(writer)
    assert list(pipes._lines(reader, 10)) == [b"short\n", None, b"short\n", None]
    os.close(reader)


@pytest.mark.parametrize("status", [0, 3, 255])
def test_exit_status(env, status):
    assert run(env, python(f"raise SystemExit({status})"))[0] == status


def test_standard_error_passes(env):
    assert run(env, python("import sys; sys.stderr.write('oh\\n')")) == (0, b"", b"oh\n")


def test_the_server_dies(env):
    """By a signal: the status is the one of a shell, and what it said before has arrived."""
    code = "import os, signal; os.write(1, b'last'); os.kill(os.getpid(), signal.SIGKILL)"
    assert run(env, python(code)) == (137, b"last", b"")


def test_the_server_stops_reading(env):
    """It closed its input: messages to it are lost, what it says still arrives."""
    code = "import os, time; os.close(0); time.sleep(0.5); os.write(1, b'bye\\n')"
    assert run(env, python(code), b'{"method":"x"}\n' * 5000)[:2] == (0, b"bye\n")


def test_the_client_is_gone(env):
    """Its end closes the server's input, upon which a server ends."""
    proxy = start(env, *python(ECHO))
    proxy.stdin.close()
    assert proxy.wait(timeout=30) == 0


def test_the_client_reads_no_more(env):
    """A server that talks to nobody is ended."""
    code = "import time\nwhile True: print('x' * 1000, flush=True); time.sleep(0.01)"
    proxy = start(env, *python(code))
    assert proxy.stdout.readline()
    proxy.stdout.close()
    assert proxy.wait(timeout=30) == 128 + signal.SIGTERM


def test_sigterm_is_passed_on(env):
    code = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
print('ready', flush=True)
time.sleep(60)
"""
    proxy = start(env, *python(code))
    assert proxy.stdout.readline() == b"ready\n"
    proxy.terminate()
    assert proxy.wait(timeout=30) == 9


def test_a_server_that_is_not_there(env):
    done = subprocess.run(command("/no/such"), capture_output=True, env=env, check=False)
    assert done.returncode == 127
    assert b"cannot run /no/such: No such file or directory" in done.stderr


def test_a_broken_config_starts_nothing(env, tmp_path):
    (tmp_path / ".config/ringfence").mkdir(parents=True)
    (tmp_path / ".config/ringfence/config.toml").write_text("[tools\n")
    done = subprocess.run(
        command(*python("print('up')")), capture_output=True, env=env, check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"config.toml" in done.stderr


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("npx -y @modelcontextprotocol/server-github@2.1", "server-github"),
        ("uvx mcp-server-git --repository .", "mcp-server-git"),
        ("uv run --quiet server.py", "server"),
        ("/usr/bin/python3.12 -m mcp.notes", "mcp.notes"),
        ("node build/index.js", "index"),
        ("/opt/bin/github-mcp-server stdio", "github-mcp-server"),
        ("python3", "python3"),
    ],
)
def test_names_by_command(words, name):
    from ringfence.engine.cli.mcp_proxy import server_name

    assert server_name(words.split()) == name


BROKEN = """
import os, sys, time
from ringfence.engine.engine import Engine
Engine.approve = lambda *_: {action}
from ringfence.engine.cli import main
from ringfence.engine.mcp import judge
judge.START_LIMIT = 60
judge.TIME_LIMIT = {limit}
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("time.sleep(60)", "no answer within 0.8 seconds"),
        ("os._exit(1)", "the engine ended without an answer"),
        ("1 / 0", "internal error ZeroDivisionError"),
        ("os.kill(os.getppid(), 9)", "the process that judges is gone; start this server anew"),
    ],
)
def test_a_broken_engine(env, action, reason):
    """The call never arrives; everything else goes on."""
    limit = 0.8 if "sleep" in action else 60
    program = BROKEN.format(action=action, limit=limit)
    words = [sys.executable, "-c", program, *command(*python(ECHO))[3:]]
    ping = b'{"method":"ping"}\n'
    done = subprocess.run(
        words, input=call("a") + ping, capture_output=True, env=env, timeout=60, check=False
    )
    lines = done.stdout.splitlines(keepends=True)
    assert b"got " + ping in lines
    (answer,) = [json.loads(line) for line in lines if not line.startswith(b"got")]
    assert answer["result"]["isError"]
    assert reason in answer["result"]["content"][0]["text"]
