"""What an answer keeps, and what that allows afterwards: exactly the call that was asked about."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence import Engine, NobodyToAskError, ToolCall
from ringfence.engine.filesystem import RealFileSystem
from ringfence.engine.grants import Grant, GrantStore, Scope, granted
from ringfence.engine.grants.apply import SESSION_LIMIT
from ringfence.engine.grants.model import Subject
from ringfence.engine.paths import is_inside
from ringfence.engine.policy.model import NAMED, PATHS, Entry, Layer, LayeredPolicy
from ringfence.rules.model import Operation, State

CWD = "/home/me/app"
ENV = {"HOME": "/home/me", "PATH": "/usr/bin:/bin"}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A file system of a few folders, files and links."""
    root = tmp_path_factory.mktemp("root")
    for folder in ("home/me/app/src", "home/me/.ssh", "home/me/other", "tmp/build/deep", "etc"):
        (root / folder).mkdir(parents=True)
    for file in ("tmp/build/a.log", "etc/hosts", "home/me/other/x", "home/me/.ssh/id"):
        (root / file).touch()
    (root / "tmp/link").symlink_to("/etc/hosts")
    (root / "tmp/build/out").symlink_to("/etc")
    return RealFileSystem(str(root))


def bash(command, session=None):
    """A call of bash."""
    return ToolCall("bash", {"command": command}, CWD, session=session, env=ENV)


def policy(**tables):
    """A policy of one layer."""
    return LayeredPolicy(
        (
            Layer(
                "user",
                "f",
                {
                    surface: tuple(
                        Entry(surface, pattern, State(state), "f:1")
                        for pattern, state in table.items()
                    )
                    for surface, table in tables.items()
                },
            ),
        )
    )


ASKS = {"*": "ask", "ls *": "allow", "cat *": "allow"}


def offered(world, call, **tables):
    """The offers of a call as a person reads them."""
    engine = Engine(policy(**tables), world, grants=GrantStore(Path("/nowhere/grants.json")))
    return [str(offer) for offer in engine.offers(engine.decide(call))]


