"""The largest clusters of copies on the page of a corpus: which document stays, what went for it, how alike they were.

Guarantees: every copy stands beside its evidence, and what a text holds cannot act in the page. Costs: two passes over
columns of the ledger, some 2 kB a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from danlu.account.clusters import Cluster, Copy, evidence, largest_clusters, located, summary
from danlu.chart.markup import Html, folded, heading, join, paragraph, quotation

NOTE = (
    "The documents that stay for most others. A copy goes because of the document that it was compared with, which may "
    "have gone itself: similarity is the Jaccard index of their n-grams of words, which minhash estimates where "
    "min_jaccard is 0. danlu corpus clusters shows more of them."
)


def clusters_of(corpus: Path, steps: Sequence[str]) -> Html:
    """The largest of each step, folded. Raises MissingError or DamagedError where the ledger cannot be read."""
    parts: list[Html] = []
    for step, clusters in groupby(largest_clusters(corpus, steps), key=lambda cluster: cluster.step):
        parts += [heading(step), *map(_cluster, clusters)]
    return join(parts) if parts else paragraph("No document was dropped as a copy of another.", "missing")


def _cluster(cluster: Cluster) -> Html:
    return folded(summary(cluster), join(_quoted(cluster)))


def _quoted(cluster: Cluster) -> Iterator[Html]:
    if cluster.survivor:
        yield quotation("the one that stays", "", cluster.survivor.excerpt)
    for copy in cluster.members:
        yield quotation(f"{located(copy.row)} · {evidence(copy)}", "", _texts(copy))
    if more := cluster.copies - len(cluster.members):
        yield paragraph(f"And {more:,} more.", "note")


def _texts(copy: Copy) -> str:
    """The text of a copy, and that of what it was compared with where it is shown nowhere else."""
    pair = copy.pair
    other = f"\n\n{pair.id}:\n{pair.excerpt}" if pair and pair.number != copy.row.match else ""
    return copy.row.excerpt + other
