"""Chinese identity numbers, those of Hong Kong, Macau and Taiwan, and plates of cars.

Decides: the eighteen characters of an identity number are a region, a day and a check digit, which nothing else has;
the fifteen of the older ones, and Hong Kong's, Macau's and Taiwan's numbers, need a word before them where their form
is common. Companies' codes of eighteen characters are none. Guarantees: bounded work at each chain of digits; plates
are looked for where a province's sign stands before a capital. Costs: microseconds a chain.

Sources: GB 11643-1999, GB/T 2260 (provinces), GA 36-2018 (plates).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from danlu.pii import checksums
from danlu.pii.view import Item, View, search

_REGION_CODES = (
    "11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65 71 81 82 83"
)
_REGIONS = frozenset(_REGION_CODES.split())
_L, _R = r"(?<![A-Za-z0-9_.-])", r"(?![A-Za-z0-9_]|[.-]\d)"
_ID = re.compile(_L + r"\d{6}([ -]?)\d{8}\1\d{3}[0-9Xx]" + _R)
_OLD_ID = re.compile(_L + r"\d{15}" + _R)
_ID_WORD = re.compile(r"身份证|证件号|公民身份|\bid (?:card|number|no)|identity|resident")
_HONG_KONG = re.compile(r"(?<![A-Za-z0-9_])([A-Z]{1,2})(\d{6})\(([0-9A])\)")
_HONG_KONG_OPEN = re.compile(r"(?<![A-Za-z0-9_])([A-Z]{1,2})(\d{6})([0-9A])(?![A-Za-z0-9_])")
_HONG_KONG_WORD = re.compile(r"hkid|hong kong|香港|身份[证證]")
_MACAU = re.compile(_L + r"[157]\d{6}\([0-9]\)")
_MACAU_WORDS = ("澳门", "澳門", "macau", "macao")
_MACAU_WORD = re.compile("|".join(_MACAU_WORDS))
_TAIWAN = re.compile(r"(?<![A-Za-z0-9_-])[A-Z][1289]\d{8}(?![A-Za-z0-9_-])")
_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
_PLATE = re.compile(
    rf"[{_PROVINCES}][A-HJ-NP-Z][·•・ -]?(?=[A-HJ-NP-Z]{{0,4}}\d)"
    r"(?:[0-9A-HJ-NP-Z]{4}[挂学警港澳领]|[0-9A-HJ-NP-Z]{5,6})(?![A-Za-z0-9])"
)


def national_ids(view: View) -> Iterator[Item]:
    """Identity numbers of people in China, Hong Kong, Macau and Taiwan."""
    text, macanese = view.plain, view.mentions(_MACAU_WORDS)
    for chain in view.chains:
        start, end = max(0, chain.start - 3), min(chain.end + 3, len(text))
        before = view.before(chain.start)
        if chain.digits >= 15:
            for match in search(_ID, text, start, end, _is_id):
                yield Item(match.start(), match.end(), "national_id")
            if _ID_WORD.search(before):
                for match in search(_OLD_ID, text, start, end, _is_old_id):
                    yield Item(match.start(), match.end(), "national_id")
        if macanese and _MACAU_WORD.search(before) and (macau := _MACAU.match(text, chain.start, end)):
            yield Item(macau.start(), macau.end(), "national_id")
        if view.follows_capital(chain.start):
            forms = [(_HONG_KONG, _is_hong_kong), (_TAIWAN, _is_taiwan)]
            if _HONG_KONG_WORD.search(before):
                forms.append((_HONG_KONG_OPEN, _is_hong_kong))
            for form, valid in forms:
                for match in search(form, text, start, end, valid):
                    yield Item(match.start(), match.end(), "national_id")


def plates(view: View) -> Iterator[Item]:
    """Plates of cars, those of new energy too."""
    if not view.plain.isascii():
        for match in _PLATE.finditer(view.plain):
            yield Item(match.start(), match.end(), "licence_plate")


def _is_id(match: re.Match[str]) -> bool:
    number = match.group().replace(" ", "").replace("-", "")
    return number[:2] in _REGIONS and _is_day(number[6:14]) and checksums.chinese_id(number)


def _is_old_id(match: re.Match[str]) -> bool:
    return match.group()[:2] in _REGIONS and _is_day("19" + match.group()[6:12])


def _is_hong_kong(match: re.Match[str]) -> bool:
    return checksums.hong_kong_id(match[1], match[2] + match[3])


def _is_taiwan(match: re.Match[str]) -> bool:
    return checksums.taiwan_id(match.group())


def _is_day(digits: str) -> bool:
    """Whether a person may have been born on it."""
    year, month, day = int(digits[:4]), int(digits[4:6]), int(digits[6:])
    if not 1880 <= year <= 2099:
        return False
    try:
        datetime.date(year, month, day)
    except ValueError:
        return False
    return True
