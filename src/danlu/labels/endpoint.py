"""One question to an OpenAI-compatible server: POST /chat/completions, with patience and without leaking the key.

Decides: a server that is busy (429), failing (5xx) or silent is asked again, after the seconds that it names or twice
as many each time; any other refusal ends the work at once, since all questions would meet it. Only a refusal (429 and
other 4xx) and a server that is not there are taken to cost nothing. Guarantees: the key goes to the address of the
settings alone: a redirect is refused; it stands in no message and no file; this machine is asked without a proxy.
Costs: one request, of the standard library.
"""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from typing import IO, Any
from urllib.parse import urlsplit

from danlu.errors import DanluError, InputError, UsageError
from danlu.labels.answers import Answer, Usage, dearest
from danlu.labels.settings import Endpoint, is_local
from danlu.log import visible

_MOST_SECONDS = 60.0
"""The longest pause between two tries."""
_MOST_BYTES = 4_000_000
"""An answer is short; a server that sends more is not believed."""

Sleep = Callable[[float], None]


class NoAnswerError(DanluError):
    """The server gave no answer in all tries; what was asked before is stored."""


def read_key(settings: Endpoint) -> str:
    """The key in the environment variable that the settings name; "" where they name none."""
    if not settings.key_variable:
        return ""
    key = os.environ.get(settings.key_variable, "").strip()
    if not key:
        raise UsageError(
            f"the environment variable {settings.key_variable} is empty; put the endpoint's key into it"
        )
    if not key.isascii() or not key.isprintable():
        raise UsageError(
            f"the environment variable {settings.key_variable} holds what no key can: check what is in it"
        )
    return key


def ask(settings: Endpoint, words: str, key: str, sleep: Sleep, lost: Callable[[], bool]) -> Answer:
    """The answer to one question.

    `lost` is called where a question was put and no answer came that can be used, which may have cost all the same;
    False, said where a cap was reached, ends the tries. Raises NoAnswerError after all tries, InputError where the
    server refuses or speaks otherwise.
    """
    body = json.dumps(
        {
            "model": settings.model,
            "messages": [{"role": "user", "content": words}],
            "temperature": 0,
            "max_tokens": settings.max_answer_tokens,
        }
    ).encode()
    said = ""
    for number in range(settings.tries):
        wait = 2.0**number
        may_go_on = True
        try:
            return _understand(_post(settings, body, key), settings, words)
        except InputError:
            # What came is of no use, but was made, and may be charged.
            lost()
            raise
        except urllib.error.HTTPError as error:
            with error:
                said = _scrub(f"{error.code} {error.reason}: {_body(error)}", key)
            if error.code != 429 and error.code < 500:
                raise InputError(f"{settings.url} refuses the question: {said}") from None
            wait = _named_wait(error.headers) or wait
            # A gateway may fail after the model behind it has answered.
            may_go_on = error.code == 429 or lost()
        except urllib.error.URLError as error:
            # The question did not even get there.
            said = _scrub(str(error.reason), key)
        except (OSError, http.client.HTTPException) as error:
            said = _scrub(str(error) or type(error).__name__, key)
            may_go_on = lost()
        if not may_go_on:
            raise NoAnswerError(
                f"{settings.url} gave no answer ({said}), and what its tries may have cost reaches a cap. What was "
                f"labelled is stored; raise max_tokens or max_cost to go on"
            )
        if number + 1 < settings.tries:
            sleep(min(wait, _MOST_SECONDS))
    raise NoAnswerError(
        f"{settings.url} gave no answer in {settings.tries} tries ({said}). What was labelled is stored; "
        f"type the same command again to go on"
    )


def _post(settings: Endpoint, body: bytes, key: str) -> bytes:
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    request = urllib.request.Request(f"{settings.url}/chat/completions", body, headers, method="POST")
    # The environment's proxy is for other machines.
    proxies: dict[str, str] | None = {} if is_local(urlsplit(settings.url).hostname or "") else None
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _NoRedirect())
    with opener.open(request, timeout=settings.timeout_seconds) as reply:
        data: bytes = reply.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise InputError(f"{settings.url} sends more than {_MOST_BYTES:,} bytes in answer to one question")
    return data


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key would go along to wherever a redirect points."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        """None makes it an error."""


def _understand(data: bytes, settings: Endpoint, words: str) -> Answer:
    """The first choice of a completion; what the server does not count counts as the dearest."""
    try:
        value: Any = json.loads(data)
        choice = value["choices"][0]
        content, reason = choice["message"].get("content"), choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError):
        raise InputError(
            f"{settings.url} does not answer as an OpenAI-compatible server does; check the address"
        ) from None
    most, usage = dearest(settings, words), value.get("usage")
    counted = usage if isinstance(usage, dict) else {}
    sent, received = (counted.get(name) for name in ("prompt_tokens", "completion_tokens"))
    return Answer(
        content if isinstance(content, str) else "",
        reason not in (None, "stop"),
        Usage(
            sent if isinstance(sent, int) and sent >= 0 else most.sent,
            received if isinstance(received, int) and received >= 0 else most.received,
        ),
    )


def _named_wait(headers: Message) -> float:
    """The seconds that a server asks to wait; 0 where it names none, or a date."""
    try:
        return max(0.0, float(headers.get("Retry-After") or 0))
    except ValueError:
        return 0.0


def _body(error: urllib.error.HTTPError) -> str:
    try:
        return error.read(600).decode("utf-8", "replace").strip()
    except (OSError, http.client.HTTPException):
        return ""


def _scrub(message: str, key: str) -> str:
    """A server's own words, short, harmless and without the key."""
    return visible((message.replace(key, "[key]") if key else message)[:300])