class TestOffers:
    """What a person can choose from, the narrowest first."""

    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            ("cat /tmp/build/a.log", ["read /tmp/build/a.log", "read /tmp/build/**"]),
            ("ls /tmp", ["read /tmp", "read /tmp/**"]),
            ("ls /etc", ["read /etc"]),  # no answer opens all of /etc
            ("cat /etc/hosts", ["read /etc/hosts"]),
            ("cat ~/other/x", ["read /home/me/other/x", "read /home/me/other/**"]),
            ("cat ~/x", ["read /home/me/x"]),  # nor the home directory
            ("cat ~/.ssh/id", ["read /home/me/.ssh/id"]),  # nor a folder of secrets
            ("cat /tmp/link", ["read /tmp/link -> /etc/hosts"]),
            ("ls ..", ["read /home/me"]),
            ("rm /tmp/build/a.log", ["delete /tmp/build/a.log", "delete /tmp/build/**"]),
            (
                "cat /tmp/build/a.log /tmp/build/deep/b",
                [
                    "read /tmp/build/a.log, read /tmp/build/deep/b",
                    "read /tmp/build/**",
                ],
            ),
            ('cat "$UNSET"', [f'run exactly `cat "$UNSET"` in {CWD}']),
            ("grep -r x /tmp", ["read /tmp/**"]),  # a whole tree is no single path
            ("rm -rf /tmp/build", ["delete /tmp/build/**"]),
            ("rm -rf /tmp/build/a.log", ["delete /tmp/build/a.log", "delete /tmp/build/**"]),
            ("grep -r x /etc", [f"run exactly `grep -r x /etc` in {CWD}"]),
            ("cat /usr/share/doc/x", ["read /usr/share/doc/x", "read /usr/share/doc/**"]),
            ("cp a /usr/share/doc/x", ["write /usr/share/doc/x"]),  # the system is written by name
            ("cat ~/.cache/x", ["read /home/me/.cache/x"]),
            ("cat ~/.cache/uv/x", ["read /home/me/.cache/uv/x", "read /home/me/.cache/uv/**"]),
            ("cd /tmp && ls", ["read /tmp", "read /tmp/**"]),  # what is read may be entered
        ],
    )
    def test_paths(self, world, command, expected):
        """One file, then its folder, unless that says far more than was asked."""
        found = offered(world, bash(command))
        wanted = ["Once (nothing is kept)"]
        for what in expected:
            wanted += [f"Always in this project: {what}", f"Always, everywhere: {what}"]
        assert found == wanted

    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            ("git push origin main", ["run `git push origin main`", "run `git push *`"]),
            ("git status", ["run `git status`"]),  # never all of git
            ("git", ["run `git`"]),
            ("git config user.name x", ["run `git config user.name x`"]),  # may name commands
            ("git -C sub push x", ["run `git -C sub push x`", "run `git -C sub push *`"]),
            ("git rebase -i main", ["run `git rebase -i main`"]),  # runs another command
            ("docker exec c ls", ["run `docker exec c ls`"]),
            ("git 'pu sh' x", ["run `git 'pu sh' x`"]),
            ("npm run build --prod", ["run `npm run build --prod`", "run `npm run build *`"]),
            ("rm -rf build", ["run `rm -rf build`"]),
            ("make", ["run `make`"]),
            ('X=src; rm "$X"', ["run `rm src`"]),  # what it is, not how it is written
            ("rm $UNSET", [f"run exactly `rm $UNSET` in {CWD}"]),
        ],
    )
    def test_commands(self, world, command, expected):
        """The command itself, then its subcommand."""
        found = offered(world, bash(command), bash=ASKS)
        kept = [text.partition(": ")[2] for text in found if text.startswith("Always, everywhere")]
        assert kept == expected

    @pytest.mark.parametrize(
        ("call", "expected"),
        [
            (ToolCall("frob", {}, CWD), "use frob"),
            (ToolCall("mcp__github__delete", {}, CWD), "use github:delete (MCP)"),
            (ToolCall("skill", {"name": "pdf"}, CWD), "use the skill pdf"),
        ],
    )
    def test_tools(self, world, call, expected):
        """One tool of one server."""
        found = offered(world, call, mcp={"*": "ask"}, skills={"*": "ask"})
        assert found[1:] == [
            f"Always in this project: {expected}",
            f"Always, everywhere: {expected}",
        ]

    def test_sessions(self, world):
        """Where the host says which session it is, an answer may be for it alone."""
        found = offered(world, bash("cat /etc/hosts", session="s1"))
        assert found[1] == "For this session: read /etc/hosts"

    def test_what_cannot_be_kept(self, world):
        """What would change Ringfence itself is asked about each time."""
        assert offered(world, bash("ringfence trust")) == ["Once (nothing is kept)"]
        assert offered(world, bash("echo x > .ringfence/config.toml; cat /etc/hosts")) == [
            "Once (nothing is kept)"
        ]


CAUSES = [
    "cat /tmp/build/a.log",
    "cat /tmp/link",
    "ls /tmp",
    "ls ..",
    "cp /etc/hosts /tmp/build/x",
    "git push origin main",
    "rm -rf build; git push",
    'cat "$UNSET"',
    "rm $UNSET",
    "eval $X",
    "cat 'unclosed",
    "cat /etc/hosts && rm x",
    "cd /tmp && cat build/a.log",
]


