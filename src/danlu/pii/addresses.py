"""E-mail addresses, IP addresses, and names and passwords written into URLs.

Decides: an e-mail address ends in a top-level domain of countries or a common one, so that `icon@2x.png` and matrix
products in code are none; `[at]` and `(at)` are read as `@`. IP addresses are global ones: what every network has of
its own (10.0.0.1, fe80::1) is no one's, four numbers behind "version" or "section" are none, nor are those of fewer
than six digits (1.2.3.4); those without a part of three need a word of networks before them. Guarantees:
work is linear: each `@`, `://` or `:` is looked at with patterns of bounded length. Costs: little where these are rare.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from danlu.pii.view import Item, View, search

_COUNTRIES = (
    "ac ad ae af ag ai al am ao ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cc cd cf "
    "cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gd ge gf "
    "gg gh gi gl gm gn gp gq gr gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km "
    "kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my "
    "mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd "
    "se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy "
    "uz va vc ve vg vi vn vu wf ws ye yt za zm zw"
)
_GENERIC = (
    "academy agency ai app art asia bank berlin bike biz blog cafe capital care cat center church city click clinic "
    "cloud club codes coffee com community company computer consulting coop cx dental design dev digital direct "
    "directory doctor earth edu education email energy engineer engineering events example expert family farm finance "
    "fit foundation fun fund fyi gallery games global gmbh gov group guide guru health help hospital hotel house info "
    "ink institute int international invalid jobs kim land law legal life link live llc london ltd management "
    "marketing media mil mobi money museum name net network news ngo ninja office one ong online org page paris "
    "partners photo photography plus post press pro properties pub pw red rest school science services shop site "
    "social software solutions space store studio support systems team tech technology tel test today tools top "
    "tours town trade training travel university ventures vip wang wiki work works world xin xyz zone"
)
TOP_LEVEL = frozenset(f"{_COUNTRIES} {_GENERIC}".split())
"""Last parts of domains that an e-mail address may have; `xn--` and other alphabets besides."""
_BEFORE_A_SENTENCE = frozenset({"com", "net", "org", "edu", "gov", "cn", "uk", "de", "fr"})

_LETTERS = "A-Za-z0-9\u00c0-\u024f\u0370-\u03ff\u0400-\u052f"
_LOCAL = re.compile(rf"[{_LETTERS}._%+'-]{{1,64}}\Z")
_DOMAIN = re.compile(rf"[{_LETTERS}-]{{1,63}}(?:\.[{_LETTERS}-]{{1,63}}){{1,8}}")
_WRITTEN_AT = re.compile(r"[\[(] ?at ?[\])] ?")
_WRITTEN_DOMAIN = re.compile(
    r"[A-Za-z0-9-]{1,63}(?:(?:\.| ?[\[(] ?(?:dot|punkt) ?[\])] ?| dot )[A-Za-z0-9-]{1,63}){1,5}"
)
_WRITTEN_DOT = re.compile(r"\.| ?[\[(] ?(?:dot|punkt) ?[\])] ?| dot ")
_CREDENTIALS = re.compile(r"[^\s/:@?#\"'<>`]{1,64}:[^\s/@\"'<>`]{1,96}(?=@[^\s@/]{1,255})")
_IN_URL = re.compile(r"://(?:[^\s/@:]{1,64}:)?\Z")
_HOLDER = re.compile(
    r"[<\[{$*%]|(?:user(?:name)?|login|name):(?:pass(?:word|wd)?|pw|pwd|secret)\Z", re.IGNORECASE
)
"""What documentation writes for a name and a password."""
_IPV4 = re.compile(r"(?<![A-Za-z0-9_.+-])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![A-Za-z0-9_]|\.\d|-\d)")
_NOT_NETWORK = re.compile(
    r"(?:version|\bver\b|\brev|release|build|section|\bsec\b|chapter|figure|\bfig\b|table|appendix|oid|firmware|"
    r"upgrade[sd]? to|版本|固件|章|节|第|§)[^\n]{0,12}\Z|\bv\.? ?\Z|[a-z]/\Z"
)
_NETWORK = re.compile(
    r"\bips?\b|ipv4|addr|server|host|\bdns|ping|route|gateway|subnet|client|http|服务器|地址|主机"
)
_HEX = frozenset("0123456789abcdefABCDEF:.")
_IPV6_LONGEST = 39


def emails(view: View) -> Iterator[Item]:
    """E-mail addresses, those with a written `[at]` too."""
    text, at = view.plain, view.plain.find("@")
    while at >= 0:
        local = _LOCAL.search(text, max(0, at - 64), at)
        domain = _DOMAIN.match(text, at + 1)
        if local and domain:
            start, end = _trim_local(text, local.start()), _domain_end(domain.group(), at + 1)
            # git@host:path is where code lies, and what stands before the host of a URL logs in there.
            code = text[start:at] == "git" and text[end : end + 1] in (":", "/")
            if start < at and end and not code and not _IN_URL.search(text, max(0, start - 70), start):
                yield Item(start, end, "email")
        at = text.find("@", at + 1)
    yield from _written(view)


def _trim_local(text: str, start: int) -> int:
    while text[start] in ".'-%+":
        start += 1
    return start


def _domain_end(domain: str, start: int) -> int:
    """Where the longest beginning that ends in a top-level domain ends; 0 where there is none."""
    parts = domain.split(".")
    while len(parts) > 1:
        last = parts[-1].lower()
        known = last in TOP_LEVEL or last.startswith("xn--") or (not last.isascii() and len(last) > 1)
        if known and not any(part.startswith("-") or part.endswith("-") for part in parts):
            return start + len(".".join(parts))
        parts.pop()
        # "a@b.com.The" has lost a space, but "a@x.c.shape" is code.
        if parts[-1].lower() not in _BEFORE_A_SENTENCE:
            return 0
    return 0


def _written(view: View) -> Iterator[Item]:
    for opening in ("[at", "[ at", "(at", "( at"):
        at = view.lower.find(opening)
        while at >= 0:
            sign, end = _WRITTEN_AT.match(view.lower, at), at - view.plain.startswith(" ", at - 1)
            local = sign and _LOCAL.search(view.plain, max(0, end - 64), end)
            domain = sign and _WRITTEN_DOMAIN.match(view.lower, sign.end())
            if local and domain and _WRITTEN_DOT.split(domain.group())[-1] in TOP_LEVEL:
                start = _trim_local(view.plain, local.start())
                if start < end:
                    yield Item(start, domain.end(), "email")
            at = view.lower.find(opening, at + 1)


def url_credentials(view: View) -> Iterator[Item]:
    """`name:password` of `scheme://name:password@host`."""
    text, at = view.plain, view.plain.find("://")
    while at >= 0:
        match = _CREDENTIALS.match(text, at + 3)
        if match and not _HOLDER.search(match.group()):
            yield Item(match.start(), match.end(), "url_credentials")
        at = text.find("://", at + 3)


def ip_addresses(view: View) -> Iterator[Item]:
    """Global addresses of both versions."""

    def valid(match: re.Match[str]) -> bool:
        return _is_global(match.group()) and _is_address(view, match)

    for chain in view.chains:
        for match in search(_IPV4, view.plain, chain.start, min(chain.end + 3, len(view.plain)), valid):
            yield Item(match.start(), match.end(), "ip")
    yield from _ipv6(view)


def _is_address(view: View, match: re.Match[str]) -> bool:
    before = view.before(match.start())
    if before.endswith(("://", "@")):
        return True
    # Of addresses one in fifty has no part of three digits; of results of matches and headings, most.
    small = all(len(part) <= 2 for part in match.group().split("."))
    return not _NOT_NETWORK.search(before) and (not small or bool(_NETWORK.search(before)))


def _ipv6(view: View) -> Iterator[Item]:
    text, at = view.plain, view.plain.find(":")
    while at >= 0:
        if text[at + 1 : at + 2] not in _HEX:
            at = text.find(":", at + 1)
            continue
        start = end = at
        while start > 0 and text[start - 1] in _HEX and at - start < _IPV6_LONGEST:
            start -= 1
        while end < len(text) and text[end] in _HEX and end - at < _IPV6_LONGEST + 1:
            end += 1
        word = text[start:end].rstrip(".")
        word = word[:-1] if word.endswith(":") and not word.endswith("::") else word
        alone = not _is_word(text[start - 1 : start]) and not _is_word(text[end : end + 1])
        if alone and word.count(":") >= 2 and _is_global(word):
            yield Item(start, start + len(word), "ip")
        at = text.find(":", end)


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


def _is_global(word: str) -> bool:
    try:
        address = ipaddress.ip_address(word)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return address.ipv4_mapped.is_global
        # What is allotted; a::b, which names of code look like, lies outside.
        return address.is_global and word[:1] in "23" and len(word.partition(":")[0]) == 4
    return address.is_global and not address.is_multicast
