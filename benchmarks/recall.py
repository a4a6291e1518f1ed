"""How many planted near copies MinHash finds, by the share of words replaced: danlu beside theory and datatrove.

Reads planted.jsonl of make_corpus.py. danlu builds a corpus of it with `use = "minhash"` alone and its ledger says who
went for whom; datatrove runs its four stages in a Python of its own. A copy is found where it is in one cluster with
its original. Theory: the mean of 1 - (1 - s^8)^14 over the pairs, s the Jaccard of their shingle sets, built here
anew from strings: runs of five of the simplified text's words, which are datatrove's after spaCy has split them again.
Deviations are in sigmas of as many unequal coins. Where danlu is beyond 3, the exit code is 1.

Merges across families are listed beside: documents of different originals in one cluster. The corpus has near copies
of its own, so each comes with the Jaccard of the two nearest documents that it joins; below 0.5 it is called false.

Run:  python benchmarks/recall.py PLANTED.jsonl --peer PYTHON_OF_DATATROVE [--seed 1]
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from pathlib import Path

from corpus import Row, read_rows
from danlu.account.ledger import read_ledger
from danlu.corpus.build import build_corpus
from danlu.corpus.settings import CorpusSettings
from danlu.dedup.settings import MinHash
from danlu.read.settings import Source
from danlu.words.shingles import simplify
from danlu.words.text import Text

BANDS, ROWS, NGRAM = 14, 8, 5
MOST_SIGMAS, FALSE_BELOW = 3.0, 0.5
PEER_SCRIPT = Path(__file__).parent / "peers" / "datatrove_minhash.py"

Shingles = dict[str, set[tuple[str, ...]]]
"""Those of each document's id."""
Clusters = dict[str, str]
"""The id that stands for each document's cluster."""
Side = tuple[Clusters, Shingles]


def plain_words(text: str) -> list[str]:
    """danlu's words of a text in the form in which copies are compared."""
    return simplify(text).split()


def spacy_words(text: str) -> list[str]:
    """datatrove's, which may part once more what stands between spaces."""
    simple = Text(simplify(text), words_setting="spacy")
    starts, ends = (part.tolist() for part in simple.words)
    return [simple.text[start:end] for start, end in zip(starts, ends, strict=True)]


def shingles_of(rows: list[Row], words_of: Callable[[str], list[str]]) -> Shingles:
    """Every document's runs of NGRAM words."""
    found: Shingles = {}
    for row in rows:
        words = words_of(row["text"])
        found[row["id"]] = {tuple(words[at : at + NGRAM]) for at in range(len(words) - NGRAM + 1)}
    return found


def jaccard(shingles: Shingles, one: str, other: str) -> float:
    """What two documents have in common, 0 where neither has a shingle."""
    return len(shingles[one] & shingles[other]) / max(1, len(shingles[one] | shingles[other]))


def family(identifier: str) -> str:
    """What an original and its copy have in common: the number behind the first letter."""
    return identifier[1:]


def read_ledger_rows(planted: Path, seed: int) -> list[Row]:
    """What the ledger of a corpus of the planted documents says of each, numbers replaced by ids."""
    with tempfile.TemporaryDirectory() as folder:
        step = MinHash(bands=BANDS, rows=ROWS, ngram=NGRAM, seed=seed)
        source = Source(domain="planted", paths=[str(planted.resolve())])
        settings = CorpusSettings(
            words="plain", workers=1, validation_share=0.0, source=[source], step=[step]
        )
        build_corpus(settings, Path(folder), Path(folder) / "corpus")
        columns = ["number", "id", "reason", "match", "pair", "similarity"]
        rows = [row for batch in read_ledger(Path(folder) / "corpus", columns) for row in batch.to_pylist()]
    name = {row["number"]: row["id"] for row in rows}
    return [{**row, "match": name.get(row["match"]), "pair": name.get(row["pair"])} for row in rows]


def our_clusters(ledger: list[Row]) -> Clusters:
    """Each document's survivor, which may be itself."""
    return {row["id"]: row["match"] if row["reason"] else row["id"] for row in ledger}