@pytest.mark.parametrize("command", CAUSES)
def test_every_answer_allows_exactly_this_call(world, tmp_path, command):
    """The same call is not asked about again, and another one is."""
    store = GrantStore(tmp_path / "grants.json")
    engine = Engine(policy(bash=ASKS), world, grants=store)
    call = bash(command, session="s1")
    assert engine.decide(call).state is State.ASK
    offers = engine.offers(engine.decide(call))
    assert len(offers) > 1
    for offer in offers[1:]:
        kept = store.add(offer.grants)
        assert engine.decide(call).state is State.ALLOW, offer
        assert engine.decide(bash("cat /etc/passwd; rm y", session="s1")).state is State.ASK
        store.revoke(grant.id for grant in kept)
        assert engine.decide(call).state is State.ASK


PIECES = st.sampled_from(
    [
        *("cat /tmp/build/a.log", "ls /tmp", "rm -rf /tmp/build", "cp /etc/hosts /tmp/x", "ls .."),
        *("git push origin main", "git -C src push", "rm 'a b'", "cat < /tmp/link", "make -C /srv"),
        *('cat "$U"', "eval $U", "echo x > /tmp/y", "for f in a b; do rm $f; done", "ls *"),
        *("sudo rm /tmp/y", "(cd /tmp; cat build/*)", "cat ~/.ssh/id", "grep -r x ~/other", "ls /"),
    ]
)
LINES = st.lists(PIECES, min_size=1, max_size=4).map(" ; ".join)


class Kept:
    """A store in memory, for engines of one test."""

    path = "f"

    def __init__(self, *grants):
        self.grants = grants

    def read(self):
        return self.grants


@settings(max_examples=200, deadline=None, derandomize=True)
@given(line=LINES, other=LINES)
def test_every_offer_matches_the_call_and_no_stricter_one(world, line, other):
    """The answer allows the call it was given for; alone it allows no write that was not in it."""
    call = bash(line, session="s")
    asking = Engine(policy(bash=ASKS), world, grants=Kept())
    decision = asking.decide(call)
    writes = {
        (f.real, f.effect.operation) for f in decision.findings if f.effect.operation in CHANGES
    }
    for offer in asking.offers(decision) if decision.state is State.ASK else ():
        if not offer.grants:
            continue
        answering = evolve(
            asking, grants=Kept(*(evolve(g, id="x", created=time.time()) for g in offer.grants))
        )
        assert answering.decide(call).state is State.ALLOW
        wide = [g for g in offer.grants if g.wide and g.operation in CHANGES]
        after = answering.decide(bash(other, session="s"))
        if after.state is State.ALLOW:
            for finding in after.findings:
                change = (finding.real, finding.effect.operation)
                if change[1] in CHANGES:
                    covered = any(
                        g.operation is change[1] and is_inside(finding.real, g.real) for g in wide
                    )
                    assert covered or change in writes


CHANGES = (Operation.WRITE, Operation.DELETE, Operation.EXECUTE, Operation.UNKNOWN)


GRANTS = st.builds(
    Grant,
    st.sampled_from(Subject),
    st.sampled_from(
        [
            *("/tmp", "/tmp/build", "/tmp/build/a.log", "/etc/hosts", "/", "rm -rf build"),
            *("git push", "rm x", *CAUSES),
        ]
    ),
    wide=st.booleans(),
    operation=st.sampled_from(Operation),
    cwd=st.just(CWD),
    scope=st.just(Scope.ALWAYS),
).map(lambda grant: evolve(grant, real=grant.text, id="x"))
COMMANDS = st.sampled_from(CAUSES).map(bash)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(call=COMMANDS, grants=st.lists(GRANTS, max_size=4), data=st.data())
def test_no_grant_allows_what_a_rule_denies(world, call, grants, data):
    """It takes questions away, never refusals."""
    surface, pattern = data.draw(
        st.sampled_from([("bash", "*"), ("bash", "rm *"), (PATHS, "/**"), (NAMED, "/tmp/**")])
    )
    rules = policy(
        **{"bash": ASKS, surface: {**(ASKS if surface == "bash" else {}), pattern: "deny"}}
    )
    decision = Engine(rules, world).decide(call)
    if decision.state is State.DENY:
        states = [verdict.state for verdict in granted(decision, grants, "f")]
        assert State.DENY in states


