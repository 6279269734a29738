"""What becomes of each message, without processes."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence import Engine
from ringfence.engine.mcp.judge import Judge
from ringfence.engine.mcp.proxy import MAX_QUESTIONS, Proxy, Sent

OUTSIDE = {"path": "/etc/hosts"}
FORM = {"elicitation": {"form": {}}}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": FORM,
}


def proxy(capabilities=None, load=Engine):
    made = Proxy(Judge(load), "notes", "/home/dev/project")
    if capabilities is not None:
        start = {"id": 0, "method": "initialize", "params": {"capabilities": capabilities}}
        assert sent(made, start) == (start, None)
    return made


def text(message):
    return json.dumps(message).encode() + b"\n"


def sent(made, message):
    """What goes to the server and to the client: each a message or None."""
    answer = made.from_client(message if isinstance(message, bytes) else text(message))
    return tuple(json.loads(b) if b else None for b in (answer.to_server, answer.to_client))


def call(arguments, key=1, **params):
    params = {"name": "read", "arguments": arguments, **params}
    return {"jsonrpc": "2.0", "id": key, "method": "tools/call", "params": params}


def modern(arguments, key=1, **params):
    return call(arguments, key, _meta=MODERN, **params)


def answer(question, content, action="accept"):
    return {
        "jsonrpc": "2.0",
        "id": question["id"],
        "result": {"action": action, "content": content},
    }


def repeated(first, asked, response, key=2):
    """The call again, as a client brings the answer of its user."""
    result = asked["result"]
    message = copy.deepcopy(first)
    message["id"] = key
    message["params"]["requestState"] = result["requestState"]
    message["params"]["inputResponses"] = {"ringfence": response}
    return message


YES = {"action": "accept", "content": {"answer": "Once (nothing is kept)"}}


# --- ids and forms ------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [1, 0, -1, 10**30, "a", "", "ü\n", None, 1.5, True, [1], {"a": 1}])
def test_ids_of_any_type(key):
    """The answer has the id as it came."""
    to_server, to_client = sent(proxy(), call(OUTSIDE, key))
    assert to_server is None
    assert to_client["id"] == key
    assert type(to_client["id"]) is type(key)


def test_refusal(snapshot):
    """The whole message, as the model gets it."""
    assert sent(proxy(), call(OUTSIDE))[1] == snapshot


def test_question(snapshot):
    """The whole message, as the client gets it."""
    made = proxy(FORM)
    question = sent(made, call(OUTSIDE))[1]
    assert question.pop("id").startswith("ringfence-")
    assert question == snapshot


def test_modern_results_say_that_they_are_complete():
    message = modern(OUTSIDE)
    message["params"]["_meta"] = {**MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    assert sent(proxy(), message)[1]["result"]["resultType"] == "complete"


def test_a_call_as_a_task():
    """Its result would have to be a task, so that the refusal is an error."""
    assert "Nobody can be asked" in sent(proxy(), call(OUTSIDE, task={}))[1]["error"]["message"]


def test_a_notification_is_not_answered():
    """Nobody waits for an answer, and the call does not run either."""
    for capabilities in (None, FORM):
        message = call(OUTSIDE)
        del message["id"]
        assert sent(proxy(capabilities), message) == (None, None)


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b'{"method":"tools/call"',
        b"nothing\n",
        b'{"a":1,"a":2}\n',
        b'{"method":"ping","method":"tools/call","params":{"name":"x"}}\n',
        b"\xff\xfe{}\n",
        b"[" * 100_000,
        b"1" * 10_000,
        b'{"method":"ping","params":\r{"method":"tools/call","params":{"name":"x"}}\r}\n',
        b'{"method":"tools/call"}{"method":"ping"}\n',
    ],
)
def test_what_is_no_json(line):
    """It does not pass: a server that reads more loosely might find a call in it."""
    to_server, to_client = sent(proxy(), line)
    assert to_server is None
    assert to_client["id"] is None
    assert to_client["error"]["code"] == -32700


@pytest.mark.parametrize(
    "params",
    [None, [], "x", {}, {"name": 1}, {"name": ""}, {"name": "a", "arguments": "b"}],
)
def test_a_call_that_is_none(params):
    message = {**call({}), "params": params}
    to_server, to_client = sent(proxy(), message)
    assert to_server is None
    assert (to_client["id"], to_client["error"]["code"]) == (1, -32602)


def test_keys_in_another_case():
    """Some servers, those in Go for one, take them for the right ones."""
    upper = {"jsonrpc": "2.0", "id": 1, "Method": "tools/call", "params": {"name": "x"}}
    inner = {**call({"path": "a"}), "params": {"name": "a", "Arguments": OUTSIDE}}
    for message in (upper, inner):
        to_server, to_client = sent(proxy(), message)
        assert to_server is None
        assert to_client["error"]["code"] == -32600


# --- batches ------------------------------------------------------------------------------------


def test_a_batch_that_passes():
    line = b'[ {"method": "ping", "id": 1}, 5 ]\n'
    assert proxy().from_client(line) == Sent(line)
    assert proxy().from_client(b"[]\n") == Sent(b"[]\n")


def test_a_batch_with_a_call_outside():
    ping = {"method": "ping", "id": 2}
    to_server, to_client = sent(proxy(), [ping, call(OUTSIDE), call({"path": "a"}, 3)])
    assert to_server == [ping, call({"path": "a"}, 3)]
    assert to_client["id"] == 1


def test_a_batch_in_a_batch():
    """None of the protocol's; a server that reads loosely might run the call."""
    to_server, to_client = sent(proxy(), [[call(OUTSIDE)], {"method": "ping", "id": 2}])
    assert to_server == [{"method": "ping", "id": 2}]
    assert "a batch stands inside a batch" in to_client["error"]["message"]