def their_clusters(planted: Path, peer: str, rows: list[Row]) -> Clusters:
    """The first of each cluster that datatrove's third stage saves; who is in none stands alone."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "clusters.json"
        command = [peer, str(PEER_SCRIPT), str(planted), str(Path(folder) / "work"), str(output)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
        found = json.loads(output.read_text(encoding="utf-8"))
    return {row["id"]: row["id"] for row in rows} | {one: members[0] for members in found for one in members}


def recall_lines(rows: list[Row], sides: list[Side]) -> Iterator[tuple[str, list[float]]]:
    """A line of the table for each rate, and the deviation of each side in sigmas."""
    copies = [row for row in rows if row["original"]]
    for rate in sorted({row["rate"] for row in copies}):
        pairs = [(row["original"], row["id"]) for row in copies if row["rate"] == rate]
        line, deviations = f"{rate:6.1%}{len(pairs):6}", []
        for clusters, shingles in sides:
            similarities = [jaccard(shingles, *pair) for pair in pairs]
            expected = [1.0 - (1.0 - similarity**ROWS) ** BANDS for similarity in similarities]
            found = sum(clusters[one] == clusters[other] for one, other in pairs)
            deviations.append(sigmas(found, expected))
            means = [sum(numbers) / len(pairs) for numbers in (similarities, expected, [found])]
            line += "{:10.3f}{:8.3f}{:8.3f}{:+7.2f}".format(*means, deviations[-1])
        yield line, deviations


def sigmas(found: int, expected: list[float]) -> float:
    """How far a count is from the sum of probabilities, in standard deviations; where those are 0, 0 or infinite."""
    distance = found - sum(expected)
    spread = math.sqrt(sum(chance * (1.0 - chance) for chance in expected))
    if spread > 1e-9:
        return distance / spread
    return 0.0 if abs(distance) < 1e-6 else math.copysign(math.inf, distance)


def joining_links(members: Iterable[str], shingles: Shingles) -> list[float]:
    """The Jaccards of the strongest links that join a cluster's families: a maximum spanning tree's."""
    across = [pair for pair in combinations(sorted(members), 2) if family(pair[0]) != family(pair[1])]
    joined = {family(member): {family(member)} for pair in across for member in pair}
    links = []
    ordered = sorted(((jaccard(shingles, *pair), *pair) for pair in across), reverse=True)
    for similarity, one, other in ordered:
        if joined[family(one)] is not joined[family(other)]:
            links.append(similarity)
            whole = joined[family(one)] | joined[family(other)]
            joined.update(dict.fromkeys(whole, whole))
    return links


def merge_line(name: str, clusters: Clusters, shingles: Shingles) -> str:
    """How many families a side merged, and how near they are."""
    members: defaultdict[str, set[str]] = defaultdict(set)
    for member, cluster in clusters.items():
        members[cluster].add(member)
    links = sorted(link for cluster in members.values() for link in joining_links(cluster, shingles))
    false = sum(link < FALSE_BELOW for link in links)
    listed = " ".join(f"{link:.2f}" for link in links)
    return f"{name:10}{len(links):3} merges across families, {false} false; nearest Jaccards {listed}"


def evidence_line(ledger: list[Row], shingles: Shingles) -> str:
    """How far the ledger's similarities are from the true ones of the pairs that it names."""
    dropped = [row for row in ledger if row["reason"]]
    errors = [row["similarity"] - jaccard(shingles, row["id"], row["pair"]) for row in dropped]
    bias, spread = sum(errors) / len(errors), math.hypot(*errors) / math.sqrt(len(errors))
    return (
        f"evidence: {len(dropped)} of {len(ledger)} documents dropped, each with its pair; similarity is off by "
        f"{bias:+.4f} in the mean, {spread:.4f} root mean square, {max(map(abs, errors)):.3f} at most"
    )


def main() -> None:
    """Prints the table; exit code 1 where danlu is beyond MOST_SIGMAS."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("planted", type=Path)
    parser.add_argument("--peer", required=True, help="the Python that has datatrove")
    parser.add_argument("--seed", type=int, default=1, help="draws danlu's hash functions")
    options = parser.parse_args()
    rows = read_rows(options.planted)
    ledger = read_ledger_rows(options.planted, options.seed)
    plain, spacy = shingles_of(rows, plain_words), shingles_of(rows, spacy_words)
    theirs = their_clusters(options.planted, options.peer, rows)
    sides = {"danlu": (our_clusters(ledger), plain), "datatrove": (theirs, spacy)}
    print(" " * 12 + "".join(f"{name:^33}" for name in sides))
    print(" words pairs" + f"{'Jaccard':>10}{'theory':>8}{'recall':>8}{'sigma':>7}" * len(sides))
    worst = 0.0
    for line, deviations in recall_lines(rows, list(sides.values())):
        worst = max(worst, abs(deviations[0]))
        print(line)
    for name, (clusters, shingles) in sides.items():
        print(merge_line(name, clusters, shingles))
    print(evidence_line(ledger, plain))
    sys.exit(worst > MOST_SIGMAS)


if __name__ == "__main__":
    main()