@settings(max_examples=200, deadline=None, derandomize=True)
@given(grants=st.lists(GRANTS, max_size=4))
def test_reading_never_grants_writing(world, grants):
    """A grant is for one operation."""
    reading = [evolve(grant, operation=Operation.READ) for grant in grants]
    for command in ("cp a /tmp/build/a.log", "rm /tmp/build/a.log", "echo x > /tmp/build/a.log"):
        paths = [grant for grant in reading if grant.subject is Subject.PATH]
        decision = Engine(LayeredPolicy(), world).decide(bash(command))
        assert any(v.state is State.ASK for v in granted(decision, paths, "f"))


@pytest.mark.parametrize(
    ("grant", "command", "expected"),
    [
        (Grant(Subject.PATH, "/tmp/build", True, Operation.READ, "/tmp/build"), "cat /tmp/build/n/x", "allow"),
        (Grant(Subject.PATH, "/tmp/build", True, Operation.READ, "/tmp/build"), "ls /tmp/build", "allow"),
        (Grant(Subject.PATH, "/tmp/build", True, Operation.READ, "/tmp/build"), "cat /tmp/builds", "ask"),
        # A link inside that leads elsewhere is another matter.
        (Grant(Subject.PATH, "/tmp/build", True, Operation.READ, "/tmp/build"), "cat /tmp/build/out/hosts", "ask"),
        # So is one that leads somewhere else than when it was granted.
        (Grant(Subject.PATH, "/tmp/link", False, Operation.READ, "/etc/shadow"), "cat /tmp/link", "ask"),
        (Grant(Subject.PATH, "/tmp/link", False, Operation.READ, "/etc/hosts"), "cat /tmp/link", "allow"),
        (Grant(Subject.PATH, "/tmp/build", True, Operation.READ, "/tmp/build"), "cat /tmp/build/deep/*", "allow"),
        (Grant(Subject.PATH, "/tmp/build", True, Operation.READ, "/tmp/build"), "cat /tmp/build/../x", "ask"),
        (Grant(Subject.LINE, 'cat "$X"', cwd=CWD), 'cat "$X"', "allow"),
        (Grant(Subject.LINE, 'cat "$X"', cwd="/elsewhere"), 'cat "$X"', "ask"),
        (Grant(Subject.LINE, 'cat "$X"', cwd=CWD), 'cat "$X" ', "ask"),
        (Grant(Subject.LINE, "cat /etc/hosts", cwd=CWD), "cat /etc/hosts", "ask"),  # by its path
    ],
)  # fmt: skip
def test_what_a_grant_covers(world, grant, command, expected):
    """By the path as named and as it leads, or by the whole text."""
    decision = Engine(LayeredPolicy(), world).decide(bash(command))
    states = [v.state for v in granted(decision, [evolve(grant, scope=Scope.ALWAYS, id="x")], "f")]
    assert (State.ASK in states) is (expected == "ask")


@pytest.mark.parametrize(
    ("granted_for", "other"),
    [
        ("ls /tmp", "grep -r x /tmp"),  # a folder's names are not all that is in it
        ("ls /tmp", "cp -r /tmp here"),
        ("ls /tmp", "ls /tmp && ls -R /tmp"),
        ("rm src", 'for f in src other; do rm "$f"; done'),  # one text, several commands
        ("git push a", "git push a b"),
        ("git push a", "git push 'a '"),
        ("rm -rf /tmp/build/a.log", "rm -rf /tmp/build"),
    ],
)
def test_the_narrow_answer_is_narrow(world, tmp_path, granted_for, other):
    """It is about this path and this command alone."""
    engine = Engine(policy(bash=ASKS), world, grants=GrantStore(tmp_path / "g"))
    engine.grants.add(engine.offers(engine.decide(bash(granted_for)))[1].grants)
    assert engine.decide(bash(granted_for)).state is State.ALLOW
    assert engine.decide(bash(other)).state is State.ASK


