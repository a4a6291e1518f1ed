"""A slice's name, condition and order are refused where they are written, before any text is read."""

from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from danlu.mixture.settings import MixtureSettings, Slice, check_name, check_order, check_slices


@pytest.mark.parametrize(
    "where",
    [
        "perplexity_bucket == 2 and bytes > 500",
        "language in ('en', 'de') or not source == 'a.b'",
        "tokens / bytes < 0.3",
    ],
)
def test_any_name_may_stand_in_a_condition(where):
    assert Slice(of="prose", where=where).where == where


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("bytes >", "cannot be read"),
        ("bytes", "is a number, not a condition"),
        ("language > 3", "is a text; only numbers"),
        ("len(source) > 3", "may not stand"),
        ("perplexity.bucket == 2", "a dot in a measure's name becomes an underscore"),
        ("", "cannot be read"),
    ],
)
def test_a_condition_with_a_mistake(where, words):
    with pytest.raises(ValidationError, match=words):
        Slice(of="prose", where=where)


def test_names_are_those_of_folders():
    assert check_name("hard-2.en") == "hard-2.en"
    for name in ("", "../x", "a b", ".hidden"):
        with pytest.raises(ValueError, match="cannot be called"):
            check_name(name)


def test_an_order_is_one_name():
    assert [check_order(name) for name in ("bytes", "-perplexity_perplexity")] == [
        "bytes",
        "-perplexity_perplexity",
    ]
    for name in ("", "-", "--bytes", "perplexity.perplexity", "bytes, tokens", "2x"):
        with pytest.raises(ValueError, match="is no attribute"):
            check_order(name)
    with pytest.raises(ValueError, match="is a text"):
        check_order("-language")


def test_the_settings_hold_them_in_the_order_given():
    cut = {"of": "prose", "where": "bytes > 1"}
    mixture = MixtureSettings(slice={"z": cut, "a": cut}, order_by={"z": "-bytes"})
    assert list(mixture.slice) == ["z", "a"]
    for wrong in ({"slice": {"/x": cut}}, {"order_by": {"z": "bytes and tokens"}}):
        with pytest.raises(ValidationError):
            MixtureSettings(**wrong)


def of(base):
    return Slice(of=base, where="bytes > 1")


@pytest.mark.parametrize(
    ("slices", "order_by", "words"),
    [
        ({"code": of("prose")}, {}, "'code' is a domain already"),
        ({"hard": of("pros")}, {}, "slice.hard.of: no source is of domain 'pros'; did you mean 'prose'"),
        ({"hard": of("prose"), "harder": of("hard")}, {}, "'hard' is a slice itself"),
        ({"hard": of("prose")}, {"hrad": "bytes"}, "order_by: .*'hrad'; did you mean 'hard'"),
    ],
)
def test_slices_that_do_not_fit_the_domains(slices, order_by, words):
    with pytest.raises(ValueError, match=words):
        check_slices(SimpleNamespace(slice=slices, order_by=order_by), ["code", "prose"])


def test_slices_that_fit():
    mixture = MixtureSettings(slice={"hard": of("prose")}, order_by={"hard": "bytes", "code": "-tokens"})
    check_slices(mixture, {"code", "prose"})
