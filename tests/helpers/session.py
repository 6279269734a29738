"""One session of a real client with the scripted model, as a process: a Job in, what came out.

It is a process so that both can have a network of their own (see ``isolation``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from attrs import asdict, evolve, frozen

sys.path.insert(0, str(Path(__file__).parents[1]))
from helpers import isolation
from helpers.clients import AGAIN, CLIENTS, PROMPT, Dialogue
from helpers.model import Model
from helpers.screen import Screen

from ringfence.engine.cli import install, main
from ringfence.engine.hosts.registration import REGISTRATIONS

LOG = ".local/state/ringfence/review.jsonl"
"""Below a home: what Ringfence decided."""


@frozen
class Job:
    """``client`` is one of CLIENTS, ``program`` its program, ``command`` what the model asks for.

    ``ringfence`` is the program that is registered, None for none; ``event`` the one event that it
    is registered for, None for those of ``ringfence install``. ``answer`` is None for a run that
    asks nobody; on a terminal, it is whether a person says yes to the client's question.
    """

    client: str
    program: str
    home: str
    work: str
    command: str
    ringfence: str | None = None
    event: str | None = None
    answer: bool | None = None


@frozen
class Outcome:
    """What the model was asked, what the client printed, and its screen when it asked a person."""

    requests: list[str]
    printed: str
    question: str | None

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
    return Outcome(**json.loads(done.stdout))


def hold(job: Job) -> Outcome:
    """The session itself."""
    client = CLIENTS[job.client]
    home, work, program = Path(job.home), Path(job.work), Path(job.program)
    dialogue = client.dialogue if job.answer is not None else None
    with Model(job.command, dialogue.others if dialogue else {}) as model:
        client.settings(home, work, model.url)
        if dialogue:
            dialogue.prepare(home, work)
        environment = {
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "HOME": job.home,
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color" if dialogue else "dumb",
            "HTTPS_PROXY": model.url,
            "NO_PROXY": "127.0.0.1,localhost",
        }
        for name, value in client.environment.items():
            environment[name] = value.format(home=job.home, url=model.url)
        if job.ringfence is not None:
            register(client.host, job.ringfence, job.event, work, environment)
        if dialogue:
            screen = Screen([job.program, *dialogue.arguments], work, environment)
            try:
                asked = talk(dialogue, screen, model, home / LOG, yes=job.answer is True)
            finally:
                screen.close()
            return Outcome(model.requests, screen.text, asked)
        done = subprocess.run(
            [job.program, *client.arguments],
            cwd=work, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
        )  # fmt: skip
    return Outcome(model.requests, done.stdout, None)


def talk(dialogue: Dialogue, screen: Screen, model: Model, log: Path, *, yes: bool) -> str | None:
    """Prompt, answer the client's question and prompt again; the screen with the question."""
    asked = None
    screen.until(lambda: dialogue.ready in screen.text, dialogue.ready)
    screen.enter(PROMPT)
    screen.until(lambda: model.told or dialogue.question in screen.text, dialogue.question)
    # Claude Code asks Ringfence beside its prompt, and takes the prompt back once it has an answer.
    screen.until(log.exists, "Ringfence's decision", calm=2)
    screen.until(lambda: model.told or dialogue.question in screen.text, dialogue.question)
    if not model.told:
        asked = screen.text
        screen.keys(dialogue.yes if yes else dialogue.no)
    if asked is None or yes:
        screen.until(lambda: model.told, "the call's result")
    else:  # it ended the turn: what became of the call is told with the next prompt
        screen.until(lambda: dialogue.question not in screen.text, "the end of the question")
        screen.enter(AGAIN)
        screen.until(lambda: any(AGAIN in request for request in model.requests), AGAIN)
    return asked


def register(
    host: str, program: str, event: str | None, work: Path, environment: dict[str, str]
) -> None:
    """``ringfence install HOST`` with another program than this installation's."""
    install.program = lambda: program
    if event is not None:
        (file,) = REGISTRATIONS[host].files
        (entry, *_) = file.entries(program).values()
        file = evolve(file, entries=lambda _: {("hooks", event): entry})
        REGISTRATIONS[host] = evolve(REGISTRATIONS[host], files=(file,))
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(work)
    sys.stdout, out = sys.stderr, sys.stdout
    assert main(["install", host]) == 0
    sys.stdout = out


if __name__ == "__main__":
    if "--alone" in sys.argv:
        isolation.loopback()
    print(json.dumps(asdict(hold(Job(**json.load(sys.stdin))))))
