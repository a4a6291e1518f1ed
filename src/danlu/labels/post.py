"""One POST to a server, all of it within a time: connection, headers and body, however slowly they come.

Decides: urllib's own timeout is that of a single read, which a server that sends a byte now and then never meets; so a
timer cuts the connection. A redirect is not followed, since what is sent would go along to wherever it points; this
machine is asked without a proxy. Costs: one request of the standard library and a timer's thread while it lasts.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.message import Message
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit

from danlu.labels.settings import is_local

_MOST_REASON_BYTES = 600


class Reply(NamedTuple):
    """What came back; of a status other than 2xx no more of the body than says why."""

    status: int
    reason: str
    headers: Message
    body: bytes


def post(url: str, body: bytes, headers: dict[str, str], seconds: float, most_bytes: int) -> Reply:
    """Sends a body and returns the reply, of which `most_bytes` + 1 are read.

    Raises TimeoutError where the whole takes longer than `seconds`, URLError where the server is not reached, and
    OSError or HTTPException where it hangs up.
    """
    request = urllib.request.Request(url, body, headers, method="POST")
    # The environment's proxy is for other machines.
    proxies: dict[str, str] | None = {} if is_local(urlsplit(url).hostname or "") else None
    with _limit(seconds) as deadline:
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler(proxies), _NoRedirect(), _Http(deadline), _Https(deadline)
        )
        try:
            with opener.open(request, timeout=seconds) as found:
                reply = Reply(found.status, found.reason, found.headers, found.read(most_bytes + 1))
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, str(error.reason), error.headers, _reason(error))
    return reply


def _reason(error: urllib.error.HTTPError) -> bytes:
    try:
        return error.read(_MOST_REASON_BYTES)
    except (OSError, http.client.HTTPException):
        return b""


class _Deadline:
    """Cuts a connection that is still used when its time is over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._twin: socket.socket | None = None
        self.is_over = False

    def watch(self, connection: socket.socket) -> None:
        """Takes note of the connection, before TLS takes its descriptor over."""
        with self._lock:
            if self.is_over:
                raise TimeoutError("timed out")
            self._twin = connection.dup()

    def end(self) -> None:
        """The time is over: whoever reads from the connection finds its end."""
        with self._lock, suppress(OSError):
            self.is_over = True
            if self._twin:
                self._twin.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Nothing is to be cut any more."""
        with self._lock:
            if self._twin:
                self._twin.close()
            self._twin = None


@contextmanager
def _limit(seconds: float) -> Iterator[_Deadline]:
    deadline = _Deadline()
    timer = threading.Timer(seconds, deadline.end)
    timer.daemon = True
    timer.start()
    try:
        yield deadline
        # What was cut may look like a whole body where no length was said.
        if deadline.is_over:
            raise TimeoutError("timed out")
    except urllib.error.URLError:
        # It did not get there, which is another thing than no answer.
        raise
    except (OSError, http.client.HTTPException):
        if deadline.is_over:
            raise TimeoutError("timed out") from None
        raise
    finally:
        timer.cancel()
        deadline.close()


class _Connection(http.client.HTTPConnection):
    watch: Callable[[socket.socket], None]

    def connect(self) -> None:
        super().connect()
        self.watch(self.sock)


class _SecureConnection(http.client.HTTPSConnection, _Connection):
    """HTTPSConnection wraps what the connect of the next class, the one above, has opened and watches."""


class _Http(urllib.request.HTTPHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        def connect(host: str, **keys: Any) -> _Connection:
            connection = _Connection(host, **keys)
            connection.watch = self._deadline.watch
            return connection

        return self.do_open(connect, req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        def connect(host: str, **keys: Any) -> _SecureConnection:
            connection = _SecureConnection(host, context=ssl.create_default_context(), **keys)
            connection.watch = self._deadline.watch
            return connection

        return self.do_open(connect, req)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        """None makes it an error."""
