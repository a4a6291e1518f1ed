"""The machine: what a container allows counts, and what cannot be read is unknown."""

import os

import pytest

from danlu.plan import machine
from danlu.plan.machine import read_machine


def test_this_machine_has_a_name_and_a_core():
    found = read_machine()
    assert found.processor
    assert 1 <= found.cores <= os.cpu_count()
    assert found.memory_available is None or found.memory_available > 0
    assert "Python" in found.system


@pytest.mark.parametrize(
    ("limit", "used", "room"), [("max", "5", None), ("100", "40", 60), ("100", "140", 0)]
)
def test_a_memory_limit_leaves_what_is_not_used(tmp_path, limit, used, room):
    (tmp_path / "memory.max").write_text(limit + "\n")
    (tmp_path / "memory.current").write_text(used + "\n")
    assert machine._cgroup_room(tmp_path) == room


def test_what_is_not_there_is_unknown(tmp_path):
    assert machine._cgroup_room(tmp_path) is None
    assert machine._processor(tmp_path / "cpuinfo")