@pytest.mark.parametrize("method", ["Tools/Call", "tools/call "])
def test_a_method_that_is_misspelled(method):
    """Some servers take it for the right one."""
    to_server, to_client = sent(proxy(), {**call(OUTSIDE), "method": method})
    assert to_server is None
    assert "is misspelled" in to_client["error"]["message"]


def test_a_batch_with_a_question():
    made = proxy(FORM)
    _, question = sent(made, [call(OUTSIDE), {"method": "ping", "id": 2}])
    assert sent(made, answer(question, YES["content"])) == (call(OUTSIDE), None)


# --- questions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"elicitation": True}])
def test_a_client_that_cannot_ask(capabilities):
    for made, message in ((proxy(capabilities), call(OUTSIDE)), (proxy(), modern(OUTSIDE))):
        if "_meta" in message["params"]:
            key = "io.modelcontextprotocol/clientCapabilities"
            message["params"]["_meta"] = {**MODERN, key: capabilities}
        assert "Nobody can be asked" in sent(made, message)[1]["result"]["content"][0]["text"]


@pytest.mark.parametrize("capabilities", [{"elicitation": {}}, FORM])
def test_yes(capabilities):
    """The call goes on as it came, byte for byte."""
    made = proxy(capabilities)
    line = b'{"method":"tools/call", "id": 1,"params":{"name":"r","arguments":{"path":"/etc/h"}}}\n'
    question = json.loads(made.from_client(line).to_client)
    assert made.from_client(text(answer(question, YES["content"]))) == Sent(line)
    # The same answer a second time is for nobody.
    assert made.from_client(text(answer(question, YES["content"]))) == Sent()


NO = [
    {"action": "decline"},
    {"action": "cancel"},
    {"action": "accept"},
    {"action": "accept", "content": {}},
    {"action": "accept", "content": {"answer": True}},
    {"action": "accept", "content": {"answer": "once"}},
    {"action": "accept", "content": {"answer": "Do not run it"}},
    {"action": "accept", "content": ["Once (nothing is kept)"]},
    {"content": {"answer": "Once (nothing is kept)"}},
    {},
]


@pytest.mark.parametrize("response", NO)
def test_no(response):
    made = proxy(FORM)
    question = sent(made, call(OUTSIDE))[1]
    to_server, to_client = sent(made, {"id": question["id"], "result": response})
    assert to_server is None
    assert "the user declined" in to_client["result"]["content"][0]["text"]

    first = modern(OUTSIDE)
    asked = sent(made, first)[1]
    to_server, to_client = sent(made, repeated(first, asked, response))
    assert to_server is None
    assert to_client["id"] == 2
    assert "the user declined" in to_client["result"]["content"][0]["text"]


def test_a_client_that_answers_with_an_error():
    made = proxy(FORM)
    question = sent(made, call(OUTSIDE))[1]
    to_server, to_client = sent(made, {"id": question["id"], "error": {"code": -1}})
    assert to_server is None
    assert "Nobody can be asked" in to_client["result"]["content"][0]["text"]


