"""Conditions in the recipe: equal to Python on what they take, and nothing else is taken."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from danlu.expressions import MAX_CHARACTERS, read_condition

NUMBERS = ("a", "b", "word_count")
TEXTS = ("language",)


def holds(text, **values):
    return not read_condition(text, NUMBERS, TEXTS).fails(values)


NUMBER = st.deferred(
    lambda: (
        st.sampled_from(["a", "b"])
        | st.integers(0, 9).map(str)
        | st.floats(0, 9).map(repr)
        | st.tuples(NUMBER, st.sampled_from("+-*"), NUMBER).map(lambda part: f"({' '.join(part)})")
        | NUMBER.map(lambda part: f"-{part}")
    )
)
SIGN = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
TRUTH = st.deferred(
    lambda: (
        st.tuples(NUMBER, SIGN, NUMBER).map(" ".join)
        | st.tuples(NUMBER, SIGN, NUMBER, SIGN, NUMBER).map(" ".join)
        | st.sampled_from(
            ["language == 'en'", "language not in ('de', 'fr')", "a in (1, 2.0)", "'zh' != language"]
        )
        | st.tuples(TRUTH, st.sampled_from(["and", "or"]), TRUTH).map(lambda part: f"({' '.join(part)})")
        | TRUTH.map(lambda part: f"not ({part})")
    )
)


@given(text=TRUTH, a=st.integers(-3, 9), b=st.floats(-3, 9), language=st.sampled_from(["en", "de", ""]))
def test_equal_to_python(text, a, b, language):
    names = {"a": float(a), "b": b, "language": language}
    assume(len(text) < 300)
    assert holds(text, **names) == eval(text, {"__builtins__": {}}, names)  # noqa: S307 - the reference


def test_names_are_those_in_the_condition():
    assert read_condition("b > 1 and language == 'en' and b < 3", NUMBERS, TEXTS).names == ("b", "language")


def test_it_may_stand_on_several_lines():
    assert holds(" (a > 1\n and b < 2) ", a=2.0, b=1.0)


def test_what_is_unknown_may_be_anything():
    for unknown in ("a / b > 0", "not a / b > 0", "a / b in (1, 2)"):
        assert holds(unknown, a=1.0, b=0.0)
    assert holds("a / b == 2", a=4.0, b=2.0)
    nan = float("nan")
    assert not holds("a > 1 and b > 1", a=0.0, b=nan)
    assert not holds("b > 1 and a > 1", a=0.0, b=nan)
    assert holds("a > 1 or b > 1", a=0.0, b=nan)
    assert not holds("not (a < 1 or b > 1)", a=0.0, b=nan)
    assert holds("0 < b < 3", b=nan)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word_cuont > 3", "unknown name 'word_cuont' in the expression; did you mean 'word_count'?"),
        ("zzz > 3", "known: a, b, language, word_count"),
        ("word_count", "is a number, not a condition"),
        ("language", "is a text, not a condition"),
        ("language > 'en'", "only numbers are greater or less"),
        ("a > '3'", "a number is needed there"),
        ("a and b > 1", "a condition is needed there"),
        ("(a > 1) == (b > 1)", "a sign that is not"),
        ("a is 1", "a sign that is not"),
        ("language in 'en'", "after in stands a list"),
        ("language in ('en', 3)", "after in stands a list of texts"),
        ("a in (b, 1)", "after in stands a list of numbers"),
        ("True", "neither a finite number nor a text"),
        ("a > 1e999", "neither a finite number nor a text"),
        ("a > 9" + "9" * 500, "neither a finite number nor a text"),
        ("a > 1j", "neither a finite number nor a text"),
        ("a > b'x'", "neither a finite number nor a text"),
        ("a >", "cannot be read"),
        ("", "cannot be read"),
        ("\0", "cannot be read"),
        ("a = 1", "cannot be read"),
        ("a > 1; b > 1", "cannot be read"),
        ("(" * 300 + "a", "cannot be read"),
        ("a > 1 or " * 190 + "a > 1", "at most"),
        ("-" * 60 + "a > 1", "deep"),
        ("not " * 60 + "a > 1", "deep"),
        ("a" * (MAX_CHARACTERS + 1), "at most"),
        *(
            (text, "may not stand in an expression")
            for text in (
                "__import__('os').system('x')",
                "a.__class__ > 1",
                "(1).real > 1",
                "a[0] > 1",
                "a ** 9 > 1",
                "a // 2 > 1",
                "a % 2 > 1",
                "a << 2 > 1",
                "~a > 1",
                "+a > 1",
                "[a > 1 for a in (1, 2)]",
                "lambda: 1",
                "a > 1 if b > 1 else b > 2",
                "f'{a}' == language",
                "max(a, b) > 1",
                "(b := 1) > 1",
                "{1: 2} == a",
            )
        ),
        ("... == a", "neither a finite number nor a text"),
    ],
    ids=lambda value: value[:24],
)
def test_refused(text, message):
    with pytest.raises(ValueError, match=r"expression|list|needed|sign|less|number") as error:
        read_condition(text, NUMBERS, TEXTS)
    assert message in str(error.value)
    assert len(str(error.value)) < 400


@given(st.text(alphabet="ab1'\"()<>=!+-*/ \n\\[],.:andorit", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        read_condition(text, NUMBERS, TEXTS)
    except ValueError:
        return
