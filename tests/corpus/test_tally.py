"""What makes a corpus unusable, and what the error advises."""

import re

import pytest

from danlu.corpus.funnel import Count
from danlu.corpus.split import split_of, split_point
from danlu.corpus.tally import Tally
from danlu.errors import InputError
from danlu.records import Document


def tally_of(share, **groups):
    """A tally that kept one document for each group of each domain."""
    tally = Tally(list(groups))
    for domain, names in groups.items():
        for name in names:
            tally.count_read(domain, 10)
            tally.count_kept(split_of(name, share), Document(name, "x", name, domain, name), 9)
    return tally


MANY = [f"file-{number}" for number in range(60)]


def test_a_sound_corpus_passes_and_its_counts_add_up():
    tally = tally_of(0.2, prose=MANY)
    tally.check(0.2)
    funnel = tally.funnel(())
    assert funnel.total_kept().documents == funnel.total_read().documents == 60


def test_nothing_read_says_what_was_damaged():
    tally = Tally(["prose"])
    tally.count_damage("missing_text")
    with pytest.raises(
        InputError, match=r"corpus is empty: 0 documents read; .* 1 missing_text; check paths"
    ):
        tally.check(0.1)


def test_a_domain_that_is_wholly_dropped_says_by_what():
    tally = tally_of(0.2, prose=MANY, code=[])
    for _ in range(3):
        tally.count_read("code", 5)
        tally.count_dropped("code", "length.too_short", 5)
    with pytest.raises(InputError, match=r"nothing of domain 'code' is left: .* 3 by length.too_short"):
        tally.check(0.2)


def test_an_empty_validation_split_offers_a_share_that_works():
    with pytest.raises(InputError, match=r"validation split of 'prose' is empty at .* = 0.0001") as caught:
        tally_of(0.0001, prose=MANY).check(0.0001)
    share = float(re.search(r"at least ([\d.e-]+),", str(caught.value))[1])
    tally_of(share, prose=MANY).check(share)


def test_an_empty_train_split_offers_a_share_that_works():
    share = max(map(split_point, MANY)) + 1e-9
    with pytest.raises(InputError, match=r"train split of 'prose' is empty .* set it below 0\.\d+"):
        tally_of(share, prose=MANY).check(share)


def test_one_document_cannot_be_on_both_sides():
    with pytest.raises(
        InputError, match=r"of domain 'prose' one document is left .* corpus.validation_share = 0"
    ):
        tally_of(0.1, prose=["alone"]).check(0.1)


def test_without_validation_one_document_is_enough():
    tally_of(0.0, prose=["alone"]).check(0.0)


def test_a_superseded_document_is_dropped_and_a_domain_of_such_alone_is_empty():
    tally = tally_of(0.0, prose=["a", "b"], code=["c"])
    for domain, name in (("prose", "a"), ("code", "c")):
        tally.count_superseded(Document(name, "x" * 9, name, domain, name), "exact.duplicate")
    funnel = tally.funnel(("exact",))
    assert (funnel.total_kept(), funnel.total_dropped()) == (Count(1, 9), {"exact.duplicate": Count(2, 18)})
    with pytest.raises(InputError, match=r"nothing of domain 'code' is left: .* 1 by exact.duplicate"):
        tally.check(0.0)
