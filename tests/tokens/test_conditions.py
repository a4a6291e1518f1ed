"""Over columns a condition is what it is of each row: the one of danlu.expressions is the reference."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.expressions import read_condition
from danlu.tokens.conditions import FALSE, TRUE, UNSURE, judge_columns

NUMBERS, TEXTS = ("bytes", "score"), ("language",)
VALUES = [0.0, -0.0, 1.0, -2.5, 7.0, 1e308, math.inf, -math.inf, math.nan]
ROWS = [(a, b, text) for a in VALUES for b in VALUES for text in ("en", "zh", "")]
COLUMNS = {
    "bytes": np.array([row[0] for row in ROWS]),
    "score": np.array([row[1] for row in ROWS]),
    "language": np.array([row[2] for row in ROWS], dtype=object),
}

number = st.recursive(
    st.sampled_from(["bytes", "score", "0", "1.0", "7", "1e308"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner) | inner.map("-{}".format)
    ),
    max_leaves=4,
)
sign = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
compared = (
    st.builds("{} {} {}".format, number, sign, number)
    | st.builds("{} {} {} {} {}".format, number, sign, number, sign, number)
    | st.builds("{} {} (1, 7.0)".format, number, st.sampled_from(["in", "not in"]))
    | st.builds("language {} {!r}".format, st.sampled_from(["==", "!="]), st.sampled_from(["en", "", "x"]))
    | st.builds("language {} ('en', '')".format, st.sampled_from(["in", "not in"]))
)
condition = st.recursive(
    compared,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner)
        | inner.map("(not ({}))".format)
    ),
    max_leaves=5,
)


def by_row(where):
    """The slow way."""
    read = read_condition(where, NUMBERS, TEXTS)
    truths = [read.judge(dict(zip((*NUMBERS, *TEXTS), row, strict=True))) for row in ROWS]
    return [{True: TRUE, False: FALSE, None: UNSURE}[truth] for truth in truths]


@given(where=condition)
def test_it_is_what_each_row_says(where):
    assert judge_columns(where, COLUMNS, len(ROWS)).tolist() == by_row(where)


@pytest.mark.parametrize(
    "where",
    ["1 < 2", "1 / 0 > 2", "'a' == 'a'", "language in ()", "not 'a' in ('b', 'c')", "-bytes < -1 < 2"],
)
def test_constants_and_empty_lists(where):
    assert judge_columns(where, COLUMNS, len(ROWS)).tolist() == by_row(where)


def test_no_documents():
    empty = {"bytes": np.zeros(0), "language": np.zeros(0, dtype=object)}
    assert judge_columns("bytes > 1 and language == 'en'", empty, 0).shape == (0,)
