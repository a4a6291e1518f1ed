"""Telephone numbers of the world written with `+`, and American, British, French, German and Chinese ones without.

Decides: a number with `+` or 00 has a country's code and as many digits as that country's numbers have. Without, its
form must be a country's own: groups, brackets and the leading 0. Other numbers, and forms that other numbers have too,
need a word such as "phone" or 电话 before them. Guarantees: bounded work at each digit group. Costs: microseconds a
chain. Where nothing says so, a number that is written as a telephone number is taken for one.

Sources: ITU-T E.164 and its list of country codes; the numbering plans of NANPA, Ofcom, ARCEP and the
Bundesnetzagentur; China's by the MIIT's ranges for mobile numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from danlu.pii.view import Chain, Item, View, digits_of, search

_COUNTRIES = (
    "1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 "
    "84 86 90 91 92 93 94 95 98 211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 "
    "235 236 237 238 239 240 241 242 243 244 245 246 247 248 249 250 251 252 253 254 255 256 257 258 260 261 262 "
    "263 264 265 266 267 268 269 290 291 297 298 299 350 351 352 353 354 355 356 357 358 359 370 371 372 373 374 "
    "375 376 377 378 380 381 382 383 385 386 387 389 420 421 423 500 501 502 503 504 505 506 507 508 509 590 591 "
    "592 593 594 595 596 597 598 599 670 672 673 674 675 676 677 678 679 680 681 682 683 685 686 687 688 689 690 "
    "691 692 850 852 853 855 856 880 886 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 977 992 "
    "993 994 995 996 998"
)
_CODES = frozenset(_COUNTRIES.split())
_NATIONAL = {
    "1": r"[2-9]\d{9}",
    "7": r"[3-9]\d{9}",
    "33": r"0?[1-9]\d{8}",
    "44": r"0?[1-37-9]\d{8,9}",
    "49": r"0?[1-9]\d{5,11}",
    "86": r"1[3-9]\d{9}|0?(?:10|2\d|[3-9]\d\d)[2-8]\d{6,7}",
    "39": r"\d{6,11}",
    "852": r"[2-9]\d{7}",
    "853": r"[2-9]\d{7}",
}
"""Country code -> its national numbers; others have 6 to 12 digits without a leading 0."""
_ELSEWHERE = r"0?[1-9]\d{5,11}"
_LONGEST = 15
_WIDEST = 28

_ABROAD = re.compile(r"\+|00")
_TRUNK = re.compile(r"(?<!\d)0[1-9]")
_L = r"(?<![A-Za-z0-9_=$€£¥#\\-])(?<!\d[.,:])(?<!\D/)"
_R = r"(?![A-Za-z0-9_@%])(?![-.,:]\d)(?!/[A-Za-z])"
_EXTENSION = r"(?:,? ?(?:x|ext\.?|extension|#|转) ?\d{1,5})?"
_AMERICAN = re.compile(
    rf"{_L}(?:\+?1[-. ])?((?:\([2-9]\d\d\) ?-?|[2-9]\d\d[-. ])\d{{3}}[-. ]\d{{4}}){_EXTENSION}{_R}",
    re.IGNORECASE,
)
_FRENCH = re.compile(_L + r"0[1-9]([ .-]?)\d\d(?:\1\d\d){3}" + _R + r"(?! \d\d(?!\d))")
_BRITISH = re.compile(
    _L + r"(?:\(0(?:2\d|1\d1|11\d|1\d{3})\)|0(?:2[03489]|1\d1|11\d|1\d{3}|7[1-57-9]\d\d|[38]\d\d))"
    r"(?: |-)\d{3,4}(?:[ -]\d{3,4}|\d{2,3})?" + _R
)
_BRITISH_MOBILE = re.compile(_L + r"07[1-57-9]\d{8}" + _R)
_GERMAN = re.compile(_L + r"(?:\(0[1-9]\d{1,3}\)|0[1-9]\d{1,3})(?: ?/ ?|-| )\d{3,8}(?:[ -]\d{1,5}){0,2}" + _R)
_MOBILE = r"1(?:3\d|4[5-9]|5[0-35-9]|6[2567]|7[0-8]|8\d|9[0-35-9])"
_CHINESE_MOBILE = re.compile(rf"{_L}{_MOBILE}(?:\d{{8}}|([ -])\d{{4}}\1\d{{4}}){_R}")
_CHINESE = re.compile(
    rf"{_L}(?:\(0(?:10|2\d|[3-9]\d\d)\)[- ]?|0(?:10|2\d|[3-9]\d\d)[- ])"
    rf"[2-8](?:\d{{6,7}}|\d{{2,3}}[- ]\d{{4}})(?:-\d{{1,5}}|{_EXTENSION}){_R}"
)
_CHINESE_SERVICE = re.compile(rf"{_L}[48]00(?:-\d{{3}}-\d{{4}}|-\d{{4}}-\d{{3}}|-\d{{7}}){_R}")
_LABEL = re.compile(
    r"(?:\btel|\bphone|telephone|\bmobile|\bcell|\bcellphone|\bfax|whatsapp|hotline|telefon|\bhandy|rufnummer|"
    r"téléphone|\btél|portable|电话|手机|手机号|座机|传真|热线|联系方式|微信同号)"
    r"(?:号码?)?(?: ?(?:number|no|nr|num|us|line|#)\b)?[.):]{0,2}(?: at| on| is| was|是|为)?[.:]? {0,3}\Z"
)
_DATE = re.compile(
    r"(?:19|20)\d\d([-./])\d\d?\1\d\d?(?:[ /-].{0,20})?|\d\d?([-./])\d\d?\2(?:19|20)\d\d(?: .{0,20})?"
)
_CALL = re.compile(
    r"(?:\bcall(?: (?:me|us|him|her))?|\btext(?: me| us)?|致电|拨打|来电)(?: at| on)?:? {0,2}\Z"
)
_WORD = re.compile(
    r"tel|phone|mobile|\bcell|\bfax|call|contact|whatsapp|wechat|\btext|dial|reach|电话|手机|传真|联系|致电|拨打|微信|热线"
)
_UNIT = re.compile(r" ?(?:bytes?|[kmg]i?b\b|ms\b|usd|eur|元|个|人|次|字节|km\b|years?|points?|steps?|%)")


def phones(view: View) -> Iterator[Item]:
    """All forms; a number may be found by several, which then overlap."""
    chinese = not view.plain.isascii() and _has_han(view.plain)
    for chain in view.chains:
        if chain.digits >= 7:
            for start, end in _in_chain(view, chain, chinese):
                if not _DATE.fullmatch(view.plain, start, end):
                    yield Item(start, end, "phone")


def _in_chain(view: View, chain: Chain, chinese: bool) -> Iterator[tuple[int, int]]:
    text, end = view.plain, min(chain.end + 12, len(view.plain))
    start = max(0, chain.start - 2)
    yield from _international(text, start, chain.end)
    if spoken := _behind_label(view, chain):
        yield spoken
    if _TRUNK.search(text, chain.start, chain.end):
        yield from _with_trunk_zero(view, start, end)
    if chain.digits >= 10:
        yield from _american(view, start, end)
        for match in search(_CHINESE_MOBILE, text, start, end, _any):
            before = view.before(match.start())
            if (chinese or match.group(1) or _WORD.search(before)) and not _UNIT.match(
                view.lower, match.end()
            ):
                yield match.span()
        for match in search(_CHINESE_SERVICE, text, start, end, _any):
            yield match.span()


def _american(view: View, start: int, end: int) -> Iterator[tuple[int, int]]:
    def valid(match: re.Match[str]) -> bool:
        marked = "(" in match[1] or match[1].count(" ") < 2
        return (marked or bool(_WORD.search(view.before(match.start())))) and _varied(match[1])

    for match in search(_AMERICAN, view.plain, start, end, valid):
        yield match.span()


def _with_trunk_zero(view: View, start: int, end: int) -> Iterator[tuple[int, int]]:
    """British, French, German and Chinese numbers with the 0 that is dialled inside the country."""

    def known(match: re.Match[str]) -> bool:
        return bool(_WORD.search(view.before(match.start())))

    def french(match: re.Match[str]) -> bool:
        digits = digits_of(match.group())
        steps = {int(digits[at + 2 : at + 4]) - int(digits[at : at + 2]) for at in range(0, 8, 2)}
        return len(steps) > 1 and (bool(match.group(1)) or digits[1] in "67" or known(match))

    def german(match: re.Match[str]) -> bool:
        return 9 <= len(digits_of(match.group())) <= 12 and (
            match.group().replace(" / ", "/").count(" ") < 2 or known(match)
        )

    def british(match: re.Match[str]) -> bool:
        return 10 <= len(digits_of(match.group())) <= 11

    def always(match: re.Match[str]) -> bool:
        return _varied(match.group())

    forms = (
        (_FRENCH, french),
        (_BRITISH, british),
        (_BRITISH_MOBILE, always),
        (_GERMAN, german),
        (_CHINESE, always),
    )
    for pattern, valid in forms:
        for match in search(pattern, view.plain, start, end, valid):
            yield match.span()


def _international(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    while sign := _ABROAD.search(text, at, end):
        at = sign.start()
        begin = at - 1 if at and text[at - 1] == "(" else at
        before = text[begin - 1 : begin]
        apart = not (before.isascii() and (before.isalnum() or before in "_=).,+-/") and before)
        # "2 + 4412345678" is a sum.
        added = before == " " and text[sign.end() : sign.end() + 1] == " "
        stop = _walk(text, sign.end()) if apart and not added else 0
        if stop:
            yield begin, stop
        at = stop or at + 1


def _walk(text: str, at: int) -> int:
    """Where the longest number from here ends that is one of its country's; 0 where there is none."""
    digits, gap, last, best = "", 0, 0, 0
    for place in range(at, min(at + _WIDEST, len(text))):
        character = text[place]
        if "0" <= character <= "9":
            digits, last, gap = digits + character, 1 if gap else last + 1, 0
            following = text[place + 1 : place + 2]
            if len(digits) > _LONGEST + 1:
                break
            whole = last > 1 and not ("0" <= following <= "9") and _ends(text, place + 1)
            if whole and _is_national(digits):
                best = place + 1
        elif character in " -./()" and gap < 3:
            gap += 1
        else:
            break
    # A single point is a decimal's.
    return 0 if re.fullmatch(r"\d{1,15}\.\d{1,15}", text[at:best]) else best


