"""RefinedWeb's line-wise corrections against the published procedure, one correction after the other."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.rules import refinedweb
from danlu.rules.settings import RefinedWeb
from danlu.words.text import Text

ALL = RefinedWeb(max_removed_words_ratio=1.0)
COUNTER = re.compile(
    r"^\W*\d(?:,|\.|\d)*(?:k|m|b)?\s+(?:likes|shares|comments|retweets|reposts|quotes|bookmarks|upvotes|downvotes|"
    r"downloads|views|followers)\W*$"
)


def correct_slowly(text):
    """The published order; white space around the text and words of a line are Python's."""
    lines = re.sub(r"\n{3,}", "\n\n", text).split("\n")
    lines = [line for line in lines if not line or sum(map(str.isupper, line)) / len(line) <= 0.5]
    lines = [line for line in lines if not line or sum(map(str.isdigit, line)) / len(line) <= 0.999999]
    lines = [line for line in lines if not COUNTER.search(line.lower())]
    lines = [line for line in lines if not line or len(line.split()) >= 2]
    for pattern in (r"\s?items in cart", r"\s?Read more...$", r"^Sign-in\s?"):
        kept = []
        for line in lines:
            if len(line.split()) <= 10:
                left = re.sub(pattern, "", line, flags=re.IGNORECASE)
                if line and (not left or left.isspace()):
                    continue
                line = left
            kept.append(line)
        lines = kept
    return "\n".join(lines)


def corrected(text, settings=ALL, language="en"):
    return refinedweb.measure(Text(text, language), settings)


LINES = st.sampled_from(
    [
        *(
            "",
            " ",
            "one",
            "two words",
            "LOUD WORDS HERE",
            "AaBb cD",
            "12345",
            "12 345",
            "٣٤",
            "3 likes",
            "(1.2K views)",
        ),
        *(
            "1,000 Followers!",
            "3 likes more",
            "2 items in cart now",
            "items in cart",
            "A story Read more...",
            "Read more...",
        ),
        *(
            "Sign-in please",
            "sign-in",
            "read moreabc",
            "Sign-in items in cart Read more...",
            "é à ü î",
            "\ttab here \r",
        ),
        *(
            "a b c d e f g h i j k items in cart",
            "a b c d e f g h items in cart",
            "\x85 \x1c",
            "\ud800 x",
            "\0 \0",
        ),
    ]
)


@given(st.lists(LINES | st.text(max_size=12), max_size=12).map("\n".join))
def test_as_published(text):
    expected = correct_slowly(text)
    found, (words, _, ratio) = corrected(text)
    # Where nothing is wrong the text stays as it is, with the white space around it.
    assert found.text == (text if expected == text else expected.strip())
    before, after = len(text.split()), len(expected.split())
    assert words == after
    assert ratio == pytest.approx((before - after) / before if before else 0.0)


@pytest.mark.parametrize("most", [1, 2, 3, 5])
@given(text=st.lists(st.sampled_from(["a b", "\n", "\n\n\n"]), max_size=12).map("".join))
def test_runs_of_line_feeds(most, text):
    expected = re.sub(rf"\n{{{most},}}", "\n" * most, text)
    settings = RefinedWeb(max_consecutive_newlines=most)
    assert corrected(text, settings)[0].text == (text if expected == text else expected.strip())


def test_nothing_wrong_is_the_same_object():
    text = Text("A line of text.\n\nAnother line of it.\n")
    assert refinedweb.measure(text, ALL).text is text


def test_chinese_lines_are_counted_by_character():
    text = "这是第一行，写得很好。\n好\n这是第二行。"
    assert corrected(text, language="zh")[0].text == "这是第一行，写得很好。\n这是第二行。"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("BUY\nNOW", "removed_words"),
        ("a good line of text\nHOME", "removed_words"),
        ("a good line of text " * 10 + "\nHOME", ""),
    ],
)
def test_decisions(text, reason):
    settings = RefinedWeb()
    assert refinedweb.decide(corrected(text, settings).values, settings) == reason


def test_a_text_that_lost_everything_is_empty_whatever_the_ratio():
    assert refinedweb.decide(corrected("BUY\nNOW").values, ALL) == "empty"


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("max_uppercase_ratio", 1.0, "LOUD LINE"),
        ("max_numeric_ratio", 1.0, "12 34"),
        ("remove_counters", False, "3 likes"),
        ("min_words_per_line", 0, "one"),
        ("max_phrase_line_words", 0, "2 items in cart"),
    ],
)
def test_each_key_switches_its_correction(key, value, line):
    text = f"some good words\n{line}\nmore good words"
    assert corrected(text, RefinedWeb(**{key: value}))[0].text == text


def test_the_measures_are_named():
    assert len(refinedweb.MEASURES) == len(corrected("x y").values)
