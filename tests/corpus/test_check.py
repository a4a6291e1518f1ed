"""What makes a corpus unusable, and what the error advises."""

import re

from danlu.account.funnel import Count, Funnel
from danlu.corpus.check import find_problem
from danlu.corpus.split import split_of, split_point

MANY = [f"file-{number}" for number in range(60)]


def problem(share, dropped=None, damaged=None, first=None, **groups):
    """What is wrong with a corpus that kept one document for each group of each domain."""
    kept, points = {}, {}
    for domain, names in groups.items():
        for name in names:
            counts = kept.setdefault(split_of(split_point(name), share), {})
            counts[domain] = counts.get(domain, Count()) + Count(1, 9)
            low, high = points.get(domain, (1.0, 0.0))
            points[domain] = min(low, split_point(name)), max(high, split_point(name))
    gone = {domain: (dropped or {}).get(domain, {}) for domain in groups}
    read = {
        domain: sum(gone[domain].values(), Count(len(names), 9 * len(names)))
        for domain, names in groups.items()
    }
    steps = ("id", "length", "exact")
    return find_problem(Funnel(steps, read, gone, damaged or {}, kept), points, share, first or {})


def test_a_sound_corpus_passes():
    assert not problem(0.2, prose=MANY)


def test_nothing_read_says_what_was_damaged_and_shows_the_first():
    said = problem(
        0.1, damaged={"missing_text": 2, "a": 1}, first={"missing_text": "a.jsonl: no text"}, prose=[]
    )
    assert re.search(
        r"corpus is empty: 0 documents read; .* 2 missing_text, 1 a; the first .* is a.jsonl: no", said
    )


def test_nothing_at_all_says_where_to_look():
    said = problem(0.1, prose=[])
    assert re.search(r"corpus is empty: 0 documents read; check paths and document", said)


def test_a_domain_that_is_wholly_dropped_says_by_what():
    said = problem(0.2, {"code": {"length.too_short": Count(3, 15)}}, prose=MANY, code=[])
    assert re.search(r"nothing of domain 'code' is left: 3 .* 3 by length.too_short; change", said)


def test_an_empty_validation_split_offers_a_share_that_works():
    said = problem(0.0001, prose=MANY)
    assert re.search(r"validation split of 'prose' is empty at .* = 0.0001", said)
    share = float(re.search(r"at least ([\d.e-]+),", said)[1])
    assert not problem(share, prose=MANY)


def test_an_empty_train_split_offers_a_share_that_works():
    share = max(map(split_point, MANY)) + 1e-9
    said = problem(share, prose=MANY)
    assert re.search(r"train split of 'prose' is empty .* set it below 0\.\d+", said)


def test_one_document_cannot_be_on_both_sides():
    said = problem(0.1, prose=["alone"])
    assert re.search(r"of domain 'prose' one document is left .* corpus.validation_share = 0", said)


def test_without_validation_one_document_is_enough():
    assert not problem(0.0, prose=["alone"])
