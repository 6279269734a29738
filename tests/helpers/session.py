"""One session of a real client with the scripted model, as a process: a Job in, what came out.

It is a process so that both can have a network of their own (see ``isolation``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

sys.path.insert(0, str(Path(__file__).parents[1]))
from helpers import isolation
from helpers.clients import CLIENTS
from helpers.model import Model


@frozen
class Job:
    """``client`` is one of CLIENTS, ``program`` its program, ``command`` what the model asks for.

    ``ringfence`` is the program that is registered; None for none.
    """

    client: str
    program: str
    home: str
    work: str
    command: str
    ringfence: str | None = None


@frozen
class Outcome:
    """What the model was asked, and what the client printed."""

    requests: tuple[str, ...]
    printed: str

    @property
    def told(self) -> str:
        """The last request: what the model was told of its call."""
        assert self.requests, self.printed
        return self.requests[-1]


def held(job: Job) -> Outcome:
    """Hold the session in a process without a way out, or with one where that cannot be had."""
    words, _ = isolation.alone()
    command = [*words, sys.executable, __file__, *["--alone"][: len(words)]]
    done = subprocess.run(
        command,
        input=json.dumps(asdict(job)),
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    return Outcome(tuple(answer["requests"]), answer["printed"])


def hold(job: Job) -> dict[str, Any]:
    """The session itself."""
    client = CLIENTS[job.client]
    home, work, program = Path(job.home), Path(job.work), Path(job.program)
    with Model(job.command) as model:
        client.settings(home, work, model.url)
        environment = {
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "HOME": job.home,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "HTTPS_PROXY": model.url,
            "NO_PROXY": "127.0.0.1,localhost",
        }
        for name, value in client.environment.items():
            environment[name] = value.format(home=job.home, url=model.url)
        if job.ringfence is not None:
            register(client.host, job.ringfence, work, environment)
        done = subprocess.run(
            [job.program, *client.arguments],
            cwd=work, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
        )  # fmt: skip
    return {"requests": model.requests, "printed": done.stdout}


def register(host: str, program: str, work: Path, environment: dict[str, str]) -> None:
    """``ringfence install HOST`` with another program than this installation's."""
    from ringfence.engine.cli import install, main

    install.program = lambda: program
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(work)
    sys.stdout, out = sys.stderr, sys.stdout
    assert main(["install", host]) == 0
    sys.stdout = out


if __name__ == "__main__":
    if "--alone" in sys.argv:
        isolation.loopback()
    print(json.dumps(hold(Job(**json.load(sys.stdin)))))
