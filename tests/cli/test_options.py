"""Shared options: sizes, limits and tables."""

from __future__ import annotations

import json

import pytest

from danlu.cli.options import limits, show, show_json, size, table
from danlu.errors import UsageError


def test_a_size_may_have_a_unit() -> None:
    assert [size(text, "--tokens") for text in ("64K", "5", None)] == [64_000, 5, None]


@pytest.mark.parametrize("text", ["", "x", "-3", "1.5"])
def test_a_bad_size_names_its_option(text: str) -> None:
    with pytest.raises(UsageError, match="--tokens"):
        size(text, "--tokens")


def test_limits_are_those_of_the_command_line() -> None:
    assert (limits(3, "1K", None).steps, limits(3, "1K", None).tokens) == (3, 1000)


def test_a_table_is_aligned_with_numbers_to_the_right() -> None:
    rows = [("step", "size"), ("1", "10 kB"), ("100", "9 kB")]
    assert table(rows) == "step   size\n   1  10 kB\n 100   9 kB"
    assert table([("corpus", "done"), ("plan", "stale")]) == "corpus  done\nplan    stale"


def test_json_has_no_value_that_other_readers_refuse(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"a": "é"})
    assert capsys.readouterr().out == '{\n  "a": "é"\n}\n'
    with pytest.raises(ValueError, match="JSON"):
        show_json(float("nan"))


def test_no_answer_commands_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show(table([("source", "n"), ("a\nb\x1b[2J.txt", "1")]))
    assert capsys.readouterr().out == "source                 n\na\\u000ab\\u001b[2J.txt  1\n"
    value = {"a\x9b": "\u202e\x7f\x1b\n\t\udcff"}
    show_json(value)
    out = capsys.readouterr().out
    assert json.loads(out) == value
    assert not any(character in out for character in "\x9b\u202e\x7f\x1b\t\udcff")