def test_cancelled():
    """A call whose question is open never reaches the server, whatever is answered later."""
    made = proxy(FORM)
    question = sent(made, call(OUTSIDE, 1))[1]
    cancel = {"method": "notifications/cancelled", "params": {"requestId": True}}
    assert sent(made, cancel) == (cancel, None)  # another request, though True == 1 in Python
    cancel["params"]["requestId"] = 1
    to_server, to_client = sent(made, cancel)
    assert to_server is None
    assert to_client["method"] == "notifications/cancelled"
    assert to_client["params"] == {"requestId": question["id"]}
    assert sent(made, answer(question, YES["content"])) == (None, None)


def test_answers_of_others_pass():
    """The server has asked something itself."""
    message = {"jsonrpc": "2.0", "id": "ringfence-of-another", "result": {}}
    assert sent(proxy(FORM), message) == (message, None)


def test_yes_by_a_repeated_call():
    """The server gets the call without our question."""
    made = proxy()
    first = modern(OUTSIDE)
    asked = sent(made, first)[1]
    assert asked["id"] == 1
    assert asked["result"]["resultType"] == "input_required"
    again = repeated(first, asked, YES)
    assert sent(made, again) == (modern(OUTSIDE, 2), None)
    # The same answer a second time is no answer: it is asked anew.
    assert sent(made, again)[1]["result"]["resultType"] == "input_required"


def test_what_was_said_to_the_server_is_kept():
    """The call was in a round of the server's own: that goes on after ours."""
    made = proxy()
    own = {"requestState": "the server's", "inputResponses": {"colour": {"action": "accept"}}}
    first = modern(OUTSIDE, **own)
    asked = sent(made, first)[1]
    assert sent(made, repeated(first, asked, YES)) == (modern(OUTSIDE, 2, **own), None)


@pytest.mark.parametrize("change", [{"name": "write"}, {"arguments": {"path": "/etc/passwd"}}])
def test_a_yes_is_for_the_call_that_was_shown(change):
    made = proxy()
    first = modern(OUTSIDE)
    again = repeated(first, sent(made, first)[1], YES)
    again["params"] |= change
    to_server, to_client = sent(made, again)
    assert to_server is None
    assert to_client["result"]["resultType"] == "input_required"


def test_a_yes_to_nothing():
    """Nobody was asked: an answer that comes along is none."""
    message = modern(OUTSIDE, inputResponses={"ringfence": YES})
    assert sent(proxy(), message)[1]["result"]["resultType"] == "input_required"


def test_our_state_of_another_time_stays_here():
    """A call inside with it passes without it."""
    made = proxy()
    first = modern(OUTSIDE)
    again = repeated(first, sent(made, first)[1], YES)
    again["params"]["arguments"] = {"path": "a"}
    assert sent(made, again) == (modern({"path": "a"}, 2), None)


def test_questions_that_nobody_answers():
    """They are forgotten at last, and an answer comes too late."""
    made = proxy()
    first = modern(OUTSIDE)
    asked = sent(made, first)[1]
    for _ in range(MAX_QUESTIONS):
        sent(made, first)
    assert sent(made, repeated(first, asked, YES))[1]["result"]["resultType"] == "input_required"


# --- failing closed -----------------------------------------------------------------------------


class Broken(Engine):
    def decide(self, *_):
        raise RuntimeError("boom")

    def approve(self, *_):
        raise RuntimeError("boom")


@pytest.mark.parametrize("capabilities", [None, FORM])
def test_an_engine_that_fails(capabilities):
    to_server, to_client = sent(proxy(capabilities, Broken), call({"path": "a"}))
    assert to_server is None
    assert to_client["result"]["isError"]
    assert "internal error RuntimeError" in to_client["result"]["content"][0]["text"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
METHOD = st.sampled_from(["tools/call", "notifications/cancelled", "initialize", "ping", None])
MESSAGE = JSON | st.fixed_dictionaries(
    {}, optional={"id": JSON, "method": METHOD | JSON, "params": JSON, "result": JSON}
)


@given(MESSAGE | st.lists(MESSAGE, max_size=3))
def test_any_message(message):
    """No crash; and a message passes as it came, or nothing of it does."""
    line = text(message)
    answer = proxy(FORM).from_client(line)
    if not isinstance(message, list):
        assert answer.to_server in (b"", line)
    for out in answer.to_client.splitlines():
        json.loads(out)


@given(st.binary())
def test_any_bytes(line):
    answer = proxy().from_client(line)
    assert answer.to_server in (b"", line)
