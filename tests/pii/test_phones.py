"""Telephone numbers: countries, groups, words before them, and the numbers that are none."""

import pytest

from danlu.pii import phones
from danlu.pii.find import settle
from danlu.pii.view import look
from danlu.words.text import Text


def found(text):
    return [text[item.start : item.end] for item in settle(phones.phones(look(Text(text))), len(text))]


@pytest.mark.parametrize(
    "number",
    [
        *("+1 415 555 2671", "+1 (415) 555-2671", "+442079460958", "+44 (0)20 7946 0958", "+49 (0)30/901820"),
        *(
            "0049 30 901820",
            "+86 138 1234 5678",
            "+86 10 6251 1234",
            "+33 1 42 68 53 00",
            "+39 06 6982",
            "+852 2345 6789",
        ),
        *(
            "(415) 555-2671",
            "415-555-2671",
            "415.555.2671",
            "1-415-555-2671",
            "415-555-2671 x123",
            "020 7946 0958",
        ),
        *("07911 123456", "01632 960 001", "0171/1234567", "(030) 901820", "01.42.68.53.00", "010-62511234"),
        *("(021)6234-5678", "0755-86013388-8012", "400-810-8888", "186-1234-5678", "186 1234 5678"),
    ],
)
def test_forms_of_countries(number):
    assert found(number) == [number]
    assert found(f"x: {number}, and so on.") == [number]
    assert found(f"于{number}。") == [number]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "+1 415 555 267",
            "+1 115 555 2671",
            "+10 12345678",
            "+442079460958123",
            "2 + 4420794609",
            "x+442079460958",
        ),
        *("415-555-26711", "115-555-2671", "a415-555-2671", "415-555-2671-3", "1415.5552671", "415 555 2671"),
        *(
            "2021-03-25",
            "25-03-2021",
            "2021-03-25 10",
            "192.168.100.200",
            "01 02 03 04 05",
            "13812345678",
            "0.13812345678",
        ),
        *(
            "5551234",
            "1234567",
            "3.1415926535",
            "1,234,567",
            "10/10/2020 12/12/2021",
            "00000000000",
            "+35236450.6",
        ),
    ],
)
def test_other_numbers(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Phone: 555-1234", ["555-1234"]),
        ("电话：62345678", ["62345678"]),
        ("mobile 415 555 2671", ["415 555 2671"]),
        ("call me at 555-1234", ["555-1234"]),
        ("call 5551234 times", []),
        ("call on 2021-03-25", []),
        ("Phone: 123456", []),
        ("phone 12345678901234", []),
        ("手机13812345678", ["13812345678"]),
        ("mobile: 13812345678", ["13812345678"]),
        ("共13812345678元", []),
        ("13812345678/13912345678 小李", ["13812345678", "13912345678"]),
    ],
)
def test_words_before_and_after(text, expected):
    assert found(text) == expected
