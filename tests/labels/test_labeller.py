"""Documents labelled by a fake endpoint: in order, once each, within the caps, and on again after it failed."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from danlu.errors import InputError
from danlu.labels.answers import dearest
from danlu.labels.endpoint import NoAnswerError
from danlu.labels.labeller import ANSWERS, label_by_endpoint
from danlu.labels.prompt import Prompt, fill, read_prompt
from danlu.labels.sample import Drawn
from danlu.labels.settings import Endpoint
from danlu.labels.store import read_labels, standing

DOCUMENTS = [
    Drawn(place, f"d{place}", "web", "a.txt", "en", "", f"text number {place} " + "x" * (place % 7), True)
    for place in range(20)
]
USAGE = {"prompt_tokens": 50, "completion_tokens": 1}
PROMPT = Prompt("Keep or drop? {text}", "0123456789abcdef")


def by_number(request, _=0):
    """Even ones are kept, odd ones dropped, and of every fifth it cannot decide."""
    number = int(request["body"]["messages"][0]["content"].partition("number ")[2].split()[0])
    return {"content": "well" if number % 5 == 4 else "drop" if number % 2 else "keep", "usage": USAGE}


def label(path, url, documents=DOCUMENTS, prompt=PROMPT, **settings):
    endpoint = Endpoint(url=url, model="m", **settings)
    return label_by_endpoint(
        documents, path, "keep", endpoint, prompt, lambda: datetime(2026, 1, 2, tzinfo=UTC), lambda _: None
    )


def stored(path):
    own = standing(read_labels(path).labels, "keep").get("endpoint:m", {})
    return {one.id: one.label for one in own.values()}


WANTED = {f"d{place}": "drop" if place % 2 else "keep" for place in range(20) if place % 5 != 4}


@pytest.mark.parametrize("concurrency", [1, 4, 64])
def test_labels_are_stored_in_order_with_who_and_prompt(tmp_path, concurrency, serve):
    path = tmp_path / "labels.jsonl"
    with serve(by_number) as server:
        done = label(path, server.url, concurrency=concurrency, input_price=2, output_price=10)
    assert (done.labelled, done.unreadable, done.known, done.left, done.torn) == (16, 4, 0, 0, 0)
    assert (done.spent.sent, done.spent.received) == (1000, 20)
    assert done.cost == pytest.approx((1000 * 2 + 20 * 10) / 1e6)
    assert stored(path) == WANTED
    rows = read_labels(path).labels
    assert [one.number for one in rows] == sorted(one.number for one in rows)
    assert {(one.who, one.prompt, one.when) for one in rows} == {
        ("endpoint:m", PROMPT.digest, "2026-01-02T00:00:00+00:00")
    }
    assert (tmp_path / f"prompt-{PROMPT.digest}.txt").read_text() == PROMPT.text


def test_nothing_is_asked_twice(tmp_path, serve):
    path = tmp_path / "labels.jsonl"
    with serve(by_number) as server:
        label(path, server.url, DOCUMENTS[:8])
        done = label(path, server.url)
        assert (done.known, done.labelled, done.unreadable) == (7, 9, 4)
        assert len(server.requests) == 20
        path.unlink()
        assert label(path, server.url).labelled == 16
        assert len(server.requests) == 20
        label(
            path, server.url, prompt=Prompt("Other: keep or drop? {text}", "f" * 16), documents=DOCUMENTS[:2]
        )
        assert len(server.requests) == 22
    assert stored(path) == WANTED


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_cap_is_never_passed(tmp_path, concurrency, serve):
    path = tmp_path / "labels.jsonl"
    caps = {"max_tokens": 500, "max_answer_tokens": 10, "concurrency": concurrency}
    with serve(by_number) as server:
        done = label(path, server.url, **caps)
        assert 0 < done.left < 20
        assert done.spent.sent + done.spent.received <= 500
        asked = len(server.requests)
        again = label(path, server.url, **caps)
        assert again.spent.sent + again.spent.received <= 500
        if concurrency == 1:  # else what was set aside for others may have stood in the way of the last one
            assert len(server.requests) == asked
            assert again.spent == done.spent
        money = {"max_cost": 0.01, "input_price": 10.0, "output_price": 10.0}
        dear = label(path, server.url, **caps | {"max_tokens": 10_000} | money)
        assert dear.cost <= 0.01
        rest = label(path, server.url, max_tokens=10_000)
    assert rest.left == 0
    assert stored(path) == WANTED


def test_it_goes_on_where_the_server_failed(tmp_path, serve):
    path = tmp_path / "labels.jsonl"
    with (
        serve(
            lambda request, number: {"status": 401, "body": b"no"} if number >= 6 else by_number(request)
        ) as server,
        pytest.raises(InputError, match="401"),
    ):
        label(path, server.url, concurrency=2)
    assert 4 <= len(stored(path)) <= 6
    with serve(by_number) as server:
        label(path, server.url)
    assert len(server.requests) == 14
    assert stored(path) == WANTED


def number_of(request):
    return int(request["body"]["messages"][0]["content"].partition("number ")[2].split()[0])


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_document_that_is_refused_does_not_stop_the_others(tmp_path, status, concurrency, serve):
    path = tmp_path / "labels.jsonl"

    def reply(request, _):
        refused = number_of(request) in (3, 8)
        return {"status": status, "body": b"a filter"} if refused else by_number(request)

    with serve(reply) as server:
        done = label(path, server.url, concurrency=concurrency)
        assert (done.labelled, done.unreadable, done.refused, done.left) == (14, 4, 2, 0)
        assert f"{status}" in done.refusal
        assert "a filter" in done.refusal
        assert done.spent.received == 18
        again = label(path, server.url, concurrency=concurrency)
    assert (again.labelled, again.refused, again.known) == (0, 2, 14)
    assert len(server.requests) == 22
    assert stored(path) == {key: value for key, value in WANTED.items() if key not in ("d3", "d8")}


def test_where_the_first_few_are_refused_it_ends(tmp_path, serve):
    path = tmp_path / "labels.jsonl"
    with (
        serve(lambda *_: {"status": 400, "body": b"no such model"}) as server,
        pytest.raises(InputError, match="no such model"),
    ):
        label(path, server.url, concurrency=1)
    assert len(server.requests) == 5
    with serve(lambda *_: {"status": 400, "body": b"no such model"}) as server:
        assert label(path, server.url, DOCUMENTS[:4], concurrency=1).refused == 4
    with serve(lambda request, number: by_number(request) if number == 4 else {"status": 400}) as server:
        done = label(tmp_path / "other" / "labels.jsonl", server.url, concurrency=1)
    assert (done.refused, done.unreadable) == (19, 1)
    with serve(by_number) as server:
        label(path, server.url, DOCUMENTS[:1])
    with serve(lambda *_: {"status": 400}) as server:
        assert label(path, server.url).refused == 19


def test_answers_that_never_came_count_against_the_cap(tmp_path, serve):
    path = tmp_path / "labels.jsonl"
    with serve(lambda request, number: by_number(request) if number % 2 else {"hang_up": True}) as server:
        done = label(path, server.url, DOCUMENTS[:3], concurrency=1)
    assert len(server.requests) == 6
    assert done.labelled == 3
    assert done.spent.received == 3 * (256 + 1)


@pytest.mark.parametrize(
    "reply",
    [{"body": b"no completion"}, {"body": b" " * 4_000_001}, {"status": 504}],
    ids=["odd", "long", "504"],
)
def test_answers_that_are_none_count_against_the_cap_and_are_asked_for_again(tmp_path, reply, serve):
    path = tmp_path / "labels.jsonl"
    one = dearest(Endpoint(url="http://127.0.0.1/v1", model="m"), fill(PROMPT, DOCUMENTS[0].text, 4_000))
    cap = {"max_tokens": 3 * (one.sent + one.received), "concurrency": 1}
    with serve(lambda *_: reply) as server:
        for _ in range(6):
            try:
                label(path, server.url, DOCUMENTS[:1], **cap)
            except (InputError, NoAnswerError):
                continue
            break
        assert len(server.requests) == 3
        assert label(path, server.url, DOCUMENTS[:1], **cap).left == 1
    with serve(by_number) as server:
        done = label(path, server.url, DOCUMENTS[:1])
    assert done.labelled == 1
    assert done.spent.received == 3 * one.received + 1


def test_neither_key_nor_text_is_where_it_should_not_be(tmp_path, monkeypatch, serve):
    monkeypatch.setenv("DANLU_TEST_KEY", "sk-very-secret")
    path = tmp_path / "labels.jsonl"
    with serve(by_number) as server:
        label(path, server.url, key_variable="DANLU_TEST_KEY")
    written = b"".join(file.read_bytes() for file in Path(tmp_path).iterdir())
    assert b"secret" not in written
    assert all(
        set(json.loads(line)) >= {"key", "answer"} for line in (tmp_path / ANSWERS).read_text().splitlines()
    )


def test_our_prompt_is_answered_too(tmp_path, serve):
    with serve(lambda *_: {"content": "Score: 3", "usage": USAGE}) as server:
        path = tmp_path / "labels.jsonl"
        endpoint = Endpoint(url=server.url, model="m", max_characters=5)
        now = datetime(2026, 1, 2, tzinfo=UTC)
        done = label_by_endpoint(DOCUMENTS[:1], path, "0-5", endpoint, read_prompt(None, "0-5"), lambda: now)
    assert done.labelled == 1
    assert "<text>\ntext \n</text>" in server.requests[0]["body"]["messages"][0]["content"]