def test_a_folder_does_not_answer_for_named_paths(world, tmp_path):
    """Whoever opened a folder has not answered what a rule says of a file in it."""
    rules = policy(**{NAMED: {"/tmp/**/*.log": "ask"}})
    engine = Engine(rules, world, grants=GrantStore(tmp_path / "g"))
    call = bash("cat /tmp/build/a.log")
    path = Grant(Subject.PATH, "/tmp/build", True, Operation.READ, "/tmp/build")
    engine.grants.add([evolve(path, scope=Scope.ALWAYS)])
    assert engine.decide(call).state is State.ASK
    [*_, offer] = engine.offers(engine.decide(call))
    assert str(offer) == "Always, everywhere: read /tmp/build/a.log"
    engine.grants.add(offer.grants)
    assert engine.decide(call).state is State.ALLOW


def test_agents(world, tmp_path):
    """An answer is for the agent that asked."""
    engine = Engine(LayeredPolicy(), world, grants=GrantStore(tmp_path / "g"))
    call = evolve(bash("cat /etc/hosts"), agent="reviewer")
    offer = engine.offers(engine.decide(call))[1]
    assert str(offer) == "Always in this project, for agent reviewer: read /etc/hosts"
    engine.grants.add(offer.grants)
    assert engine.decide(call).state is State.ALLOW
    for other in (None, "writer"):
        assert engine.decide(evolve(call, agent=other)).state is State.ASK


def test_the_project_is_the_hosts(world, tmp_path):
    """Wherever in it the call was made."""
    engine = Engine(LayeredPolicy(), world, grants=GrantStore(tmp_path / "g"), project=CWD)
    call = evolve(bash("cat /etc/hosts"), cwd=f"{CWD}/src")
    offer = engine.offers(engine.decide(call))[1]
    assert [grant.project for grant in offer.grants] == [os.path.realpath(CWD)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"server": "github", "tool": "delete"}, "use github:delete (MCP)"),
        ({"server": "github", "search": "x"}, "use github (mcp_search) (MCP)"),
        ({"connect": "github"}, "use github (mcp_connect) (MCP)"),
        ({}, "use mcp_status (MCP)"),
    ],
)
def test_discovery_is_no_call(world, data, expected):
    """A search on a server says nothing of connecting to it."""
    found = offered(world, ToolCall("mcp", data, CWD), mcp={"*": "ask"})
    assert found[-1] == f"Always, everywhere: {expected}"


def test_an_answer_that_was_not_offered(world, tmp_path):
    """It counts as a no: an approver chooses, it does not write grants."""
    engine = Engine(LayeredPolicy(), world, grants=GrantStore(tmp_path / "g"))

    class Forged:
        def approve(self, _decision, offers):
            wide = Grant(Subject.PATH, "/", True, Operation.READ, "/", scope=Scope.ALWAYS)
            return evolve(offers[1], grants=(wide,))

    decision = engine.approve(bash("cat /etc/hosts"), Forged())
    assert decision.state is State.DENY
    assert decision.resolution == "refused: the answer was not among the offers"
    assert "user declined" not in decision.message
    assert engine.grants.read() == ()


def test_what_changes_while_the_question_stands(tmp_path):
    """A yes is to what was shown: a link that leads elsewhere by then is another call."""
    (tmp_path / "home/me/app").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to("/a")
    store = GrantStore(tmp_path / "g")
    engine = Engine(LayeredPolicy(), RealFileSystem(str(tmp_path)), grants=store)

    class Slow:
        def approve(self, _decision, offers):
            link.unlink()
            link.symlink_to("/b")
            return offers[1]

    decision = engine.approve(bash("cat /link"), Slow())
    assert (decision.state, decision.findings[0].real) == (State.DENY, "/b")
    assert decision.resolution == "refused: changed while it was asked about"
    assert store.read() == ()


