"""Survivors and evidence, against a slow reference; and that nothing depends on how the work is divided."""

import shutil

import numpy as np
import pytest

from danlu.dedup.clusters import _explain
from danlu.dedup.contract import Alive, read_outcome, resolve
from danlu.dedup.pairs import EVIDENCE
from danlu.dedup.settings import Boilerplate, Exact, MinHash, Substrings
from dedup_rounds import in_order, sign

WORDS = [left + right for left in "abcdefghijklmnopqrstuvwxyz" for right in "abcdefghijklmnopqrstuvwxyz"]


def shifted(step, length=200):
    """Texts of a walk through the words: neighbours have most shingles in common, those far apart none."""
    return " ".join(WORDS[step : step + length])


def corpus(seed=0):
    generator = np.random.default_rng(seed)
    texts = [shifted(step) for step in range(0, 300, 12)]
    texts += [" ".join(generator.choice(WORDS, 60)) for _ in range(20)]
    texts += [*texts[3:9], "", "short", *(f"{text}\nHome | Login" for text in texts[5:7])]
    texts[40] += "\n  Home | Login"
    return [texts[n] for n in generator.permutation(len(texts))]


def test_a_chain_is_one_cluster_with_one_survivor(deduplicate):
    texts = [shifted(step) for step in range(0, 300, 10)]
    found = deduplicate(MinHash(min_jaccard=0.7), [texts[::2], texts[1::2]], ranges=3)
    assert found.dropped() == [False] + [True] * 29
    assert {*found.outcomes[0].match[1:].tolist(), *found.outcomes[1].match.tolist()} == {0}
    # The far end was never compared with the survivor: its evidence is its neighbour.
    last = found.outcomes[1].pair[-1]
    assert last not in (-1, 0)
    assert found.outcomes[1].similarity[-1] == pytest.approx(186 / 206, abs=1e-6)


@pytest.mark.parametrize(
    ("keep", "held_out", "references", "survivor"),
    [
        ("first", (), False, 0),
        ("longest", (), False, 2),
        ("first", (3,), False, 3),
        ("longest", (0, 3), False, 3),
        ("longest", (0, 3), True, 4),
    ],
)
def test_who_stays(deduplicate, keep, held_out, references, survivor):
    texts = [shifted(0, 200), shifted(0, 199), shifted(0, 202), shifted(0, 201)]
    marked = [(text, number in held_out) for number, text in enumerate(texts)]
    shards = [[document] for document in marked]
    found = deduplicate(
        MinHash(keep=keep), shards, references=[[shifted(0, 198), shifted(0, 198)]] if references else ()
    )
    assert found.dropped() == [number != survivor for number in range(4)]
    matches = {int(outcome.match[0]) for outcome in found.outcomes} - {-1}
    assert matches == {survivor << 32}


def test_evidence_prefers_the_survivor_then_the_nearest():
    choices = np.array([(1, 50), (4, 50)], [("index", "<u4"), ("survivor", "<i8")])
    evidence = np.array(
        [(1, 70, 0.9), (1, 50, 0.5), (4, 80, 0.7), (4, 70, 0.7), (4, 60, 0.6), (3, 1, 1.0), (9, 1, 1.0)],
        EVIDENCE,
    )
    assert _explain(choices, evidence).tolist() == [
        (1, 50, 50, pytest.approx(0.5)),
        (4, 50, 70, pytest.approx(0.7)),
    ]


ALL = [
    MinHash(),
    MinHash(min_jaccard=0.6, keep="longest"),
    Exact(),
    Exact(unit="line"),
    Substrings(min_words=20),
    Boilerplate(min_documents=3, min_characters=2),
]


def flat(found):
    """What is said of every document in one list, with numbers counted through."""
    first = np.cumsum([0] + [len(documents) for documents in found.shards])

    def through(number):
        return int(first[number >> 32]) + (number & 0xFFFFFFFF) if number >= 0 else -1

    return [
        (
            through(int(outcome.match[i])),
            through(int(outcome.pair[i])),
            round(float(np.nan_to_num(outcome.similarity[i])), 6),
            outcome.cuts.get(i),
        )
        for outcome in found.outcomes
        for i in range(len(outcome.dropped))
    ]


def backwards(function, arguments, title):
    in_order(function, arguments[::-1], title)


@pytest.mark.parametrize("settings", ALL, ids=str)
def test_nothing_depends_on_shards_ranges_or_order(deduplicate, settings):
    texts = corpus()
    expected = flat(deduplicate(settings, [texts], ranges=1))
    assert len({str(row) for row in expected}) > 1
    for size, ranges, run in ((60, 5, backwards), (7, 1, in_order), (20, 8, backwards)):
        shards = [texts[start : start + size] for start in range(0, len(texts), size)]
        assert flat(deduplicate(settings, shards, ranges=ranges, run=run)) == expected


class KilledError(Exception):
    """Stands for a signal that cannot be caught."""


@pytest.mark.parametrize("settings", ALL, ids=str)
def test_a_killed_resolution_goes_on_to_the_same_bytes(tmp_path, monkeypatch, settings):
    texts = corpus()
    shards = [texts[:20], texts[20:]]

    def bytes_of(work):
        files = sorted((work / "outcome").iterdir())
        assert not [
            file for file in work.iterdir() if file.is_dir() and file.name not in ("signed", "outcome")
        ]
        return {file.name: file.read_bytes() for file in files}

    def signed(name):
        for number, documents in enumerate(shards):
            sign(settings, tmp_path / name, number, documents, 2)
        return tmp_path / name

    whole = signed("whole")
    resolve(settings, whole, [0, 1], 2, Alive(), in_order)
    work = signed("killed")
    for budget in (0, 1, 2, 3, 5, 8, 13):
        left = [budget]

        def dying(function, arguments, title, left=left):
            for argument in arguments:
                if not left[0]:
                    raise KilledError
                left[0] -= 1
                in_order(function, [argument], title)

        try:
            resolve(settings, work, [0, 1], 2, Alive(), dying)
        except KilledError:
            stages = [path for path in work.iterdir() if path.is_dir()]
            for stage in stages:
                (stage / ".tmp-00000000.records").write_bytes(b"half a file")
    resolve(settings, work, [0, 1], 2, Alive(), in_order)
    for leftover in (work / "outcome").glob(".tmp-*"):
        leftover.unlink()
    assert bytes_of(work) == bytes_of(whole)


def test_signing_twice_gives_the_same_bytes(tmp_path):
    for settings in ALL:
        work = tmp_path / str(ALL.index(settings))
        sign(settings, work, 0, corpus(), 3)
        before = {path.name: path.read_bytes() for path in (work / "signed").iterdir()}
        sign(settings, work, 0, corpus(), 3)
        assert {path.name: path.read_bytes() for path in (work / "signed").iterdir()} == before
        shutil.rmtree(work)


def test_a_finished_resolution_runs_no_task(tmp_path):
    sign(MinHash(), tmp_path, 0, corpus(), 2)
    resolve(MinHash(), tmp_path, [0], 2, Alive(), in_order)
    expected = read_outcome(tmp_path, 0).match

    def refuse(function, arguments, title):
        raise AssertionError(title)

    resolve(MinHash(), tmp_path, [0], 2, Alive(), refuse)
    assert (read_outcome(tmp_path, 0).match == expected).all()
