"""Numbers that states give: ranges, check digits, words before them."""

import pytest

from danlu.pii import identity
from danlu.pii.view import look
from danlu.words.text import Text


def found(finder, text):
    return [text[item.start : item.end] for item in finder(look(Text(text)))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("536-90-4399", ["536-90-4399"]),
        ("536 90 4399", []),
        ("SSN 536 90 4399", ["536 90 4399"]),
        ("536-90 4399", []),
        ("000-90-4399 666-90-4399 900-90-4399 536-00-4399 536-90-0000", []),
        ("-536-90-4399 536-90-43990 536-90-4399-1", []),
        ("AB123456C JG 12 34 56 A", ["AB123456C", "JG 12 34 56 A"]),
        ("BG123456C QQ123456C DA123456C AB123456E", []),
        ("NHS 943 476 5919", ["943 476 5919"]),
        ("943 476 5919", []),
        ("Steuer-ID 86095742719", ["86095742719"]),
        ("86095742719", []),
        ("2 55 08 14 168 025 38", ["2 55 08 14 168 025 38"]),
        ("255081416802538", ["255081416802538"]),
        ("2 55 08 14 168 025 39", []),
        ("12345678Z X1234567L", ["12345678Z", "X1234567L"]),
        ("1.12345678Z", []),
        ("RSSMRA85T10A562S", ["RSSMRA85T10A562S"]),
        ("RSSMRA85T10A562SX RSSMRA85T10A562T", []),
    ],
)
def test_national_ids(text, expected):
    assert found(identity.national_ids, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("passport C12345678", ["C12345678"]),
        ("Passport No.: 123456789", ["123456789"]),
        ("护照号码：E12345678。", ["E12345678"]),
        ("C12345678", []),
        ("passport photo 123456", []),
        ("passport XYZ1234567", []),
    ],
)
def test_passports(text, expected):
    assert found(identity.passports, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("licence plate AB12 CDE", ["AB12 CDE"]),
        ("Kennzeichen: M-AB 123", ["M-AB 123"]),
        ("license plate number 7ABC123", ["7ABC123"]),
        ("licence plate was stolen in 2021", []),
        ("plate 7", []),
        ("template 12 abc", []),
    ],
)
def test_plates(text, expected):
    assert found(identity.plates, text) == expected
