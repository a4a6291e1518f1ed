"""One question to an OpenAI-compatible server: POST /chat/completions, with patience and without leaking the key.

Decides: a server that is busy (429), failing (5xx) or silent is asked again, after the seconds that it names or twice
as many each time; a refusal that may be of this one question (400, 413, 422) is told apart from one that all questions
would meet. Only a refusal (429 and other 4xx) and a server that is not there are taken to cost nothing. Guarantees: the
key goes to the address of the settings alone: a redirect is refused; it stands in no message and no file. Costs: one
request a try.
"""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
from collections.abc import Callable
from email.message import Message
from typing import Any

from danlu.errors import DanluError, InputError, UsageError
from danlu.labels.answers import Answer, Usage, dearest
from danlu.labels.post import Reply, post
from danlu.labels.settings import Endpoint
from danlu.log import visible

_MOST_SECONDS = 60.0
"""The longest pause between two tries."""
_OF_ONE_QUESTION = (400, 413, 422)
"""Refusals that may be of what is asked: too long, or against a filter of contents."""
_MOST_BYTES = 4_000_000
"""An answer is short; a server that sends more is not believed."""

Sleep = Callable[[float], None]


class NoAnswerError(DanluError):
    """The server gave no answer in all tries; what was asked before is stored."""


class RefusedError(InputError):
    """The server does not take this one question, for its length or what it says; it may well take others."""


class UselessAnswerError(InputError):
    """The server speaks otherwise than an OpenAI-compatible one."""


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
    False, said where a cap was reached, ends the tries. Raises NoAnswerError after all tries, RefusedError where the
    server does not take this question, InputError where it takes none or speaks otherwise.
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
            reply = _post(settings, body, key)
            if 200 <= reply.status < 300:
                return _understand(reply.body, settings, words)
            said = _scrub(f"{reply.status} {reply.reason}: {_words_of(reply.body)}", key)
            _check_refusal(reply.status, f"{settings.url} refuses the question: {said}")
            wait = _named_wait(reply.headers) or wait
            # A gateway may fail after the model behind it has answered.
            may_go_on = reply.status == 429 or lost()
        except UselessAnswerError:
            # What came is of no use, but was made, and may be charged.
            lost()
            raise
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


def _post(settings: Endpoint, body: bytes, key: str) -> Reply:
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    url = f"{settings.url}/chat/completions"
    reply = post(url, body, headers, settings.timeout_seconds, _MOST_BYTES)
    if len(reply.body) > _MOST_BYTES:
        raise UselessAnswerError(
            f"{settings.url} sends more than {_MOST_BYTES:,} bytes in answer to one question"
        )
    return reply


def _check_refusal(status: int, message: str) -> None:
    if status in _OF_ONE_QUESTION:
        raise RefusedError(message)
    if status != 429 and status < 500:
        raise InputError(message)


def _understand(data: bytes, settings: Endpoint, words: str) -> Answer:
    """The first choice of a completion; what the server does not count counts as the dearest."""
    try:
        value: Any = json.loads(data)
        choice = value["choices"][0]
        content, reason = choice["message"].get("content"), choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise UselessAnswerError(
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


def _words_of(body: bytes) -> str:
    return body.decode("utf-8", "replace").strip()


def _scrub(message: str, key: str) -> str:
    """A server's own words, short, harmless and without the key."""
    return visible((message.replace(key, "[key]") if key else message)[:300])
