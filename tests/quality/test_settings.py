"""What the steps refuse."""

from typing import Annotated

import pytest
from pydantic import Field, ValidationError

from danlu.config import Origin, Section, refuse
from danlu.quality.settings import Expression, Language, Length, Normalize, Repetition


class Steps(Section):
    step: list[Annotated[Length | Expression, Field(discriminator="use")]]


@pytest.mark.parametrize(
    ("section", "values", "message"),
    [
        (Length, {"min_characters": 9, "max_characters": 8}, "min_characters is above max_characters"),
        (Length, {"min_chars": 9}, "Extra inputs"),
        (Normalize, {"unicode": "NFD"}, "NFC"),
        (Repetition, {"max_character_share": 1.5}, "less than or equal to 1"),
        (Language, {"min_score": 0.1}, "greater than 0.2"),
        (Language, {"short": "maybe"}, "'keep' or 'drop'"),
        (Expression, {}, "keep"),
        (Expression, {"keep": "word_cout > 3"}, "did you mean 'word_count'"),
        (Expression, {"keep": "x" * 3000}, "at most 2000 characters"),
        (Expression, {"keep": "word_count > 3", "reason": "Not a name"}, "pattern"),
    ],
)
def test_refuses_what_cannot_be_meant(section, values, message):
    with pytest.raises(ValidationError, match=message):
        section(**values)


def test_a_wrong_expression_names_the_key_and_its_line(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text("name = 'x'\n[[step]]\nuse = 'expression'\nkeep = 'word_cout > 3'\n")
    origin = Origin(path, path.read_text())
    with pytest.raises(ValidationError) as error:
        Steps(step=[{"use": "expression", "keep": "word_cout > 3"}])
    message = str(refuse(error.value, Steps, origin))
    assert "line 4" in message
    assert "step[0].keep: unknown name 'word_cout' in the expression; did you mean 'word_count'?" in message
