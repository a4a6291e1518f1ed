"""English words exactly as spaCy 3.8's blank English splits them, without spaCy.

Guarantees: the words of datatrove 0.10.1's `split_into_words(text, "eng")` for every text that spaCy accepts (it
refuses lone surrogates; here they are characters like any other). Each chunk between spaces is cut on its own
(`english_chunks`), then neighbours that spell an exception (":" and ")") are joined again (`english_join`), as
spaCy's matcher does over the whole text. Costs: some 30 MB/s, the first document as the last: nothing is memorised.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from danlu.words.english_chunks import split_chunks
from danlu.words.english_join import join_exceptions
from danlu.words.english_rules import (
    PATTERN_FIRST,
    PATTERN_NEXT,
    Rules,
    hash_table,
    read_exceptions,
    read_rules,
)
from danlu.words.hashes import Codes, hash_span, join_hashes
from danlu.words.text import Words, encode


def split_english(codes: Codes) -> Words:
    """The words of a text."""
    rules = rules_of_english()
    starts, ends = split_chunks(codes, rules)
    return Words(*join_exceptions(codes, starts, ends, rules))


@cache
def rules_of_english() -> Rules:
    """The rules with the sequences of words to join: each exception as it is cut where it is not known as one."""
    rules = read_rules()
    blind = rules._replace(filter=np.zeros_like(rules.filter))
    known: dict[int, int] = {}
    for chunk in read_exceptions():
        codes = encode("".join(chunk))
        starts, ends = split_chunks(codes, blind)
        hashes = [
            int(hash_span(codes, int(start), int(end))) for start, end in zip(starts, ends, strict=True)
        ]
        if len(hashes) < 2:
            continue
        rules.flags[codes[0]] |= np.uint32(PATTERN_FIRST)
        rules.flags[codes[starts[1:]]] |= np.uint32(PATTERN_NEXT)
        value = hashes[0]
        for following in hashes[1:]:
            known.setdefault(value, 0)
            value = int(join_hashes(np.uint64(value), np.uint64(following)))
        known[value] = 1
    return rules._replace(sequences=hash_table(known))
