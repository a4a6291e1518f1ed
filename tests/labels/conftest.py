"""A chat-completions server on this machine whose every reply is scripted, and which keeps what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

Reply = dict[str, Any]
"""Of a completion: content, finish, usage. Else status, body and headers; or hang_up, to close without a word.
drip: bytes that come one by one, without end of the headers ("reply") or behind them ("body")."""


@dataclass
class Seen:
    """The address of the server, and the requests in the order of their arrival."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    hung_up: int = 0
    """How many replies the client did not wait for."""


@pytest.fixture
def serve() -> Callable[[Callable[[dict[str, Any], int], Reply]], AbstractContextManager[Seen]]:
    """Runs a server; its function is given a request (body, headers, path) and how many came before it."""
    return _serve


@contextmanager
def _serve(reply: Callable[[dict[str, Any], int], Reply]) -> Iterator[Seen]:
    lock, ended = threading.Lock(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = {"path": self.path, "headers": dict(self.headers), "body": json.loads(body)}
            with lock:
                number = len(seen.requests)
                seen.requests.append(request)
            answer = reply(request, number)
            if answer.get("hang_up"):
                self.close_connection = True
                return
            if "drip" in answer:
                self._drip(answer)
                return
            data = _completion(**answer) if "content" in answer else answer.get("body", b"")
            self.send_response(answer.get("status", 200))
            for name, value in {"Content-Length": str(len(data)), **answer.get("headers", {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _drip(self, answer: Reply) -> None:
            self.close_connection = True
            head = b"HTTP/1.0 %d OK\r\n" % answer.get("status", 200)
            try:
                self.wfile.write(head + b"\r\n" if answer["drip"] == "body" else head + b"X-Slow: ")
                # As long as somebody listens, but not for ever where nobody hangs up.
                for _ in range(1000):
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    if ended.wait(0.02):
                        return
            except OSError:
                seen.hung_up += 1

        def log_message(self, *_: Any) -> None:
            """Silent."""

    class Server(ThreadingHTTPServer):
        # More than are ever put at a time: a connection that is refused is asked again, which some tests count.
        request_queue_size = 128

    server = Server(("127.0.0.1", 0), Handler)
    seen = Seen(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _completion(content: str | None, finish: str = "stop", usage: Any = None) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
    value: dict[str, Any] = {"object": "chat.completion", "choices": [choice]}
    return json.dumps(value if usage is None else {**value, "usage": usage}).encode()