def test_too_much_for_one_answer(world):
    """Nobody reads twenty grants."""
    files = " ".join(f"/srv/d{n}/x" for n in range(9))
    assert offered(world, bash(f"cat {files}")) == ["Once (nothing is kept)"]


def test_scopes(world, tmp_path):
    """For a session, for a folder and what is in it, or everywhere."""
    store = GrantStore(tmp_path / "g")
    engine = Engine(LayeredPolicy(), world, grants=store)
    path = Grant(Subject.PATH, "/etc/hosts", False, Operation.READ, "/etc/hosts")

    def state(call=None):
        return str(engine.decide(call or bash("cat /etc/hosts", session="s1")).state)

    [kept] = store.add([evolve(path, scope=Scope.SESSION, session="s1")])
    assert state() == "allow"
    assert state(bash("cat /etc/hosts", session="s2")) == "ask"
    assert state(bash("cat /etc/hosts")) == "ask"
    asked = Engine(LayeredPolicy(), world).decide(bash("cat /etc/hosts", session="s1"))
    old = evolve(kept, created=time.time() - SESSION_LIMIT - 1)
    assert granted(asked, [old], "f") == asked.verdicts
    store.revoke([kept.id])
    store.add([evolve(path, scope=Scope.PROJECT, project=os.path.realpath(CWD))])
    assert state(ToolCall.bash("cat /etc/hosts", f"{CWD}/src", env=ENV)) == "allow"
    assert state(ToolCall.bash("cat /etc/hosts", "/home/me/apple", env=ENV)) == "ask"


class Answers:
    """An approver that gives the n-th offer, or declines, or is not there."""

    def __init__(self, answer):
        self.answer = answer
        self.seen = []

    def approve(self, decision, offers):
        self.seen.append((decision.message, [str(offer) for offer in offers]))
        if self.answer == "nobody":
            raise NobodyToAskError
        return None if self.answer is None else offers[self.answer]


class Later(Answers):
    """The same for an event loop."""

    async def approve(self, decision, offers):
        await asyncio.sleep(0)
        return super().approve(decision, offers)


class Handed(Answers):
    """One that is not async itself, but returns what must be awaited."""

    def approve(self, decision, offers):
        return Later(self.answer).approve(decision, offers)


class TestBothKinds:
    """An approver of the other kind works, or is an error before anybody takes it for a no."""

    @pytest.mark.parametrize("kind", [Answers, Later, Handed])
    @pytest.mark.parametrize(("answer", "state"), [(0, "allow"), (None, "deny")])
    def test_on_a_loop(self, world, kind, answer, state):
        """All kinds are asked; one that is not async in a thread, since it may wait."""
        engine = Engine(LayeredPolicy(), world)
        call = engine.approve_async(bash("cat /etc/hosts"), kind(answer))
        assert asyncio.run(call).state == state

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("kind", [Later, Handed])
    def test_without_a_loop(self, world, kind):
        """Nobody would await it: that is no answer, and no coroutine is left behind."""
        with pytest.raises(TypeError, match="approver is asynchronous: await"):
            Engine(LayeredPolicy(), world).approve(bash("cat /etc/hosts"), kind(0))

    def test_the_mistake_shows_at_the_first_call(self, world):
        """Before there is a question, which may come much later."""
        with pytest.raises(TypeError, match="approver is asynchronous: await"):
            Engine(LayeredPolicy(), world).approve(bash("ls"), Later(0))

    @pytest.mark.parametrize("approver", [None, lambda _: True, object()])
    def test_no_approver(self, world, approver):
        """What has no method for it is told so, on a loop too."""
        engine = Engine(LayeredPolicy(), world)
        with pytest.raises(TypeError, match="is no approver: it has no method approve"):
            engine.approve(bash("ls"), approver)
        with pytest.raises(TypeError, match="is no approver: it has no method approve"):
            asyncio.run(engine.approve_async(bash("ls"), approver))

    @pytest.mark.parametrize("answer", [True, False, "yes", 0])
    def test_what_is_no_answer(self, world, answer):
        """Only an offer or None is one: of anything else nobody knows what was meant."""

        class Wrong:
            def approve(self, _decision, _offers):
                return answer

        engine = Engine(LayeredPolicy(), world)
        with pytest.raises(TypeError, match="neither one of the offers nor None"):
            engine.approve(bash("cat /etc/hosts"), Wrong())
        with pytest.raises(TypeError, match="neither one of the offers nor None"):
            asyncio.run(engine.approve_async(bash("cat /etc/hosts"), Wrong()))


