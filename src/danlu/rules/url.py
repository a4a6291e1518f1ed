"""Addresses: documents of adult, advertising, gambling and low-quality sites, by lists of domains and words.

Decides: RefinedWeb's URL filter (Penedo et al. 2023, section 3.1): a listed domain or anything under it, a listed
address, one hard word, several soft words, a part of a word in the address without its punctuation. Lists are files:
small ones of this package, and the user's. A registered domain is found without a network: one label before a
two-letter top domain's usual second level (co.uk, com.cn), before an entry of `lists/public_suffixes.txt` (some 140:
countries' other second levels, and hosts such as github.io), else before the last label; the Public Suffix List of
the browsers has some 10,000. Costs: a few microseconds a document; the lists are read once a process.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from danlu.extract.lines import read_lines
from danlu.rules.settings import Url
from danlu.words.text import Measured, Text

MEASURES: tuple[str, ...] = ("domain", "address", "hard_words", "soft_words", "word_parts")

_OWN = Path(__file__).with_name("lists")
_SCHEME = re.compile(r"^\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?//")
_WORD = re.compile(r"[^\W_]+")
_IP_ADDRESS = re.compile(r"[\d.]+|\[.*\]")
_SECOND_LEVELS = frozenset(
    (
        "co",
        "com",
        "net",
        "org",
        "edu",
        "gov",
        "ac",
        "go",
        "or",
        "ne",
        "mil",
        "gob",
        "gouv",
        "nom",
        "info",
        "biz",
    )
)


class Lists(NamedTuple):
    """What addresses are compared with; words and parts in lower case."""

    domains: frozenset[str]
    addresses: frozenset[str]
    hard_words: frozenset[str]
    soft_words: frozenset[str]
    parts: tuple[str, ...]


def measure(text: Text, settings: Url) -> Measured:
    """1 for a listed domain and for a listed address, else 0; how many hard words, soft words and parts are in it.

    Not a number for a document without an address. Raises MissingError or InputError for a list that cannot be read.
    """
    url = text.metadata.get("url", "").strip()
    if not url:
        return Measured(text, (math.nan,) * len(MEASURES))
    lists = read_lists(settings)
    words = set(_WORD.findall(unquote(url).lower()))
    squeezed = "".join(_WORD.findall(url.lower()))
    values = (
        *(float(is_listed(host_of(url), lists.domains)), float(_bare(url) in lists.addresses)),
        *(float(len(words & lists.hard_words)), float(len(words & lists.soft_words))),
        float(sum(part in squeezed for part in lists.parts)),
    )
    return Measured(text, values)


def decide(values: Sequence[float], settings: Url) -> str:
    """ "" keeps; else the first rule that is broken."""
    domain, address, hard, soft, parts = values
    if math.isnan(domain):
        return "missing" if settings.missing == "drop" else ""
    if domain > 0:
        return "domain"
    if address > 0:
        return "address"
    if hard > 0:
        return "hard_word"
    if soft >= settings.min_soft_words:
        return "soft_words"
    return "word_part" if parts > 0 else ""


def host_of(url: str) -> str:
    """The host of an address in lower case, without user, port and the last dot; "" where there is none."""
    rest = _SCHEME.sub("", url, count=1)
    host = re.split(r"[/?#\\\s]", rest, maxsplit=1)[0].rpartition("@")[2]
    end = "]" if host.startswith("[") else ""
    host = host.partition(end)[0] + end if end else host.partition(":")[0]
    return host.lower().strip(".")


def registered_domain(host: str) -> str:
    """The name that someone registered: "b.co.uk" of "www.a.b.co.uk"; an IP address, or a suffix itself, as it is."""
    if _IP_ADDRESS.fullmatch(host):
        return host
    labels = host.split(".")
    suffix = 1
    if len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVELS:
        suffix = 2
    for count in range(len(labels), suffix, -1):
        if ".".join(labels[-count:]) in _public_suffixes():
            suffix = count
            break
    return ".".join(labels[-suffix - 1 :])


def is_listed(host: str, domains: frozenset[str]) -> bool:
    """Whether a host, or a name above it down to the registered one, is in the list."""
    if not host:
        return False
    labels, registered = host.split("."), registered_domain(host).count(".") + 1
    return any(".".join(labels[start:]) in domains for start in range(len(labels) - registered + 1))


def read_lists(settings: Url) -> Lists:
    """The lists of these settings, read once a process."""
    return _read_lists(
        settings.own_lists,
        tuple(settings.domain_lists),
        tuple(settings.url_lists),
        tuple(settings.hard_word_lists),
        tuple(settings.soft_word_lists),
        tuple(settings.part_lists),
    )


def forget_files() -> None:
    """The lists are read anew by the next document: for a process that builds a second time."""
    _read_lists.cache_clear()


@cache
def _read_lists(own: bool, *paths: tuple[str, ...]) -> Lists:
    names = ("domains", None, "hard_words", "soft_words", "parts")
    domains, addresses, hard, soft, parts = (
        frozenset(
            entry
            for path in (*([_OWN / f"{name}.txt"] if own and name else []), *map(Path, mine))
            for entry in read_list(path)
        )
        for name, mine in zip(names, paths, strict=True)
    )
    return Lists(
        frozenset(host_of(entry) for entry in domains),
        frozenset(_bare(entry) for entry in addresses),
        frozenset(entry.lower() for entry in hard),
        frozenset(entry.lower() for entry in soft),
        tuple(sorted(squeezed for entry in parts if (squeezed := "".join(_WORD.findall(entry.lower()))))),
    )


def read_list(path: Path) -> list[str]:
    """The entries of a list: lines of UTF-8 without white space around them, but empty ones and comments."""
    return [entry for line in read_lines(path) if (entry := line.strip()) and not entry.startswith("#")]


def _bare(url: str) -> str:
    """An address as lists compare it: without its scheme, fragment and last slash, the host in lower case."""
    rest = _SCHEME.sub("", url.strip(), count=1).partition("#")[0]
    host, slash, path = rest.partition("/")
    return f"{host.lower()}{slash}{path}".rstrip("/")


@cache
def _public_suffixes() -> frozenset[str]:
    return frozenset(read_list(_OWN / "public_suffixes.txt"))
