"""Check digits: numbers that their offices publish as examples, and that any other last digit is wrong."""

import random
import string

import pytest

from danlu.pii import checksums

GOOD = [
    (checksums.luhn, "4111111111111111"),
    (checksums.luhn, "79927398713"),
    (checksums.iban, "GB29NWBK60161331926819"),
    (checksums.iban, "DE89370400440532013000"),
    (checksums.iban, "FR1420041010050500013M02606"),
    (checksums.iban, "MT84MALT011000012345MTLCAST001S"),
    (checksums.routing_number, "021000021"),
    (checksums.german_tax_id, "86095742719"),
    (checksums.french_nir, "255081416802538"),
    (checksums.spanish_id, "12345678Z"),
    (checksums.spanish_id, "X1234567L"),
    (checksums.italian_tax_code, "RSSMRA85T10A562S"),
    (checksums.nhs_number, "9434765919"),
    (checksums.chinese_id, "11010519491231002X"),
    (checksums.chinese_id, "440524188001010014"),
    (checksums.taiwan_id, "A123456789"),
]
ODD = ["", "0", "A", "Z", "É" * 9, "１" * 11, "²" * 10, " " * 18, "-1234567", "x" * 400, "\ud800" * 10]


@pytest.mark.parametrize(("check", "number"), GOOD)
def test_published_numbers(check, number):
    assert check(number)
    alphabet = string.digits if number[-1].isdigit() else string.ascii_uppercase
    others = [number[:-1] + sign for sign in alphabet if sign != number[-1]]
    assert not any(map(check, others))
    assert not check(number + "0")
    assert not check(number[1:]) or check is checksums.luhn


@pytest.mark.parametrize(("check", "number"), GOOD)
def test_odd_input_is_not_valid(check, number):
    draw = random.Random(2)
    signs = string.digits + string.ascii_letters + "²１ -\ud800É"
    for _ in range(300):
        check("".join(draw.choices(signs, k=len(number))))
    assert not any(map(check, ODD)) or check is checksums.luhn


def test_hong_kong():
    assert checksums.hong_kong_id("A", "1234563")
    assert checksums.hong_kong_id("G", "123456A")
    assert not checksums.hong_kong_id("A", "1234564")
    assert not checksums.hong_kong_id("ABC", "1234563")
    assert not checksums.hong_kong_id("a", "1234563")
    assert not checksums.hong_kong_id("A", "12345６3")
    two = [digit for digit in "0123456789A" if checksums.hong_kong_id("WX", f"123456{digit}")]
    assert len(two) == 1


def test_most_numbers_are_wrong():
    draw = random.Random(1)
    numbers = ["".join(draw.choices(string.digits, k=16)) for _ in range(2000)]
    assert 150 < sum(map(checksums.luhn, numbers)) < 250
