"""A descriptor's path opens the file behind it once more, whatever it was opened for."""

from __future__ import annotations

import pytest

from ringfence import Engine, ToolCall
from ringfence.rules.model import Operation, State


@pytest.fixture
def done(rooted):
    """Makes a list of the paths with which a command does something."""
    world = rooted({"/etc/x": "a\n", "/home/me/app/a": ""})

    def paths(command, operation):
        effects = world.evaluate(command).effects
        return [effect.path for effect in effects if effect.operation is operation]

    return paths


@pytest.mark.parametrize(
    "command",
    [
        "{ echo > /dev/stdin; } < /etc/x",
        "(echo > /dev/fd/0) < /etc/x",
        "exec 3< /etc/x; echo > /dev/fd/3",
        "exec 3< /etc/x; echo > /proc/self/fd/3",
        "exec 3< /etc/x 4<&3 3<&-; echo > /dev/fd/4",
        "command exec 3< /etc/x; echo > /dev/fd/3",
        "exec {x}< /etc/x; echo > /dev/fd/$x",
        "exec < /etc/x; echo > /dev/stdin",
        "f() { echo > /dev/stdin; }; f < /etc/x",
        "while read l; do echo > /dev/stdin; done < /etc/x",
        'bash -c "echo > /dev/stdin" < /etc/x',
        "sh -c 'cat > /dev/fd/5' 5< /etc/x",
        "tee /dev/stdin < /etc/x",
        "dd of=/dev/fd/0 < /etc/x",
        "truncate -s 0 /dev/stdin < /etc/x",
        "sort -o /dev/stdin < /etc/x",
        '[ -n "$A" ] && exec 3< /etc/x || exec 3< a; echo > /dev/fd/3',
    ],
)
def test_what_was_read_is_written(done, command):
    assert "/etc/x" in done(command, Operation.WRITE)


@pytest.mark.parametrize(
    "command",
    [
        "(echo > /dev/./stdin) < /etc/x",
        "cd /dev/fd; exec 3< /etc/x; echo > 3",
        "exec 3< /etc/x; ln -s /dev/fd/3 q; echo > q",
        "exec 3< /etc/x; echo > /proc/$$/fd/3",
        'exec 3< /etc/x; echo > "/dev/fd/$X"',
        'exec 3< /etc/x; tee "/dev/fd/$(cat n)"',
        'python3 -c \'open("/dev/stdin", "w")\' < /etc/x',
    ],
)
def test_by_another_spelling(done, command):
    assert "/etc/x" in done(command, Operation.WRITE)


@pytest.mark.parametrize(
    "command",
    [
        "cat < /etc/x",
        "cat /etc/x | tee /dev/stdin",
        "echo > /dev/stdin",
        "cat <<< a > /dev/stdin",
        "{ cat; } < /etc/x; echo > /dev/stdin",
        "cat < /etc/x; echo > /dev/stdin",
        "exec 3< /etc/x; exec 3<&-; echo > /dev/fd/3",
        "exec 3< /etc/x; exec 3< <(ls); echo > /dev/fd/3",
        "exec 3< /etc/x; cat <&3 > /dev/stderr",
        "cat /dev/stdin < /etc/x",
        "rm -f /dev/stdin < /etc/x",
        "{ x=$(cat /dev/stdout); } < /etc/x",
    ],
)
def test_what_is_not(done, command):
    assert "/etc/x" not in done(command, Operation.WRITE)


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("exec 3> /etc/x; cat /dev/fd/3", True),
        ("exec 3< /etc; cat /dev/fd/3/x", True),
        ("exec 3< /etc; cd /dev/fd/3; cat x", True),
        ("exec 3> /etc/x; ls a >&3", False),
    ],
)
def test_what_is_read_through_it(done, command, read):
    """What was opened for writing, or as a folder, may be read by the descriptor's path."""
    assert ("/etc/x" in done(command, Operation.READ)) is read


def test_a_file_written_through_it_is_another(tmp_path):
    """A script that was changed so is not the project's own any more."""
    (tmp_path / "x.sh").write_text("ls\n")
    env = {"HOME": "/nowhere", "PATH": "/usr/bin"}
    for line in (
        "exec 3<x.sh; echo 'cat /etc/passwd' > /dev/fd/3; bash x.sh",
        "{ echo 'cat /etc/passwd' > /dev/./stdin; } < x.sh; bash x.sh",
        "exec 3<x.sh; echo 'cat /etc/passwd' | tee /dev/fd/3; bash x.sh",
    ):
        assert Engine().decide(ToolCall.bash(line, str(tmp_path), env=env)).state is State.ASK


@pytest.mark.parametrize(
    "command",
    ["exec 3<.ringfence/config.toml; echo > /dev/fd/3", "tee /dev/stdin < .ringfence/config.toml"],
)
def test_our_own_files(tmp_path, command):
    (tmp_path / ".ringfence").mkdir()
    (tmp_path / ".ringfence/config.toml").write_text("")
    call = ToolCall.bash(command, str(tmp_path), env={"HOME": "/nowhere", "PATH": "/usr/bin"})
    assert Engine().decide(call).state is State.ASK
