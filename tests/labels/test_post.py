"""One POST: what comes back, and that a server which drips is not waited for longer than was said."""

import socket
import urllib.error

import pytest

from danlu.labels.endpoint import NoAnswerError, ask
from danlu.labels.post import _Deadline, _SecureConnection, post
from danlu.labels.settings import Endpoint


def send(server, seconds=30.0, most_bytes=100):
    return post(f"{server.url}/x", b"{}", {"X-One": "1"}, seconds, most_bytes)


def test_what_comes_back(serve):
    with serve(lambda *_: {"status": 201, "body": b"a" * 300, "headers": {"X-Two": "2"}}) as server:
        reply = send(server)
    assert (reply.status, reply.body, reply.headers["X-Two"]) == (201, b"a" * 101, "2")
    assert server.requests[0]["headers"]["X-One"] == "1"


@pytest.mark.parametrize("status", [302, 400, 503])
def test_another_status_comes_back_too(status, serve):
    with serve(lambda *_: {"status": status, "body": b"why " * 1000}) as server:
        reply = send(server)
    assert (reply.status, len(reply.body)) == (status, 600)


@pytest.mark.parametrize("drip", ["reply", "body"])
@pytest.mark.parametrize("status", [200, 400])
def test_a_server_that_drips_is_cut(drip, status, serve):
    with serve(lambda *_: {"drip": drip, "status": status}) as server, pytest.raises(TimeoutError):
        send(server, seconds=0.2, most_bytes=10**6)


def test_a_question_that_drips_is_lost(serve):
    lost = []
    with serve(lambda *_: {"drip": "body"}) as server:
        settings = Endpoint(url=server.url, model="m", timeout_seconds=0.2, tries=2)
        with pytest.raises(NoAnswerError, match="timed out"):
            ask(settings, "a", "", lambda _: None, lambda: lost.append(1) is None)
    assert len(lost) == 2


def test_a_server_that_is_not_there():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(urllib.error.URLError):
            post(f"http://127.0.0.1:{taken.getsockname()[1]}/", b"", {}, 5.0, 10)


def test_tls_is_watched_from_its_first_byte(serve):
    """A server without TLS that only listens: the handshake is cut."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        connection, deadline = _SecureConnection("127.0.0.1", port, timeout=30), _Deadline()

        def watch(opened):
            deadline.watch(opened)
            deadline.end()

        connection.watch = watch
        with pytest.raises(OSError, match=r"EOF|reset|closed|pipe"):
            connection.connect()
        connection.close()
        deadline.close()
        with pytest.raises(urllib.error.URLError):
            post(f"https://127.0.0.1:{port}/", b"", {}, 0.2, 10)


def test_a_connection_that_is_opened_too_late_is_not_used():
    deadline = _Deadline()
    deadline.end()
    with socket.socket() as one, pytest.raises(TimeoutError):
        deadline.watch(one)
