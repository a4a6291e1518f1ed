"""Money: IBANs, payment cards, and accounts that a word says are some.

Decides: an IBAN and a card stand by their check digits, lengths and prefixes alone; an account number has none that
holds everywhere and must stand behind a word such as "account no". Guarantees: bounded work around each chain of
digits. Costs: microseconds a chain.

Source: ISO/IEC 7812-1 and the issuers' published ranges of prefixes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from danlu.pii import checksums
from danlu.pii.view import Chain, Item, View, digits_of, search

_CARD = re.compile(
    r"(?<![A-Za-z0-9_.,/#-])(?:\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|3[47]\d\d([ -])\d{6}\2\d{5}|"
    r"3[068]\d\d([ -])\d{6}\3\d{4}|\d{14,19})(?![A-Za-z0-9_]|[.,-]\d)"
)
_CARD_FORMS = (
    (re.compile(r"4"), (16, 19)),
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),
    (re.compile(r"3[47]"), (15,)),
    (re.compile(r"6011|64[4-9]|65"), (16, 19)),
    (re.compile(r"35(?:2[89]|[3-8])"), (16,)),
    (re.compile(r"30[0-5]|36|38"), (14,)),
    (re.compile(r"62|81"), (16, 17, 18, 19)),
)
"""Prefix and lengths: Visa, Mastercard, American Express, Discover, JCB, Diners Club, UnionPay."""
_CARD_WORD = re.compile(r"card|visa|master|amex|\bcc\b|karte|carte|卡")
_ACCOUNT_WORD = re.compile(
    r"(?:\baccount|\bacct|\ba/c|kontonummer|\bkonto|numéro de compte)"
    r"(?: ?(?:number|num|nr|no|#)\b)?[.:#) ]{0,3}(?: ?is:? ?| ?- ?)?\Z"
    r"|(?:银行账号|银行帐号|银行账户|银行帐户|银行卡号?|储蓄卡号?|信用卡号?|借记卡号?|收款账[号户]|"
    r"账号|帐号|卡号|账户)(?:是|为|码)?[: ]{0,3}\Z"
)
_ACCOUNT = re.compile(r"\d{4,19}(?:[ -]\d{2,8}){0,5}(?![A-Za-z0-9_@]|[.,]\d)")
_CODE_WORD = re.compile(
    r"(?:(?P<sort>sort ?code)|(?P<routing>\brouting|\baba|\brtn)|(?P<bank>bankleitzahl|\bblz))"
    r"(?: ?\(?(?:number|num|nr|no|rtn|aba)\b\)?)?[.:# ]{0,3}(?:is ?)?\Z"
)
_STEMS = "account acct a/c konto compte sort routing aba rtn bankleitzahl blz 银行 账 帐 卡"
_MENTIONED = tuple(_STEMS.split())
"""Without one of these in a text it has no such word."""
_LEAST_ACCOUNT, _LEAST_CHINESE, _MOST_ACCOUNT = 6, 10, 19


def ibans(view: View) -> Iterator[Item]:
    """International account numbers, in groups or without."""
    for start in view.ibans:
        if start and view.plain[start - 1].isascii() and view.plain[start - 1].isalnum():
            continue
        end = _iban_end(view.plain, start, checksums.IBAN_LENGTHS.get(view.plain[start : start + 2], 0))
        if end:
            yield Item(start, end, "iban")


def _iban_end(text: str, start: int, length: int) -> int:
    """Where an IBAN of so many characters ends; 0 where there is none."""
    characters, at = "", start
    while at < len(text) and len(characters) < length:
        if text[at] not in " -":
            characters += text[at]
        elif not characters or text[at - 1] in " -":
            return 0
        at += 1
    following = text[at : at + 1]
    whole = not (following.isascii() and following.isalnum())
    return at if length and whole and checksums.iban(characters) else 0


def credit_cards(view: View) -> Iterator[Item]:
    """Payment cards by prefix, length and Luhn's digit."""

    def valid(match: re.Match[str]) -> bool:
        digits = digits_of(match.group())
        fits = any(prefix.match(digits) and len(digits) in lengths for prefix, lengths in _CARD_FORMS)
        if not fits or len(set(digits)) < 2 or not checksums.luhn(digits):
            return False
        # Any number has Luhn's digit once in ten: rarer lengths without groups need a word.
        usual = len(digits) in (15, 16) or not match.group().isdigit()
        return usual or bool(_CARD_WORD.search(view.before(match.start())))

    for chain in view.chains:
        if chain.digits >= 14:
            for match in search(_CARD, view.plain, chain.start, min(chain.end + 2, len(view.plain)), valid):
                yield Item(match.start(), match.end(), "credit_card")


def bank_accounts(view: View) -> Iterator[Item]:
    """Account numbers, sort codes and routing numbers behind a word that says so."""
    for chain in view.chains if view.mentions(_MENTIONED) else ():
        before = view.before(chain.start)
        if match := _ACCOUNT_WORD.search(before):
            least = _LEAST_ACCOUNT if match.group()[0].isascii() else _LEAST_CHINESE
            account = _ACCOUNT.match(view.plain, chain.start, min(chain.end + 2, len(view.plain)))
            if account and least <= len(digits_of(account.group())) <= _MOST_ACCOUNT:
                yield Item(account.start(), account.end(), "bank_account")
        elif code := _CODE_WORD.search(before):
            yield from _bank_codes(view, chain, str(code.lastgroup))


_CODES = {
    "sort": re.compile(r"\d\d([ -]?)\d\d\1\d\d(?!\d)"),
    "routing": re.compile(r"\d{9}(?!\d)"),
    "bank": re.compile(r"\d{3} ?\d{3} ?\d{2}(?!\d)"),
}


def _bank_codes(view: View, chain: Chain, kind: str) -> Iterator[Item]:
    match = _CODES[kind].match(view.plain, chain.start)
    if match and (kind != "routing" or checksums.routing_number(match.group())):
        yield Item(match.start(), match.end(), "bank_account")
