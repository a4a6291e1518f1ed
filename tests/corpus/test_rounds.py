"""Rounds: what can be done in one pass, and what has to wait for the comparison of all documents."""

from danlu.corpus.rounds import Round, cuts, plan_rounds
from danlu.dedup.settings import Boilerplate, Exact, MinHash, Substrings
from danlu.quality.settings import Length, Normalize

NORMALIZE, LENGTH = Normalize(), Length()
EXACT, MINHASH, LINES = Exact(), MinHash(), Boilerplate()


def test_without_deduplication_ids_are_still_compared_after_the_first_round():
    assert plan_rounds([NORMALIZE, LENGTH]) == (Round((NORMALIZE, LENGTH), ()), Round((), ()))
    assert plan_rounds([]) == (Round((), ()), Round((), ()))


def test_whole_document_steps_are_signed_together_and_local_steps_wait_for_them():
    assert plan_rounds([NORMALIZE, EXACT, MINHASH, LENGTH]) == (
        Round((NORMALIZE,), (EXACT, MINHASH)),
        Round((LENGTH,), ()),
    )


def test_what_cuts_ends_its_round_since_later_signatures_must_see_the_cut_text():
    assert plan_rounds([EXACT, LINES, MINHASH]) == (
        Round((), (EXACT, LINES)),
        Round((), (MINHASH,)),
        Round((), ()),
    )
    assert [cuts(step) for step in (EXACT, Exact(unit="line"), MINHASH, LINES, Substrings())] == [
        False, True, False, True, True,
    ]  # fmt: skip