@pytest.mark.parametrize("asynchronous", [False, True])
class TestApprove:
    """Asking through an embedder's own dialogue."""

    def approve(self, engine, call, answer, asynchronous):
        approver = (Later if asynchronous else Answers)(answer)
        if asynchronous:
            return asyncio.run(engine.approve_async(call, approver)), approver
        return engine.approve(call, approver), approver

    def test_kept(self, world, tmp_path, asynchronous):
        """The chosen grants are stored, and the next call is not asked about."""
        engine = Engine(LayeredPolicy(), world, grants=GrantStore(tmp_path / "g"))
        call = bash("cat /etc/hosts")
        decision, approver = self.approve(engine, call, 2, asynchronous)
        assert decision.state is State.ALLOW
        assert decision.resolution.startswith("granted ")
        assert "read /etc/hosts" in approver.seen[0][0]
        again, silent = self.approve(engine, call, None, asynchronous)
        assert again.state is State.ALLOW
        assert not silent.seen

    def test_once(self, world, tmp_path, asynchronous):
        """Nothing is kept."""
        engine = Engine(LayeredPolicy(), world, grants=GrantStore(tmp_path / "g"))
        decision, _ = self.approve(engine, bash("cat /etc/hosts"), 0, asynchronous)
        assert (decision.state, decision.resolution) == (State.ALLOW, "allowed once")
        assert not (tmp_path / "g").exists()

    def test_declined(self, world, asynchronous):
        """The agent is told that the user declined this call."""
        decision, _ = self.approve(
            Engine(LayeredPolicy(), world), bash("cat /etc/hosts"), None, asynchronous
        )
        assert (decision.state, decision.resolution) == (State.DENY, "declined")
        assert "Only this call was declined." in decision.message

    def test_nobody(self, world, asynchronous):
        """Refused, unless the policy says otherwise."""
        engine = Engine(LayeredPolicy(), world)
        decision, _ = self.approve(engine, bash("cat /etc/hosts"), "nobody", asynchronous)
        assert decision.state is State.DENY
        milder = evolve(engine, policy=LayeredPolicy((Layer("u", "f", headless=State.ALLOW),)))
        decision, _ = self.approve(milder, bash("cat /etc/hosts"), "nobody", asynchronous)
        assert decision.state is State.ALLOW

    def test_deny_is_not_asked(self, world, asynchronous):
        """A refusal is none of the approver's business."""
        engine = Engine(policy(special={PATHS: "deny"}), world)
        decision, approver = self.approve(engine, bash("cat /etc/hosts"), 0, asynchronous)
        assert decision.state is State.DENY
        assert not approver.seen


def test_an_untrusted_project_cannot_answer():
    """`headless` in its files loosens nothing, but tightens."""
    allow, deny = Layer("u", "f", headless=State.ALLOW), Layer("p", "g", headless=State.DENY)
    assert LayeredPolicy((evolve(allow, held=True),)).headless is State.DENY
    assert LayeredPolicy((allow, evolve(deny, held=True))).headless is State.DENY
    assert LayeredPolicy((deny, allow)).headless is State.ALLOW
