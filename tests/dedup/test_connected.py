"""Components by stages against union-find, on graphs of every shape."""

import numpy as np
import pytest

from danlu.dedup.connected import (
    connect,
    contract,
    distinct_edges,
    edges,
    read_edges,
    stars,
    union,
    write_edges,
)
from danlu.dedup.plan import Plan, write_plan
from danlu.dedup.settings import MinHash
from dedup_rounds import in_order


def union_find(pairs):
    """number -> the lowest number of its component."""
    parent = {}

    def find(node):
        while parent.setdefault(node, node) != node:
            node = parent[node]
        return node

    for one, other in pairs:
        low, high = sorted((find(one), find(other)))
        parent[high] = low
    return {node: find(node) for node in parent}


def chain(length, seed):
    names = np.random.default_rng(seed).permutation(length) * 977 + (5 << 32)
    return list(zip(names[:-1].tolist(), names[1:].tolist(), strict=True))


def drawn(nodes, count, seed):
    pairs = np.random.default_rng(seed).integers(0, nodes, (count, 2)) + (3 << 32)
    return [pair for pair in pairs.tolist() if pair[0] != pair[1]]


GRAPHS = {
    "nothing": [],
    "one pair": [(7, 3 << 32)],
    "a chain in order": [(number, number + 1) for number in range(200)],
    "a chain in disorder": chain(400, 1),
    "a circle": [*chain(50, 2), (chain(50, 2)[0][0], chain(50, 2)[-1][1])],
    "a star around the highest": [(number, 1000) for number in range(30)],
    "sparse": drawn(300, 140, 3),
    "critical": drawn(300, 300, 4),
    "dense": drawn(60, 900, 5),
    "pairs twice": [(1, 2), (2, 1), (1, 2), (9, 4)],
}


def columns(pairs):
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return edges(table.min(axis=1), table.max(axis=1))


@pytest.mark.parametrize("ranges", [1, 3])
@pytest.mark.parametrize("pairs", GRAPHS.values(), ids=GRAPHS)
def test_stages_end_at_the_components(tmp_path, pairs, ranges):
    plan = Plan(MinHash(), tmp_path, (), (), ranges, ())
    write_plan(plan)
    for task in range(ranges):
        write_edges(plan, stars(0), task, distinct_edges(columns(pairs[task::ranges])))
    last = connect(plan, in_order, "test")
    found = [edge for number in range(ranges) for edge in read_edges(plan, last, number).tolist()]
    expected = union_find(pairs)
    lower = {node: other for node, other in found if other < node}
    assert {node: lower.get(node, node) for node in expected} == expected
    assert len(found) == 2 * len(lower)


@pytest.mark.parametrize("pairs", GRAPHS.values(), ids=GRAPHS)
def test_contracting_in_memory_keeps_the_components(pairs):
    contracted = contract(columns(pairs)).tolist()
    expected = union_find(pairs)
    assert {member: root for root, member in contracted} == {n: r for n, r in expected.items() if n != r}


def test_a_chain_that_union_meets_from_its_end():
    one = np.arange(5000)[::-1].copy()
    assert not union(5001, one, one + 1).any()


def test_distinct_edges_are_sorted():
    found = distinct_edges(edges(np.array([3, 1, 3, 1]), np.array([1, 2, 1, 0])))
    assert found.tolist() == [(1, 0), (1, 2), (3, 1)]
