"""Accounts and cards: groups, prefixes, the words before, and what comes right behind."""

import pytest

from danlu.pii import accounts
from danlu.pii.view import look
from danlu.words.text import Text


def found(finder, text):
    return [text[item.start : item.end] for item in finder(look(Text(text)))]


def test_ibans_in_groups_and_rows():
    text = "GB29 NWBK 6016 1331 9268 19,DE89370400440532013000;FR14-2004-1010-0505-0001-3M02-606"
    assert found(accounts.ibans, text) == text.replace(";", ",").split(",")
    assert found(accounts.ibans, "GB29  NWBK 6016 1331 9268 19") == []
    assert found(accounts.ibans, "xGB29NWBK60161331926819 GB29NWBK60161331926819x") == []
    assert found(accounts.ibans, "中GB29NWBK60161331926819中") == ["GB29NWBK60161331926819"]


def test_cards_behind_other_numbers():
    assert found(accounts.credit_cards, "2021 4111 1111 1111 1111 2022") == ["4111 1111 1111 1111"]
    assert found(accounts.credit_cards, "4111 1111 1111 1112 4111 1111 1111 1111") == ["4111 1111 1111 1111"]
    assert found(accounts.credit_cards, "4111 1111-1111 1111") == []


def test_rare_lengths_need_a_word():
    number = "6228480402564890018"
    assert found(accounts.credit_cards, f"number {number}") == []
    assert found(accounts.credit_cards, f"bank card {number}") == [number]
    assert found(accounts.credit_cards, f"银行卡{number}") == [number]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Account number: 12345678.", ["12345678"]),
        ("Account number: 12345", []),
        ("Account number: 1234-5678-90", ["1234-5678-90"]),
        ("12345678", []),
        ("账号：123456789", []),
        ("账号：1234567890123", ["1234567890123"]),
        ("Sort Code: 123456", ["123456"]),
        ("routing no. 021000021", ["021000021"]),
        ("routing no. 121000021", []),
        ("BLZ: 37040044", ["37040044"]),
    ],
)
def test_words_make_accounts(text, expected):
    assert found(accounts.bank_accounts, text) == expected
