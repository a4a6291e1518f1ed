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
    ("quota", "cores"),
    [("max 100000", None), ("150000 100000", 1), ("400000 100000", 4), ("50000 100000", 1)],
)
def test_a_processor_quota_is_whole_cores(tmp_path, quota, cores):
    (tmp_path / "cpu.max").write_text(quota + "\n")
    assert machine._cgroup_cores(tmp_path) == cores


@pytest.mark.parametrize(
    ("limit", "used", "room"), [("max", "5", None), ("100", "40", 60), ("100", "140", 0)]
)
def test_a_memory_limit_leaves_what_is_not_used(tmp_path, limit, used, room):
    (tmp_path / "memory.max").write_text(limit + "\n")
    (tmp_path / "memory.current").write_text(used + "\n")
    assert machine._cgroup_room(tmp_path) == room


def test_what_is_not_there_is_unknown(tmp_path):
    assert machine._cgroup_room(tmp_path) is None
    assert machine._cgroup_cores(tmp_path) is None
    assert machine._processor(tmp_path / "cpuinfo")


def test_the_quota_of_a_container_counts_where_nothing_tells_the_affinity(tmp_path, monkeypatch):
    (tmp_path / "cpu.max").write_text("200000 100000")
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda _: set(range(64)))
    assert machine.usable_cores() == 2
    monkeypatch.delattr(machine.os, "sched_getaffinity")
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 64)
    assert machine.usable_cores() == 2
