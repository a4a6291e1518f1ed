"""Sections: sizes with units, unknown keys with the nearest name, unions and steps told in the recipe's own terms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, ValidationError, field_validator

from danlu.config import (
    Origin,
    Section,
    Size,
    apply_settings,
    choices,
    differences,
    find_values,
    key_paths,
    nearest,
    parse_size,
    refuse,
    refuse_not_yet,
    spell,
)
from danlu.errors import RecipeError


class Clean(Section):
    """A step."""

    use: Literal["clean"] = "clean"
    share: float = 0.5


class Cut(Section):
    """Another step."""

    use: Literal["cut"] = "cut"
    length: Size = 10


class Train(Section):
    """A table."""

    tokens: Size = Field(default=1, gt=0)
    micro_batch: int | Literal["auto"] = "auto"
    rate: float = 0.1

    @field_validator("rate")
    @classmethod
    def _low(cls, value: float) -> float:
        if value > 1:
            raise ValueError("rate is above 1; the usual is 0.001")
        return value


class Whole(Section):
    """A recipe."""

    name: str
    step: list[Annotated[Clean | Cut, Field(discriminator="use")]] = Field(default_factory=list)
    train: Train = Train()
    weights: dict[str, float] = Field(default_factory=dict)


def refusal(text: str, settings: tuple[str, ...] = ()) -> list[str]:
    """The lines of the error about a recipe."""
    import tomllib

    tables = apply_settings(tomllib.loads(text), settings)
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate(tables)
    return str(refuse(caught.value, Whole, Origin(Path("r.toml"), text, settings))).splitlines()


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("64K", 64_000),
        ("25m", 25_000_000),
        ("2B", 2 * 10**9),
        ("2G", 2 * 10**9),
        ("15T", 15 * 10**12),
        (" 1.5 K ", 1500),
        ("2.3M", 2_300_000),
        ("1.001K", 1001),
        ("7", 7),
        (7, 7),
        ("9007199254740993", 2**53 + 1),
    ],
)
def test_sizes(written: Any, value: int) -> None:
    assert parse_size(written) == value


@pytest.mark.parametrize("written", ["", "K", "2 KiB", "-1K", "1e6", "0.0001K", "2MM"])
def test_sizes_that_are_none(written: Any) -> None:
    with pytest.raises(ValueError, match=r"is not a size|is not a whole number"):
        parse_size(written)


def test_sections_are_frozen_and_finite() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Train().tokens = 2  # type: ignore[misc]
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValidationError, match="finite"):
            Train(rate=number)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name = 'a'\n[train]\ntokns = 1", "r.toml, line 3: train.tokns: unknown key 'tokns'; did you mean 'tokens'?"),
        ("name = 'a'\nrate = 1", "r.toml, line 2: rate: unknown key 'rate'; did you mean train.rate?"),
        ("name = 'a'\nzzz = 1", "r.toml, line 2: zzz: unknown key 'zzz'; known: name, step, train, weights"),
        ("[train]", "r.toml: name: is missing"),
        ("name = 'a'\n[train]\ntokens = 0", "r.toml, line 3: train.tokens: input should be greater than 0, not 0"),
        ("name = 'a'\n[train]\nrate = 2", "r.toml, line 3: train.rate: rate is above 1; the usual is 0.001"),
        ("name = 'a'\n[weights]\nx = 'y'", "r.toml, line 3: weights.x: input should be a valid number, "
         "unable to parse string as a number, not 'y'"),
        ("name = 'a'\n[[step]]\nuse = 'cut'\n[[step]]\nuse = 'claen'",
         "r.toml, line 4: step[1]: use = 'claen' is not known; did you mean 'clean'?"),
        ("name = 'a'\n[[step]]\nshare = 1", "r.toml, line 2: step[0]: use is missing; it says what the step does, "
            'e.g. use = "length"'),
        ("name = 'a'\n[[step]]\nuse = 'cut'\nlenght = 3",
         "r.toml, line 4: step[0].lenght: unknown key 'lenght'; did you mean 'length'?"),
    ],
)  # fmt: skip
def test_findings_name_file_line_key_and_what_to_do(text: str, line: str) -> None:
    assert refusal(text) == [line]


@pytest.mark.parametrize("key", ["train.tokens", "train.rate", "train.micro_batch", "name"])
def test_true_is_no_number(key: str) -> None:
    table, _, name = key.rpartition(".")
    (line,) = refusal(f"name = 'a'\n[train]\n{name} = true" if table else "name = true")
    assert line == (f"r.toml, line 2: {table}: " if table else "r.toml: ") + (
        f"{name} is not a switch: true and false have no meaning for it"
    )


def test_a_union_is_one_finding() -> None:
    (line,) = refusal("name = 'a'\n[train]\nmicro_batch = 'many'")
    assert line.startswith("r.toml, line 3: train.micro_batch: input should be a valid integer")
    assert line.endswith(", or: input should be 'auto', not 'many'")


def test_several_findings_are_all_told() -> None:
    assert len(refusal("nam = 'a'\n[train]\ntokens = 0\nrate = 2")) == 4


def test_what_was_set_is_blamed_on_the_setting_not_on_the_file() -> None:
    text = "name = 'a'\n[train]\ntokens = 5\nrate = 3"
    lines = refusal(text, ("train.tokens=1", "train.tokens=-5"))
    assert lines[0].startswith("--set train.tokens=-5: train.tokens: ")
    assert lines[1].startswith("r.toml, line 4: train.rate: ")


def test_without_a_file_only_the_key_is_named() -> None:
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate({"name": "a", "train": {"tokens": 0}})
    assert str(refuse(caught.value, Whole, Origin())).startswith("train.tokens: ")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("train.tokens=2M", "2M"),
        ("train.tokens=2_000", 2000),
        ("train.tokens = 5", 5),
        ("train.tokens=true", True),
        ('train.tokens="7"', "7"),
        ("train.tokens=[1, 2]", [1, 2]),
        ("train.tokens={ a = 1 }", {"a": 1}),
        ("train.tokens= two words ", "two words"),
        ("train.tokens=", ""),
        ("train.tokens=a=b", "a=b"),
    ],
)
def test_settings(setting: str, value: Any) -> None:
    assert apply_settings({}, [setting]) == {"train": {"tokens": value}}


def test_later_settings_win_and_others_stay() -> None:
    tables = apply_settings(
        {"name": "a", "train": {"rate": 1}}, ["train.tokens=1", "train.tokens=2", "name=b"]
    )
    assert tables == {"name": "b", "train": {"rate": 1, "tokens": 2}}


@pytest.mark.parametrize("setting", ["train.tokens", "=3", " =3", "a=1\nb=2", "a=\udcff"])
def test_settings_that_are_none(setting: str) -> None:
    with pytest.raises(RecipeError, match=r"write section\.key=value"):
        apply_settings({}, [setting])


def test_setting_inside_a_list_goes_to_the_table_that_is_called_so() -> None:
    steps = [{"use": "cut"}, {"use": "exact", "name": "a"}, {"use": "exact", "name": "b"}]
    tables = apply_settings({"step": steps}, ["step.cut.least=3", "step.b.unit=line"])
    assert tables["step"][0] == {"use": "cut", "least": 3}
    assert tables["step"][2] == {"use": "exact", "name": "b", "unit": "line"}


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("step.cutt.least=3", "none is called 'cutt'; did you mean 'cut'?"),
        ("step.exact.unit=line", "several tables are called 'exact'"),
        ("step.cut=3", "name one of the tables"),
        ("step.0.use=clean", "none is called '0'; known: a, b, cut, exact"),
    ],
)
def test_setting_inside_a_list_without_such_a_table_is_refused(setting: str, said: str) -> None:
    steps = [{"use": "cut"}, {"use": "exact", "name": "a"}, {"use": "exact", "name": "b"}]
    with pytest.raises(RecipeError, match=re.escape(said)):
        apply_settings({"step": steps}, [setting])


def test_setting_inside_a_value_is_refused() -> None:
    with pytest.raises(RecipeError, match="name is not a table"):
        apply_settings({"name": "a"}, ["name.x=1"])


def test_nearest_name_or_all() -> None:
    assert nearest("widht", ["width", "depth"]) == "did you mean 'width'?"
    assert nearest("q", ["width", "depth"]) == "known: depth, width"


def test_keys_and_paths() -> None:
    assert choices(Whole, ["step", "use"]) == ["clean", "cut"]
    assert choices(Whole, ["train", "micro_batch"]) == ["auto"]
    paths = list(key_paths(Whole))
    assert paths[:4] == ["name", "step[clean].use", "step[clean].share", "step[cut].use"]
    assert spell(["corpus", "source", 1, "domain"]) == "corpus.source[1].domain"


def test_values_are_found_in_every_element_of_an_array() -> None:
    tables = {"step": [{"use": "cut"}, {"length": 3}, {"use": ["a", "b"]}]}
    assert list(find_values(tables, ["step", "use"])) == [
        (("step", 0, "use"), "cut"),
        (("step", 2, "use"), ["a", "b"]),
    ]
    assert list(find_values(tables, ["step", "use", "deeper"])) == []


def test_a_word_of_the_future_is_refused_with_those_of_today() -> None:
    origin = Origin(Path("r.toml"), "[[step]]\nuse = 'cut'\n[[step]]\nuse = 'fold'\n")
    tables = {"step": [{"use": "cut"}, {"use": "fold"}]}
    with pytest.raises(RecipeError) as caught:
        refuse_not_yet(tables, Whole, {"step.use": ["fold"]}, origin)
    assert str(caught.value) == (
        "r.toml, line 4: step[1].use = 'fold' is not supported yet; supported: clean, cut"
    )
    refuse_not_yet(tables, Whole, {"step.use": ["hang"], "train.micro_batch": ["all"]}, origin)


def test_a_key_is_changed_by_its_value_not_by_its_name() -> None:
    assert not Train(tokens=1).is_changed("tokens")
    assert Train(tokens=2).is_changed("tokens")


def test_differences_name_the_keys() -> None:
    old = {"seed": 1, "train": {"tokens": 5, "rate": 0.1}, "gone": 1}
    new = {"seed": 1, "train": {"tokens": 6, "rate": 0.1}, "new": {"a": 1}}
    assert differences(old, new) == ["gone: 1 -> None", "new: None -> {'a': 1}", "train.tokens: 5 -> 6"]
    assert differences(old, old) == []


def test_differences_of_lists_of_tables_name_the_tables() -> None:
    old = {"step": [{"use": "cut", "least": 1}, {"use": "exact"}, {"use": "url"}], "names": ["a"]}
    new = {"step": [{"use": "cut", "least": 2}, {"use": "url"}, {"use": "pii"}], "names": ["b"]}
    assert differences(old, new) == [
        "names: ['a'] -> ['b']",
        "step.cut.least: 1 -> 2",
        "step: without exact now",
        "step: with pii now",
    ]
    assert differences({"step": []}, {"step": [{"use": "cut"}]}) == ["step: with cut now"]
