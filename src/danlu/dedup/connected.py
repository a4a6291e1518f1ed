"""Connected components of a graph that no task holds, by range of nodes: large-star and small-star rounds.

Decides: every component ends as a star around its lowest number (Kiveris et al. 2014). In a large-star stage each node
hands its higher neighbours to its lowest one, in a small-star stage its lower neighbours and itself; both keep the
components, and a chain of n nodes is a star after about log2(n) rounds. Guarantees: the answer is a function of the
graph; a stage is done when all its files are there, so that a killed one goes on. Costs: two stages a round, 32 bytes
an edge and stage; memory for the edges at one range of nodes, which is at least the largest component's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.dedup.contract import Longs, Run
from danlu.dedup.plan import Plan, number_range, read_plan, run_ranges
from danlu.dedup.records import Records, read_group, write_records
from danlu.files import read_json, write_json

EDGE = np.dtype([("node", "<i8"), ("other", "<i8")])


def edges(node: Longs, other: Longs) -> Records:
    """EDGE records of two columns (n,)."""
    records = np.empty(len(node), EDGE)
    records["node"], records["other"] = node, other
    return records


def distinct_edges(records: Records) -> Records:
    """Sorted by node, then other, each once."""
    node, other = records["node"], records["other"]
    order = np.lexsort((other, node))
    node, other = node[order], other[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (node[1:] != node[:-1]) | (other[1:] != other[:-1])
    return edges(node[new], other[new])


def contract(records: Records) -> Records:
    """The same components as stars around their lowest number: (lowest, member) of each other member."""
    numbers, places = np.unique(np.concatenate((records["node"], records["other"])), return_inverse=True)
    roots = union(len(numbers), places[: len(records)], places[len(records) :])
    members = roots != np.arange(len(numbers))
    return edges(numbers[roots[members]], numbers[members])


@njit(cache=True, nogil=True)
def union(nodes: int, one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """(nodes,) the lowest node of the component of each: union-find with halved paths."""
    parent = np.arange(nodes)
    for edge in range(one.size):
        a, b = one[edge], other[edge]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        parent[max(a, b)] = min(a, b)
    for node in range(nodes):
        # The parent of a node is lower: it has its root already.
        parent[node] = parent[parent[node]]
    return parent


def write_edges(plan: Plan, stage: str, task: int, records: Records) -> None:
    """Leaves edges at both of their ends, by range of the node."""
    both = edges(
        np.concatenate((records["node"], records["other"])),
        np.concatenate((records["other"], records["node"])),
    )
    write_records(plan.file(stage, task), both, number_range(both["node"], plan.ranges), plan.ranges)


def read_edges(plan: Plan, stage: str, number: int) -> Records:
    """The edges at the nodes of one range, each once, sorted."""
    parts = [read_group(plan.file(stage, task), EDGE, number) for task in range(plan.ranges)]
    return distinct_edges(np.concatenate(parts))


def connect(plan: Plan, run: Run, title: str) -> str:
    """From the edges of stage `stars(0)` to the stage whose edges are stars around their lowest number."""
    step = 0
    while True:
        run_ranges(plan, run, large_star, f"{title}, round {step + 1}", step=step)
        if all(read_json(_verdict(plan, step, number)) for number in range(plan.ranges)):
            return stars(step)
        run_ranges(plan, run, small_star, f"{title}, round {step + 1}, lower half", step=step)
        step += 1


def stars(step: int) -> str:
    """The stage that holds the edges at the beginning of a round."""
    return f"stars-{step}"


def large_star(argument: dict[str, Any]) -> None:
    """One range of nodes: higher neighbours to the lowest one; notes whether the range was of stars already."""
    plan, number, step = read_plan(argument["work"]), argument["range"], argument["step"]
    if _verdict(plan, step, number).exists():
        return
    found = read_edges(plan, stars(step), number)
    lowest, count = _lowest(found)
    higher = found["other"] > found["node"]
    moved = edges(lowest[higher], found["other"][higher])
    write_records(
        plan.file(f"large-{step}", number), moved, number_range(moved["other"], plan.ranges), plan.ranges
    )
    write_json(_verdict(plan, step, number), bool(((lowest == found["node"]) | (count == 1)).all()))


def small_star(argument: dict[str, Any]) -> None:
    """One range of nodes, each with its lower neighbours: they and the node itself to the lowest one."""
    plan, number, step = read_plan(argument["work"]), argument["range"], argument["step"]
    if plan.file(stars(step + 1), number).exists():
        return
    parts = [read_group(plan.file(f"large-{step}", task), EDGE, number) for task in range(plan.ranges)]
    moved = np.concatenate(parts)
    found = distinct_edges(edges(moved["other"], moved["node"]))
    lowest, _ = _lowest(found)
    node = np.concatenate((lowest, lowest))
    other = np.concatenate((found["node"], found["other"]))
    write_edges(
        plan, stars(step + 1), number, distinct_edges(edges(node[node != other], other[node != other]))
    )


def _verdict(plan: Plan, step: int, number: int) -> Path:
    return plan.work / f"large-{step}" / f"{number:08d}.json"


def _lowest(found: Records) -> tuple[Longs, Longs]:
    """For each of the sorted edges: the lowest of its node and the node's neighbours, and how many those are."""
    node = found["node"]
    starts = np.flatnonzero(np.concatenate((node[:1] == node[:1], node[1:] != node[:-1])))
    counts = np.diff(np.append(starts, len(node)))
    # Sorted by neighbour within a node: the first is the lowest.
    return np.minimum(np.repeat(found["other"][starts], counts), node), np.repeat(counts, counts)
