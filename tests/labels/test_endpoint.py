"""One question to a server: what is sent, how often, what is believed of the answer, and that the key stays secret."""

import socket

import pytest

from danlu.errors import InputError, UsageError
from danlu.labels.answers import Answer, Usage, dearest
from danlu.labels.endpoint import NoAnswerError, RefusedError, ask, read_key
from danlu.labels.settings import Endpoint

KEY = "sk-very-secret"


def put(url, key=KEY, budget=99, **settings):
    """Asks; returns the answer, the pauses and how often a question was lost."""
    pauses, lost = [], []

    def lose():
        lost.append(1)
        return len(lost) < budget

    found = Endpoint(url=url, model="m", **settings)
    return ask(found, "words 河", key, pauses.append, lose), pauses, len(lost)


def lost_by(url, message):
    """How often a question is lost that ends in an error."""
    lost = []
    with pytest.raises(InputError, match=message):
        ask(Endpoint(url=url, model="m"), "a", KEY, lambda _: None, lambda: lost.append(1) is None)
    return len(lost)


def test_what_is_sent_and_understood(serve):
    with serve(
        lambda *_: {"content": "keep", "usage": {"prompt_tokens": 7, "completion_tokens": 1, "more": {}}}
    ) as server:
        answer, pauses, _ = put(server.url, max_answer_tokens=9)
    assert answer == Answer("keep", False, Usage(7, 1))
    assert pauses == []
    (request,) = server.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["headers"]["Authorization"] == f"Bearer {KEY}"
    assert request["body"] == {
        "model": "m",
        "messages": [{"role": "user", "content": "words 河"}],
        "temperature": 0,
        "max_tokens": 9,
    }


def test_no_key_no_header(serve):
    with serve(lambda *_: {"content": "keep"}) as server:
        put(server.url, key="")
    assert "Authorization" not in server.requests[0]["headers"]


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "many"}, [1], {"prompt_tokens": -5}])
def test_what_is_not_counted_counts_as_the_dearest(usage, serve):
    with serve(lambda *_: {"content": "keep", "usage": usage}) as server:
        answer, _, _ = put(server.url)
    assert answer.usage == dearest(Endpoint(url=server.url, model="m"), "words 河")


@pytest.mark.parametrize(("finish", "cut"), [("stop", False), ("length", True), ("content_filter", True)])
def test_answers_that_were_cut_off(finish, cut, serve):
    with serve(lambda *_: {"content": None, "finish": finish}) as server:
        answer, _, _ = put(server.url)
    assert (answer.text, answer.cut_off) == ("", cut)


@pytest.mark.parametrize(("status", "costly"), [(429, 0), (500, 3), (502, 3), (503, 3), (504, 3)])
def test_a_busy_server_is_asked_again_and_a_failing_one_may_charge(status, costly, serve):
    with serve(lambda _, number: {"content": "drop"} if number == 3 else {"status": status}) as server:
        answer, pauses, lost = put(server.url)
    assert (answer.text, pauses, lost) == ("drop", [1.0, 2.0, 4.0], costly)


def test_a_cap_ends_the_tries(serve):
    with (
        serve(lambda *_: {"status": 504}) as server,
        pytest.raises(NoAnswerError, match=r"\(504.*reaches a cap"),
    ):
        put(server.url, budget=2)
    assert len(server.requests) == 2


@pytest.mark.parametrize(("header", "pause"), [("7", 7.0), ("9999", 60.0), ("-3", 1.0), ("Wed, 21 Oct", 1.0)])
def test_the_server_says_how_long_to_wait(header, pause, serve):
    busy = {"status": 429, "headers": {"Retry-After": header}}
    with serve(lambda _, number: {"content": "drop"} if number else busy) as server:
        assert put(server.url)[1] == [pause]


def test_tries_come_to_an_end(serve):
    with (
        serve(lambda *_: {"status": 503, "body": b"later"}) as server,
        pytest.raises(NoAnswerError, match=r"in 3 tries \(503"),
    ):
        put(server.url, tries=3)
    assert len(server.requests) == 3


def test_a_silent_server_costs(serve):
    with serve(lambda _, number: {"content": "drop"} if number == 2 else {"hang_up": True}) as server:
        assert put(server.url)[2] == 2
    with serve(lambda *_: {"hang_up": True}) as server, pytest.raises(NoAnswerError):
        put(server.url, budget=2)
    assert len(server.requests) == 2


def test_a_server_that_is_not_there_costs_nothing():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(NoAnswerError, match="refused"):
            ask(Endpoint(url=url, model="m", tries=2), "a", KEY, lambda _: None, lambda: pytest.fail("lost"))


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_ends_it_and_the_key_is_not_repeated(status, serve):
    refusal = {"status": status, "body": f"Incorrect API key: {KEY} \x1b[2J".encode()}
    with serve(lambda *_: refusal) as server, pytest.raises(InputError) as caught:
        put(server.url)
    assert len(server.requests) == 1
    assert str(status) in str(caught.value)
    assert KEY not in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "one"), [(400, True), (413, True), (422, True), (401, False), (404, False)]
)
def test_a_refusal_of_one_question_is_told_apart(status, one, serve):
    with serve(lambda *_: {"status": status}) as server, pytest.raises(InputError) as caught:
        put(server.url)
    assert isinstance(caught.value, RefusedError) is one


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused(status, serve):
    with serve(lambda *_: {"content": "keep"}) as other:
        away = {"status": status, "headers": {"Location": f"{other.url}/chat/completions"}}
        with serve(lambda *_: away) as server, pytest.raises(InputError, match=str(status)):
            put(server.url)
    assert other.requests == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": 1}',
        b"\xff\xfe",
        b"[" * 200_000,
    ],
)
def test_another_language_is_refused_and_may_cost(body, serve):
    with serve(lambda *_: {"body": body}) as server:
        assert lost_by(server.url, "OpenAI-compatible") == 1


def test_an_answer_without_end_is_refused_and_may_cost(serve):
    with serve(lambda *_: {"body": b" " * 4_000_001}) as server:
        assert lost_by(server.url, "more than") == 1


@pytest.mark.parametrize("status", [400, 404, 307])
def test_a_refusal_costs_nothing(status, serve):
    with serve(lambda *_: {"status": status}) as server:
        assert lost_by(server.url, str(status)) == 0


def test_the_proxy_of_the_environment_is_not_for_this_machine(monkeypatch, serve):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with serve(lambda *_: {"content": "keep"}) as server:
        assert put(server.url)[0].text == "keep"


def test_the_key_comes_from_the_environment(monkeypatch):
    settings = Endpoint(url="https://host.example/v1", model="m", key_variable="DANLU_TEST_KEY")
    monkeypatch.setenv("DANLU_TEST_KEY", f" {KEY}\n")
    assert read_key(settings) == KEY
    for wrong, message in (("", "is empty"), ("a\nb", "what no key can"), ("schlüssel", "what no key can")):
        monkeypatch.setenv("DANLU_TEST_KEY", wrong)
        with pytest.raises(UsageError, match=message) as caught:
            read_key(settings)
        assert not wrong or wrong not in str(caught.value)
    assert read_key(Endpoint(url="https://host.example/v1", model="m")) == ""
