from __future__ import annotations

import os
from pathlib import Path

import pytest

from danlu.jobs.cores import usable_cores


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)


def measure(tmp_path: Path, membership: str, files: dict[str, str]) -> int:
    """The cores under a made-up /proc/self/cgroup and the files below a made-up /sys/fs/cgroup."""
    for name, text in {"proc/self/cgroup": membership, **files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return usable_cores(tmp_path / "proc", tmp_path / "cgroup")


def test_without_control_groups_the_affinity_decides(tmp_path: Path) -> None:
    assert usable_cores(tmp_path / "proc", tmp_path / "cgroup") == 8


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("max 100000", 8), ("250000 100000", 2), ("50000 100000", 1), ("9900000 100000", 8), ("", 8)],
)
def test_a_container_has_its_quota(tmp_path: Path, quota: str, cores: int) -> None:
    assert measure(tmp_path, "0::/\n", {"cgroup/cpu.max": quota}) == cores


def test_the_tightest_group_on_the_way_up_decides(tmp_path: Path) -> None:
    files = {"cgroup/job/step/cpu.max": "max 100000", "cgroup/job/cpu.max": "300000 100000"}
    assert measure(tmp_path, "0::/job/step\n", files) == 3


def test_a_path_of_the_host_is_passed_over(tmp_path: Path) -> None:
    assert measure(tmp_path, "0::/host/job\n", {"cgroup/cpu.max": "200000 100000"}) == 2


@pytest.mark.parametrize(("quota", "cores"), [("-1", 8), ("400000", 4)])
def test_the_first_version_of_control_groups(tmp_path: Path, quota: str, cores: int) -> None:
    files = {"cgroup/cpu/job/cpu.cfs_quota_us": f"{quota}\n", "cgroup/cpu/job/cpu.cfs_period_us": "100000\n"}
    assert measure(tmp_path, "5:memory:/other\n4:cpu,cpuacct:/job\n", files) == cores
