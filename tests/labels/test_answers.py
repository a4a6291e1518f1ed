"""Stored answers: none is paid for twice, a cap is never passed, what was lost counts."""

import pytest

from danlu.errors import DamagedError
from danlu.labels.answers import Answer, Answers, Usage, dearest, question_key
from danlu.labels.settings import Endpoint


def settings(**keys):
    return Endpoint(url="https://host.example/v1", model="m", **keys)


MOST = Usage(100, 10)


def test_what_is_added_is_found_again(tmp_path):
    path = tmp_path / "answers.jsonl"
    answers = Answers(path)
    assert answers.find("k") is None
    assert answers.reserve(MOST, settings())
    answers.add("k", MOST, Answer("keep \ud800", False, Usage(40, 2)))
    again = Answers(path)
    assert again.find("k") == Answer("keep \ud800", False, Usage(40, 2))
    assert (again.spent, again.torn) == (Usage(40, 2), 0)


def test_a_cap_of_tokens_holds_with_questions_under_way(tmp_path):
    answers, cap = Answers(tmp_path / "answers.jsonl"), settings(max_tokens=250)
    assert answers.reserve(MOST, cap)
    assert answers.reserve(MOST, cap)
    assert not answers.reserve(MOST, cap)
    answers.add("k", MOST, Answer("keep", False, Usage(20, 1)))
    assert answers.reserve(MOST, cap)
    answers.release(MOST)
    answers.lose("l", MOST)
    assert answers.spent == Usage(120, 11)
    assert answers.find("l") is None
    assert answers.reserve(MOST, cap)
    assert not Answers(tmp_path / "answers.jsonl").reserve(Usage(110, 10), cap)


def test_a_cap_of_money(tmp_path):
    cap = settings(max_cost=0.5, input_price=1000, output_price=20_000)
    answers = Answers(tmp_path / "answers.jsonl")
    assert answers.reserve(MOST, cap)
    assert not answers.reserve(MOST, cap)
    assert MOST.cost(cap) == pytest.approx(0.3)


def test_lines_that_a_crash_tore(tmp_path):
    path = tmp_path / "answers.jsonl"
    answers = Answers(path)
    answers.add("a", Usage(), Answer("keep", False, Usage(1, 1)))
    answers.add("b", Usage(), Answer("keep", False, Usage(1, 1)))
    path.write_bytes(path.read_bytes()[:-5])
    assert (Answers(path).torn, Answers(path).spent) == (1, Usage(1, 1))
    path.write_text('{"key": "a"}\n')
    with pytest.raises(DamagedError, match="jsonl:1 is no answer"):
        Answers(path)


def test_a_question_is_model_words_and_length():
    keys = [
        question_key(settings(), "a"),
        question_key(settings(), "b"),
        question_key(settings(max_answer_tokens=9), "a"),
        question_key(Endpoint(url="https://host.example/v1", model="n"), "a"),
    ]
    assert len(set(keys)) == 4
    assert keys[0] == question_key(settings(timeout_seconds=3, concurrency=1), "a")


def test_no_question_is_dearer_than_its_bytes():
    assert dearest(settings(max_answer_tokens=5), "河\ud800a") == Usage(3 + 1 + 1 + 64, 5)
