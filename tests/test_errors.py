"""The error tree: exit codes that a launcher can act on."""

from __future__ import annotations

import inspect

import pytest

from danlu import errors
from danlu.errors import DanluError

ALL = [item for _, item in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("error", ALL, ids=lambda error: error.__name__)
def test_is_caught_as_danlu_error_and_documented(error: type[DanluError]) -> None:
    assert issubclass(error, DanluError)
    assert f"{error.__name__} {error.exit_code}" in (errors.__doc__ or ""), (
        "the tree in the docstring is behind"
    )


def test_exit_codes() -> None:
    codes = {error.__name__: error.exit_code for error in ALL}
    assert codes.pop("Stopped") == 75
    assert {name for name, code in codes.items() if code == 2} == {"UsageError", "RecipeError"}
    assert {code for name, code in codes.items() if name not in ("UsageError", "RecipeError")} == {1}


def test_message_is_what_is_shown() -> None:
    assert (
        str(errors.InputError("a.txt, line 3: no text; set text_field"))
        == "a.txt, line 3: no text; set text_field"
    )
