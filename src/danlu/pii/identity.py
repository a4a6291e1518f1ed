"""Numbers that states give to people: tax and insurance numbers, health numbers, passports, plates of cars.

Decides: an American social security number by its form and the ranges that were never given out; British, German,
French, Spanish and Italian numbers by their check digits; what is nine or ten plain digits, and every passport, needs a
word before it. Chinese ones are in `chinese.py`. Guarantees: bounded work around each chain of digits and token.
Costs: microseconds a chain.

Sources: SSA POMS RM 10201.035; HMRC NIM39110; the issuing offices' descriptions of check digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from danlu.pii import checksums
from danlu.pii.settings import Kind
from danlu.pii.view import Chain, Item, View, search

_L, _R = r"(?<![A-Za-z0-9_.,/#$-])", r"(?![A-Za-z0-9_]|[.,-]\d)"
_SSN = re.compile(_L + r"(?!000|666|9)\d{3}([ -]?)(?!00)\d\d\1(?!0000)\d{4}" + _R)
_SSN_WORD = re.compile(r"\bssn\b|social ?security|\bss ?#")
_SSN_PUBLISHED = frozenset({"078051120", "219099999", "123456789", "111111111", "222222222", "333333333"})
"""Printed on wallets and in advertisements, or made up."""
_NINO = re.compile(
    r"(?<![A-Za-z0-9_])(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]( ?)\d\d( ?)\d\d\2\d\d\1[A-D]"
    r"(?![A-Za-z0-9_])"
)
_NHS = re.compile(_L + r"\d{3}([ -]?)\d{3}\1\d{4}" + _R)
_NHS_WORD = re.compile(r"\bnhs\b")
_TAX_ID = re.compile(_L + r"\d{2} ?\d{3} ?\d{3} ?\d{3}" + _R)
_TAX_WORD = re.compile(r"steuer|idnr|tax id|\btin\b|identifikationsnummer")
_NIR = re.compile(_L + r"[12]( ?)\d\d\1(?:0[1-9]|1[0-2]|[2-9]\d)\1\d\d\1\d{3}\1\d{3} ?\d\d" + _R)
_SPANISH = re.compile(r"(?<![A-Za-z0-9_.,+-])(?:[XYZ]-?\d{7}|\d{8})-?[A-Z](?![A-Za-z0-9_-])")
_ITALIAN = re.compile(r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]\Z")
_PASSPORT_WORD = re.compile(
    r"(?:passport|reisepass|passeport|pasaporte)(?: ?-?(?:number|num|nr|no|numéro|nummer|#))?"
    r"[.:#) ]{0,3}(?:is:? ?|was ?)?\Z"
    r"|护照(?:号码|编号|号)?(?:是|为)?[: ]{0,3}\Z"
)
_PASSPORTS = ("passport", "reisepass", "passeport", "pasaporte", "护照")
_PASSPORT = re.compile(r"(?=[A-Z]{0,2}\d)[A-Z]{0,2}\d{6,9}[A-Z]?(?![A-Za-z0-9_])")
_PLATE_WORD = re.compile(
    r"(?:licen[cs]e plate|number plate|vehicle registration|kennzeichen|plate)(?: ?(?:number|no|is|reads|nr))?"
    r"[.:# ]{0,3}(?:is ?|reads ?)?[\"']?([a-z]{1,3}[ -]?[a-z]{0,2} ?\d{1,4}(?: ?[a-z]{1,3})?|"
    r"\d{1,3}[ -]?[a-z]{2,3}(?:[ -]?\d{1,4})?)"
    r"(?![a-z0-9_-])"
)

Valid = Callable[[re.Match[str], View], bool]


def _ssn(match: re.Match[str], view: View) -> bool:
    digits = _bare(match)
    if digits in _SSN_PUBLISHED:
        return False
    return match.group(1) == "-" or bool(_SSN_WORD.search(view.before(match.start())))


def _nhs(match: re.Match[str], view: View) -> bool:
    return checksums.nhs_number(_bare(match)) and bool(_NHS_WORD.search(view.before(match.start())))


def _tax_id(match: re.Match[str], view: View) -> bool:
    return checksums.german_tax_id(_bare(match)) and bool(_TAX_WORD.search(view.before(match.start())))


def _is_spanish(match: re.Match[str]) -> bool:
    return checksums.spanish_id(_bare(match))


_FORMS: tuple[tuple[re.Pattern[str], int, Valid], ...] = (
    (_SSN, 9, _ssn),
    (_NHS, 10, _nhs),
    (_TAX_ID, 11, _tax_id),
    (_NIR, 13, lambda match, _view: checksums.french_nir(_bare(match))),
)
"""Pattern, the least digits of a chain that it can be in, what else must hold."""


def national_ids(view: View) -> Iterator[Item]:
    """Tax, insurance and identity numbers of America and Europe."""
    for chain in view.chains:
        start, end = _around(view, chain)
        for pattern, digits, valid in _FORMS:
            if chain.digits >= digits:
                for match in search(pattern, view.plain, start, end, lambda match: valid(match, view)):  # noqa: B023
                    yield Item(match.start(), match.end(), "national_id")
        if view.follows_capital(chain.start) and (nino := _NINO.search(view.plain, start, end)):
            yield Item(nino.start(), nino.end(), "national_id")
        if view.precedes_capital(chain.end):
            for match in search(_SPANISH, view.plain, start, end, _is_spanish):
                yield Item(match.start(), match.end(), "national_id")
    for start, end in view.tokens:
        italian = end - start == 16 and _ITALIAN.match(view.plain, start, end)
        if italian and checksums.italian_tax_code(view.plain[start:end]):
            yield Item(start, end, "national_id")


def passports(view: View) -> Iterator[Item]:
    """Six to nine digits, one or two letters before them, behind a word for a passport."""
    for chain in view.chains if view.mentions(_PASSPORTS) else ():
        start = chain.start
        while (
            start > chain.start - 2
            and view.plain[start - 1 : start].isalpha()
            and view.plain[start - 1].isascii()
        ):
            start -= 1
        match = _PASSPORT.match(view.plain, start)
        if match and _PASSPORT_WORD.search(view.before(start)):
            yield Item(start, match.end(), "passport")


def plates(view: View) -> Iterator[Item]:
    """A car's plate behind a word for one."""
    for word in ("plate", "vehicle registration", "kennzeichen"):
        at = view.lower.find(word)
        while at >= 0:
            match = _PLATE_WORD.match(view.lower, at)
            if match and view.plain[match.start(1) : match.end(1)].isupper():
                kind: Kind = "licence_plate"
                yield Item(match.start(1), match.end(1), kind)
            at = view.lower.find(word, at + len(word))


def _around(view: View, chain: Chain) -> tuple[int, int]:
    return max(0, chain.start - 4), min(chain.end + 3, len(view.plain))


def _bare(match: re.Match[str]) -> str:
    return match.group().replace(" ", "").replace("-", "")
