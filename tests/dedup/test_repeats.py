"""Equal documents, equal pieces and boilerplate, over shards and ranges."""

from itertools import chain

import numpy as np
import pytest

from danlu.dedup.repeats import best_of_groups, group_equal
from danlu.dedup.settings import Boilerplate, Exact


def test_one_of_equal_documents_stays(deduplicate):
    shards = [["a b", "c", "", "x"], ["a\nb", "d", "c"], [], ["", "a  b"]]
    found = deduplicate(Exact(), shards)
    assert found.dropped() == [False, False, False, False, True, False, True, True, True]
    assert found.outcomes[1].match.tolist() == [0, -1, 1]
    assert found.outcomes[3].match.tolist() == [2, 0]
    assert found.outcomes[3].pair.tolist() == [2, 0]
    assert found.outcomes[1].similarity.tolist() == pytest.approx([1.0, np.nan, 1.0], nan_ok=True)
    as_it_is = deduplicate(Exact(ignore_white_space=False), shards)
    assert as_it_is.dropped() == [False, False, False, False, False, False, True, True, False]


def test_the_first_that_is_held_out_stays(deduplicate):
    found = deduplicate(Exact(), [["a", ("b", True)], ["b", ("a", True)], [("a", True)]])
    assert found.dropped() == [True, False, True, False, True]
    assert found.outcomes[0].match.tolist() == [1 << 32 | 1, -1]


def test_earlier_corpora_win(deduplicate):
    found = deduplicate(Exact(), [[("a", True), "b"], ["c", "c"]], references=[["a"], ["x", "c"]])
    assert found.dropped() == [True, False, True, True]
    assert found.outcomes[0].match.tolist() == [2 << 32, -1]
    assert found.outcomes[1].match.tolist() == [3 << 32 | 1] * 2


@pytest.mark.parametrize("ranges", [1, 2, 7])
def test_paragraphs_against_a_set(deduplicate, ranges):
    generator = np.random.default_rng(5)
    shards = [
        ["\n\n".join(f"paragraph {n}\nends" for n in generator.integers(0, 40, 6)) for _ in range(8)]
        for _ in range(4)
    ]
    seen, expected = set(), []
    for text in chain(*shards):
        kept = [p for p in text.split("\n\n") if not (p in seen or seen.add(p))]
        expected.append("\n\n".join(kept))
    assert deduplicate(Exact(unit="paragraph"), shards, ranges=ranges).texts() == expected


def test_lines_lose_their_copies_only(deduplicate):
    found = deduplicate(
        Exact(unit="line", min_characters=2), [["ab\n}\ncd", "x1\n}\nab\n\nx2"], ["  ab \nnew\n}"]]
    )
    assert found.texts() == ["ab\n}\ncd", "x1\n}\n\nx2", "new\n}"]
    assert not any(found.dropped())


def test_a_held_out_document_keeps_its_paragraph(deduplicate):
    assert deduplicate(Exact(unit="paragraph"), [["a\n\nb", ("b\n\nc", True)]]).texts() == ["a", "b\n\nc"]


def test_runs_of_sentences_are_cut_whole(deduplicate):
    common = "One is one. Two is two. Three is three."
    found = deduplicate(Exact(unit="sentences"), [[f"Begin here. {common} Go on."], [f"{common} Another."]])
    assert found.texts() == [f"Begin here. {common} Go on.", "Another."]


def test_boilerplate_goes_everywhere(deduplicate):
    menu = "Home | About | Login"
    shards = [
        [f"{menu}\ntext {number}\n  {menu} " for number in range(3)],
        [f"more\n{menu}", "short\nshort\nlonely line here\nlonely line here", "short"],
    ]
    found = deduplicate(Boilerplate(min_documents=4), shards)
    assert found.texts() == ["text 0", "text 1", "text 2", "more", shards[1][1], "short"]
    untouched = deduplicate(Boilerplate(min_documents=5), shards)
    assert untouched.texts() == [*chain(*shards)]
    assert deduplicate(Boilerplate(min_documents=2, min_characters=5), shards).texts()[-1] == ""


def test_groups_and_their_best():
    high = np.array([5, 1, 5, 5, 1], np.uint64)
    low = np.array([0, 2, 0, 9, 2], np.uint64)
    equal = group_equal(high, low)
    assert equal.order.tolist() == [1, 4, 0, 2, 3]
    assert equal.group.tolist() == [0, 0, 1, 1, 2]
    assert best_of_groups(equal, np.array([9, 3, 8, 1, 3], np.uint32)).tolist() == [0, 3, 4]
    nothing = group_equal(np.empty(0, np.uint64))
    assert best_of_groups(nothing, np.empty(0, np.uint32)).shape == (0,)
