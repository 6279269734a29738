"""A model on loopback that asks for one shell command, in the four APIs that agents speak.

A request without a shell tool (a title, a summary) is answered by text, one that holds neither a
tool's result nor a second prompt by the call, and any other by text.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from helpers.clients import AGAIN

Json = dict[str, Any]
Event = tuple[str, Any]

SHELLS = {  # the tool's name, and the key of its command
    "exec_command": "cmd",
    "shell_command": "command",
    "Bash": "command",
    "bash": "command",
    "run_shell_command": "command",
}


def offered(body: Json) -> set[str]:
    """The names of a request's tools."""
    names = set()
    for tool in body.get("tools") or []:
        for one in tool.get("functionDeclarations") or [tool.get("function") or tool]:
            names.add(one.get("name"))
    return names


def responses(body: Json, call: tuple[str, Json] | None) -> Iterator[Event]:
    """OpenAI's Responses (codex)."""
    item: Json = {
        "type": "message", "id": "m1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "done", "annotations": []}],
    }  # fmt: skip
    if call:
        item = {
            "type": "function_call", "id": "f1", "call_id": "c1", "status": "completed",
            "name": call[0], "arguments": json.dumps(call[1]),
        }  # fmt: skip
    head = {
        "id": "r1", "object": "response", "created_at": 1, "model": body.get("model"),
        "status": "in_progress", "output": [],
    }  # fmt: skip
    usage = {
        "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
    }  # fmt: skip
    done = {**head, "status": "completed", "output": [item], "usage": usage}
    yield "response.created", {"type": "response.created", "response": head}
    yield (
        "response.output_item.done",
        {"type": "response.output_item.done", "output_index": 0, "item": item},
    )
    yield "response.completed", {"type": "response.completed", "response": done}


def chat(body: Json, call: tuple[str, Json] | None) -> Iterator[Event]:
    """OpenAI's chat completions (opencode, pi)."""
    delta: Json = {"role": "assistant", "content": "done"}
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        called = {"index": 0, "id": "c1", "type": "function", "function": function}
        delta = {"role": "assistant", "content": None, "tool_calls": [called]}
    head = {"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    why = "tool_calls" if call else "stop"
    yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    last = {"index": 0, "delta": {}, "finish_reason": why}
    yield "", {**head, "choices": [last], "usage": usage}
    yield "", "[DONE]"


def gemini(_: Json, call: tuple[str, Json] | None) -> Iterator[Event]:
    """Google's generateContent (gemini)."""
    part: Json = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": "{}"}
    content = {"role": "model", "parts": [part]}
    counts = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"index": 0, "finishReason": "STOP", "content": content}
    yield "", {"candidates": [candidate], "usageMetadata": counts}


def messages(body: Json, call: tuple[str, Json] | None) -> Iterator[Event]:
    """Anthropic's messages (claude)."""
    block: Json = {"type": "text", "text": ""}
    delta: Json = {"type": "text_delta", "text": "done"}
    if call:
        block = {"type": "tool_use", "id": "toolu_1", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    why = "tool_use" if call else "end_turn"
    message = {
        "id": "m1", "type": "message", "role": "assistant", "model": body.get("model"),
        "content": [], "stop_reason": None, "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    for event in (
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": why, "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ):
        yield str(event["type"]), event


APIS: dict[str, tuple[str, Callable[[Json, tuple[str, Json] | None], Iterator[Event]]]] = {
    "/responses": ('_output"', responses),
    "/chat/completions": ('"role": "tool"', chat),
    ":streamGenerateContent": ('"functionResponse"', gemini),
    "/messages": ('"tool_result"', messages),
}
"""By the end of an address: what a tool's result holds in a request's JSON, and the answer."""


class Model:
    """A server that asks for ``command``; ``requests`` are the bodies it got, as JSON.

    ``others`` are the call's other arguments.
    """

    def __init__(self, command: str, others: Json | None = None) -> None:
        self.requests: list[str] = []
        self.told = False  # whether a request held the result of the call
        arguments = {"description": "a command", **(others or {})}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - its name there
                pass

            def do_GET(self) -> None:
                self._json({"object": "list", "data": []})

            def do_CONNECT(self) -> None:
                """As a proxy: nothing leaves the machine."""
                self.send_error(403)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "{}")
                text = json.dumps(body, ensure_ascii=False)
                path = self.path.split("?")[0]
                for end, (result, events) in APIS.items():
                    if path.endswith(end):
                        outer.requests.append(text)
                        tool = next((name for name in SHELLS if name in offered(body)), None)
                        call = None
                        outer.told = outer.told or result in text
                        if tool and result not in text and AGAIN not in text:
                            call = (tool, {SHELLS[tool]: command, **arguments})
                        self._stream(events(body, call))
                        return
                self._json({"input_tokens": 1, "totalTokens": 1})

            def _json(self, value: Json) -> None:
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _stream(self, events: Iterator[Event]) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for name, value in events:
                    text = value if isinstance(value, str) else json.dumps(value)
                    head = f"event: {name}\n" if name else ""
                    self.wfile.write(f"{head}data: {text}\n\n".encode())
                self.close_connection = True

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