def _ends(text: str, end: int) -> bool:
    following, then = text[end : end + 1], text[end + 1 : end + 2]
    if following.isascii() and (following.isalnum() or following in "_@%") and following:
        return False
    return not (following in (",", ":", ".") and then.isdigit())


def _is_national(digits: str) -> bool:
    for length in (1, 2, 3):
        code, number = digits[:length], digits[length:]
        if code in _CODES:
            form = _NATIONAL.get(code, _ELSEWHERE)
            return bool(re.fullmatch(form, number)) and not number.endswith("0000000")
    return False


def _behind_label(view: View, chain: Chain) -> tuple[int, int] | None:
    """A number of 7 to 13 digits right behind a word for telephones."""
    begin = chain.start - 1 if view.plain[chain.start - 1 : chain.start] == "(" else chain.start
    before = view.before(begin, 24)
    label, call = _LABEL.search(before), _CALL.search(before)
    if not (label or call):
        return None
    digits, gap, best, marked = 0, 0, 0, False
    for place in range(begin, min(begin + _WIDEST, len(view.plain))):
        character = view.plain[place]
        if "0" <= character <= "9":
            digits, gap = digits + 1, 0
            if (
                7 <= digits <= 13
                and not view.plain[place + 1 : place + 2].isdigit()
                and _ends(view.plain, place + 1)
            ):
                best = place + 1
        elif character in " -./()" and gap < 2:
            gap, marked = gap + 1, marked or character in "-()"
        else:
            break
    unit = best and _UNIT.match(view.lower, best)
    return (begin, best) if best and not unit and (label or marked) else None


def _any(_: re.Match[str]) -> bool:
    return True


def _varied(number: str) -> bool:
    """Whether it is no row of one digit."""
    return len(set(digits_of(number)[2:])) > 1


def _has_han(text: str) -> bool:
    return _HAN.search(text) is not None


_HAN = re.compile("[\u4e00-\u9fff]")
