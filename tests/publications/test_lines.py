"""Broken lines: which breaks to undo, which hyphens to drop."""

import textwrap

import pytest

from danlu.publications.lines import Words, is_wrapped, join_lines, text_width, unwrap

PROSE = (
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, "
    "it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of "
    "Darkness, it was the spring of hope, it was the winter of despair."
)
NONE = Words([])


@pytest.mark.parametrize("width", [45, 60, 65, 72, 79])
def test_wrapping_is_undone(width):
    lines = textwrap.wrap(PROSE, width)
    assert is_wrapped(lines, width)
    assert unwrap(lines, width, NONE) == PROSE
    indented = ["    " + line for line in lines]
    assert unwrap(indented, width + 4, NONE) == PROSE


@pytest.mark.parametrize(
    "lines",
    [
        ["The Owl and the Pussy-cat went to sea", "In a beautiful pea-green boat,", "They took some honey,"],
        ["221B Baker Street", "London"],
        ["Name        Age", "Ann          12", "Bob          34"],
        ["| a | b |", "|---|---|", "| c | d |"],
        ["   I. A Scandal in Bohemia", "  II. The Red-headed League", " III. A Case of Identity"],
        ["a line by itself"],
        [""],
    ],
)
def test_what_has_lines_of_its_own_keeps_them(lines):
    assert unwrap(lines, 70, NONE) == "\n".join(lines)


def test_verse_of_long_lines_begins_with_capitals():
    verse = [
        "Of Mans First Disobedience, and the Fruit of that forbidden Tree,",
        "Whose mortal tast brought Death into the World, and all our woe,",
        "With loss of Eden, till one greater Man restore us, and regain",
        "The blissful Seat, Sing Heav'nly Muse, that on the secret top of",
        "Oreb, or of Sinai, didst inspire that Shepherd, who first taught",
    ]
    assert not is_wrapped(verse, 65)


@pytest.mark.parametrize(
    ("lines", "within", "text"),
    [
        (["an exam-", "ple of it"], "", "an example of it"),
        (["a well-", "known man"], "the well-known man is here", "a well-known man"),
        (["to co-", "operate"], "they cooperate and co-operate well", "to co-operate"),
        (["the mother-in-", "law"], "", "the mother-in-law"),
        (["in Anglo-", "Saxon"], "", "in Anglo-Saxon"),
        (["pages 10-", "20"], "", "pages 10- 20"),
        (["soft\u00ad", "ly"], "", "softly"),
        (["a dash--", "and more"], "", "a dash--and more"),
        (["a dash—", "and more"], "", "a dash—and more"),
        (["今天天气", "很好。"], "", "今天天气很好。"),
        (["今天 is", "天气"], "", "今天 is 天气"),
        (["see https:", "//a.org/b-", "c/", "d now"], "", "see https://a.org/b-c/d now"),
        (["", "a", "", "b  "], "", "a b"),
        ([], "", ""),
        (["\U0001f600", "e\u0301-", "a\ud800"], "", "\U0001f600 e\u0301- a\ud800"),
    ],
)
def test_two_lines_become_one(lines, within, text):
    assert join_lines(lines, Words([within + " end"])) == text


def test_the_last_word_of_a_line_is_not_trusted():
    assert "exam-" not in Words(["an exam-", "ple"])
    assert "an" in Words(["an exam-", "ple"])
    assert "example" not in Words(["an example"])


def test_the_width_is_that_of_most_lines():
    blocks = [textwrap.wrap(PROSE, 65)] * 3 + [["x" * 500], ["y" * 90, "z"]]
    assert 60 <= text_width(blocks) <= 65
    assert text_width([]) == 0


def test_long_lines_are_read_in_linear_time():
    for line in ("a" * 1_000_000, "a-" * 500_000, "  -" * 300_000, "://" * 300_000):
        assert len(join_lines([line, "b", line + "-", "c"], Words([line]))) > 2 * len(line)
        assert isinstance(is_wrapped([line, "b"], 70), bool)
