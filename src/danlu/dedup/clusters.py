"""From near copies to who stays: pairs, clusters, one survivor each, and the evidence of every document that goes.

Decides: a cluster is a connected component of the pairs (as FineWeb's), its survivor the best document of it (plan.py).
The evidence of a document is its own pair: with the survivor where the two were compared, else with the most similar
one. Guarantee: exactly one document of a cluster stays, or none where an earlier corpus has one. Costs: the stages of
pairs.py and connected.py, then one task a range and one a shard.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from danlu.dedup.connected import connect, read_edges
from danlu.dedup.contract import Run
from danlu.dedup.pairs import EVIDENCE, EVIDENCE_OF, match_bands, verify_pairs
from danlu.dedup.plan import (
    CUT,
    DROP,
    Plan,
    finish,
    read_found,
    read_orders,
    read_plan,
    run_ranges,
    run_shards,
    write_outcome,
)
from danlu.dedup.records import Records, write_records
from danlu.dedup.repeats import best_of_groups, group_equal

CHOICE = np.dtype([("index", "<u4"), ("survivor", "<i8")])
_STAGE = "survivors"


def resolve_clusters(plan: Plan, run: Run) -> None:
    """All stages of `use = "minhash"`."""
    run_ranges(plan, run, match_bands, "minhash: match")
    run_ranges(plan, run, verify_pairs, "minhash: verify")
    last = connect(plan, run, "minhash: cluster")
    run_ranges(plan, run, elect, "minhash: choose", stage=last)
    run_shards(plan, run, collect_clusters, "minhash: collect")
    finish(plan)


def elect(argument: dict[str, Any]) -> None:
    """The clusters whose lowest number is in one range: their survivors, by the shard of each document that goes."""
    plan, number = read_plan(argument["work"]), argument["range"]
    path = plan.file(_STAGE, number)
    if path.exists():
        return
    found = read_edges(plan, argument["stage"], number)
    found = found[found["node"] < found["other"]]
    centres = np.unique(found["node"])
    roots = np.concatenate((centres, found["node"]))
    members = np.concatenate((centres, found["other"]))
    by_number = np.argsort(members, kind="stable")
    roots, members = roots[by_number], members[by_number]
    equal = group_equal(roots.astype(np.uint64))
    best = best_of_groups(equal, read_orders(plan, members))
    ordered = members[equal.order]
    survivors = ordered[best][equal.group]
    slots = plan.slot(ordered >> 32)
    gone = (ordered != survivors) & (slots >= 0)
    choices = np.empty(int(gone.sum()), CHOICE)
    choices["index"], choices["survivor"] = ordered[gone] & 0xFFFFFFFF, survivors[gone]
    write_records(path, choices, slots[gone], len(plan.shards))


def collect_clusters(argument: dict[str, Any]) -> None:
    """One shard: its outcome, each drop with its evidence."""
    plan, shard = read_plan(argument["work"]), argument["shard"]
    choices = np.sort(read_found(plan, _STAGE, CHOICE, shard), order="index")
    evidence = read_found(plan, EVIDENCE_OF, EVIDENCE, shard)
    write_outcome(plan, shard, _explain(choices, evidence), np.empty(0, CUT))


def _explain(choices: Records, evidence: Records) -> Records:
    """DROP of every choice, with the best pair of its document."""
    place = np.searchsorted(choices["index"], evidence["index"])
    known = place < len(choices)
    known[known] = choices["index"][place[known]] == evidence["index"][known]
    evidence, place = evidence[known], place[known]
    stranger = choices["survivor"][place] != evidence["other"]
    order = np.lexsort((evidence["other"], -evidence["similarity"], stranger, place))
    _, first = np.unique(place[order], return_index=True)
    best = evidence[order[first]]
    drops = np.empty(len(choices), DROP)
    drops["index"], drops["match"] = choices["index"], choices["survivor"]
    drops["pair"], drops["similarity"] = best["other"], best["similarity"]
    return drops
