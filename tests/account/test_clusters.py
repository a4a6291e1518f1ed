"""Clusters hold what was planted, the largest first, and every copy stands beside its evidence."""

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from danlu.account.clusters import (
    Cluster,
    beginning,
    copies_of,
    describe,
    evidence,
    largest_clusters,
    summary,
)
from danlu.account.ledger import excerpt_of, find_rows, ledger_path, read_ledger
from danlu.account.writing import new_ledger
from danlu.words.shingles import simplify
from small_copies import AGAIN, CHAIN, EQUAL, SAME_ID, TEXTS, write_run_with_copies
from small_ledger import number_of, row_of, steps_of, write_small_corpus

STEPS = ["id", "normalize", "exact", "minhash"]
NGRAM = 5


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run_with_copies(tmp_path_factory.mktemp("home")).directory / "corpus"


def ids_of(cluster: Cluster) -> tuple[str, list[str]]:
    assert cluster.survivor is not None
    return cluster.survivor.id, [copy.row.id for copy in cluster.members]


def first_of(corpus: Path, step: str, members: int = 9) -> Cluster:
    return largest_clusters(corpus, [step], 1, members)[0]


def test_the_planted_clusters_by_step(corpus: Path):
    clusters = largest_clusters(corpus, STEPS, members=9)
    assert [(one.step, one.copies) for one in clusters[:4]] == [
        *(("id", 1), ("exact", 4), ("exact", 1)),
        ("minhash", len(CHAIN)),
    ]
    assert [ids_of(one) for one in clusters[:4]] == [
        (SAME_ID, [SAME_ID]),
        ("import", EQUAL),
        ("strings-3", [AGAIN]),
        ("strings", CHAIN),
    ]
    assert clusters[3].bytes == sum(len(TEXTS[name].encode()) for name in CHAIN)


def test_they_are_those_of_the_whole_ledger(corpus: Path):
    matched = Counter[tuple[str, int]]()
    for batch in read_ledger(corpus, ("step", "match")):
        matched.update((row["step"], row["match"]) for row in batch.to_pylist() if row["match"] >= 0)
    expected = sorted(matched.items(), key=lambda item: (STEPS.index(item[0][0]), -item[1], item[0][1]))
    found = largest_clusters(corpus, STEPS, 1000, 0)
    assert [((one.step, one.number), one.copies) for one in found] == expected
    assert len(list((corpus / "ledger").iterdir())) > 3
    assert largest_clusters(corpus, [*reversed(STEPS)], 1000, 0)[0].step == "minhash"
    assert not largest_clusters(corpus, ["normalize", "nothing"])


def test_a_survivor_may_go_itself_and_shows_its_text(corpus: Path):
    by_exact = largest_clusters(corpus, ["exact"])
    first, second = (one.survivor for one in by_exact)
    assert first is not None
    assert second is not None
    assert (first.reason, first.excerpt) == ("", excerpt_of(TEXTS["import"]))
    assert (second.reason, second.excerpt) == ("minhash.duplicate", excerpt_of(TEXTS["strings-3"]))
    assert "of import (number" in summary(by_exact[0])
    assert summary(by_exact[0]).endswith(", kept")
    assert summary(by_exact[1]).startswith("1 copy (")
    assert summary(by_exact[1]).endswith(", dropped: minhash.duplicate")


def jaccard(one: str, other: str) -> float:
    """Of the sets of runs of five words."""
    sets = []
    for text in (one, other):
        words = simplify(text).split()
        sets.append({tuple(words[place : place + NGRAM]) for place in range(len(words) - NGRAM + 1)})
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def test_the_evidence_is_of_the_document_compared_with(corpus: Path):
    members = first_of(corpus, "minhash").members
    others = {copy.row.id: copy.pair.id for copy in members if copy.pair}
    assert others["strings-1"] == "strings"
    assert others["strings-6"] == "strings-5"
    for copy in members:
        similarity = jaccard(TEXTS[copy.row.id], TEXTS[others[copy.row.id]])
        assert copy.row.similarity == pytest.approx(similarity, abs=1e-6)
        stays = others[copy.row.id] == "strings"
        named = "the one that stays" if stays else f"{others[copy.row.id]} (number {copy.row.pair})"
        assert evidence(copy) == f"similarity {similarity:.3f} to {named}"


def test_an_equal_id_is_not_called_similar(corpus: Path):
    (copy,) = first_of(corpus, "id").members
    assert evidence(copy) == "the id of the one that stays"


def test_plain_lines(corpus: Path):
    lines = describe([first_of(corpus, "minhash", 2), first_of(corpus, "exact", 1)]).splitlines()
    stays = find_rows(corpus, "strings")[0]
    assert lines[0].startswith(
        f"minhash: 6 copies (49.7 kB) of strings (number {stays.number}), topics.jsonl ["
    )
    assert lines[1] == f'    "{beginning(TEXTS["strings"])}"'
    assert lines[2].startswith("  strings-1 (number ")
    assert lines[4].startswith("    similarity 0.8")
    assert lines[8:10] == ["  and 4 more", ""]
    assert lines[10].startswith("exact: 4 copies")


def test_json(corpus: Path):
    cluster = first_of(corpus, "minhash", 6)
    plain = cluster.to_json()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["survivor"]["excerpt"] == excerpt_of(TEXTS["strings"])
    assert [member["pair"]["id"] for member in plain["members"]][-1] == "strings-5"
    assert plain["members"][-1]["pair"]["excerpt"] == excerpt_of(TEXTS["strings-5"])


def test_copies_of_one_document(corpus: Path):
    (stays,) = find_rows(corpus, "import")
    count, first = copies_of(corpus, stays.number, 3)
    assert (count, [copy.row.id for copy in first]) == (4, EQUAL[:3])
    assert copies_of(corpus, find_rows(corpus, AGAIN)[0].number, 3) == (0, ())


def test_a_document_of_an_earlier_corpus(tmp_path: Path):
    write_small_corpus(tmp_path)
    earlier = 99 << 32
    row = replace(row_of("b-2", "four words are enough"), step="same", reason="same.duplicate")
    gone = replace(row, match=earlier, pair=earlier + 1, similarity=math.nan, excerpt="four words")
    columns = [name for step in steps_of() for name in step.columns]
    with new_ledger(ledger_path(tmp_path, 1), columns) as writer:
        writer.add(row_of("a-5", "one two three four"))
        writer.add(gone)
    own, other = largest_clusters(tmp_path, ["same"])
    assert (own.number, other.number, other.survivor) == (0, earlier, None)
    assert summary(other) == f"1 copy (21 bytes) of number {earlier}, a document of an earlier corpus"
    (copy,) = other.members
    assert copy.pair is None
    assert evidence(copy) == f"like number {earlier + 1}, a document of an earlier corpus"
    plain = other.to_json()
    assert plain["survivor"] == {"number": earlier}
    assert (plain["members"][0]["number"], plain["members"][0]["similarity"]) == (number_of("b-2"), None)
    assert describe([other]).splitlines()[1:2] == ["  b-2 (number 4294967299), b.txt [10:31]"]
