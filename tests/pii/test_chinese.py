"""Chinese identity numbers and plates: regions, days, check digits, separators, full-width signs."""

import pytest

from danlu.pii import chinese
from danlu.pii.find import settle
from danlu.pii.view import look
from danlu.words.text import Text


def found(finder, text):
    return [text[item.start : item.end] for item in settle(finder(look(Text(text))), len(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("11010519491231002X", ["11010519491231002X"]),
        ("11010519491231002x", ["11010519491231002x"]),
        ("身份证１１０１０５１９４９１２３１００２Ｘ。", ["１１０１０５１９４９１２３１００２Ｘ"]),
        ("110105 19491231 002X", ["110105 19491231 002X"]),
        ("110105194912310021", []),
        ("11010519491331002X", []),
        ("11010519490229002X 99010519491231002X", []),
        ("11010519491231002X1 A11010519491231002X 1.11010519491231002X", []),
        ("身份证110105491231002", ["110105491231002"]),
        ("110105491231002", []),
        ("身份证110105491331002", []),
        ("A123456(3)", ["A123456(3)"]),
        ("A123456(4)", []),
        ("A1234563", []),
        ("HKID A1234563", ["A1234563"]),
        ("A123456789", ["A123456789"]),
        ("A123456788", []),
        ("澳门1234567(8)", ["1234567(8)"]),
        ("1234567(8)", []),
    ],
)
def test_national_ids(text, expected):
    assert found(chinese.national_ids, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("京A12345", ["京A12345"]),
        ("京A·12345粤BD12345", ["京A·12345", "粤BD12345"]),
        ("川A1234警", ["川A1234警"]),
        ("京Ａ１２３４５", ["京Ａ１２３４５"]),
        ("京A1234 京A1234567 京ABCDE 京I12345 州A12345", []),
        ("no plate", []),
    ],
)
def test_plates(text, expected):
    assert found(chinese.plates, text) == expected
