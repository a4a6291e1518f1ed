from __future__ import annotations

import pytest

import toy_tasks
from danlu.errors import InputError
from danlu.jobs.task import Batch, encode, find_function, function_name, perform, raise_failure


def test_a_function_is_found_again_under_its_name() -> None:
    assert function_name(toy_tasks.square) == "toy_tasks:square"
    assert find_function("toy_tasks:square") is toy_tasks.square


def test_what_no_worker_could_find_is_refused() -> None:
    def inner(argument: dict[str, object]) -> None:
        pass

    with pytest.raises(ValueError, match="top of a module"):
        function_name(inner)


def test_sizes_are_one_a_task() -> None:
    with pytest.raises(ValueError, match="1 sizes of 2 tasks"):
        Batch(toy_tasks.square, [{}, {}], "x", [1])


def test_a_name_shows_the_beginning_of_the_argument() -> None:
    batch = Batch(toy_tasks.square, [{"shard": 7}, {"text": "a" * 1000}], "reading")
    assert batch.name(0) == 'reading, task 1 of 2, {"shard":7}'
    assert len(batch.name(1)) < 200


def test_lone_surrogates_survive() -> None:
    assert encode({"name": "\udc80"}) == '{"name":"\\udc80"}'


def test_what_a_task_says_goes_line_by_line() -> None:
    said: list[str] = []
    assert perform(toy_tasks.speak, {"n": 5}, said.append) is None
    assert said == ["hello from 5", "no end"]


def test_an_error_of_danlu_comes_back_as_it_was() -> None:
    failure = perform(toy_tasks.refuse, {"n": 3}, print)
    assert failure is not None
    with pytest.raises(InputError) as caught:
        raise_failure(failure, "reading, task 1 of 2")
    assert type(caught.value) is InputError
    assert str(caught.value) == "line 3 of the file is bad; mend it"
    assert "toy_tasks.py" in caught.value.__notes__[0]


def test_any_other_error_names_task_and_place() -> None:
    failure = perform(toy_tasks.break_down, {"n": 3}, print)
    assert failure is not None
    with pytest.raises(RuntimeError, match=r"KeyError: 'missing' \(in reading, task 1 of 2\)") as caught:
        raise_failure(failure, "reading, task 1 of 2")
    assert "toy_tasks.py" in caught.value.__notes__[0]
