"""Cutting, and who is alive."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.dedup.contract import Alive, apply_cuts, open_signer, read_outcome, resolve, suggest_ranges
from danlu.dedup.settings import Boilerplate, Exact, MinHash, Substrings
from danlu.words.text import Text
from dedup_rounds import in_order


@pytest.mark.parametrize(
    ("text", "cuts", "left"),
    [
        ("one two three", [], "one two three"),
        (" keeps its space ", [], " keeps its space "),
        ("one two three", [(4, 7)], "one three"),
        ("one two three", [(0, 3)], "two three"),
        ("one two three", [(8, 13)], "one two"),
        ("one two three", [(0, 13)], ""),
        ("a\n\nGONE\n\nb", [(3, 7)], "a\n\nb"),
        ("a GONE\n\nb", [(2, 6)], "a\n\nb"),
        ("a\n\nGONE b", [(3, 7)], "a\n\nb"),
        ("a\nG\nH\n\nb", [(2, 3), (4, 5)], "a\n\nb"),
        ("一二三四", [(1, 3)], "一四"),
        ("a\r\nG\r\nb", [(3, 4)], "a\r\nb"),
    ],
)
def test_cuts_leave_words_and_paragraphs_apart(text, cuts, left):
    assert apply_cuts(text, cuts) == left


@given(st.text(alphabet="ab \n一😀"), st.sets(st.integers(0, 40), max_size=8))
def test_only_what_is_cut_and_white_space_goes(text, bounds):
    bounds = sorted(min(bound, len(text)) for bound in bounds)
    cuts = [(start, end) for start, end in zip(bounds[::2], bounds[1::2], strict=False) if start < end]
    kept = "".join(c for i, c in enumerate(text) if not any(start <= i < end for start, end in cuts))
    assert "".join(apply_cuts(text, cuts).split()) == "".join(kept.split())


def test_ranges_grow_with_the_corpus():
    for settings in (Exact(), Exact(unit="line"), MinHash(), Substrings(), Boilerplate()):
        assert suggest_ranges(settings, 0) == suggest_ranges(settings, 1000) == 1
        assert suggest_ranges(settings, 10**14) > 10**4
    assert suggest_ranges(MinHash(), (4 << 30) + 1) == 2


def test_what_an_earlier_step_dropped_is_not_compared(deduplicate):
    words = [left + right for left in "abcdefghijklmno" for right in "abcdefghijklmnopqrst"]
    shards = [[" ".join(words), "other"], [" ".join(words), " ".join(["new", *words])]]
    first = deduplicate(Exact(), shards)
    assert first.dropped() == [False, False, True, False]
    both = deduplicate(MinHash(), shards)
    assert both.dropped() == [False, False, True, True]
    after = deduplicate(MinHash(), shards, alive=Alive((first.work,)))
    assert after.dropped() == [False, False, False, True]
    alone = deduplicate(Substrings(min_words=5), [[" ".join(words)], [" ".join(words)]])
    assert alone.texts() == [" ".join(words), ""]
    gone = deduplicate(Exact(), [[" ".join(words)], [" ".join(words)]])
    assert (
        deduplicate(
            Substrings(min_words=5), [[" ".join(words)], [" ".join(words)]], alive=Alive((gone.work,))
        ).texts()
        == [" ".join(words)] * 2
    )


@pytest.mark.parametrize(
    "settings",
    [Exact(), Exact(unit="line"), MinHash(), MinHash(min_jaccard=0.5), Substrings(min_words=3)],
    ids=str,
)
def test_documents_that_were_not_signed_are_untouched(tmp_path, settings):
    signer = open_signer(settings, tmp_path, 7, 2)
    for index in (2, 5):
        signer.add(index, Text("six words are in this text"), False)
    signer.close(9)
    resolve(settings, tmp_path, [7], 2, Alive(), in_order)
    outcome = read_outcome(tmp_path, 7)
    touched = outcome.dropped | np.isin(np.arange(9), list(outcome.cuts))
    assert np.flatnonzero(touched).tolist() == [5]
