"""A Ray cluster of two nodes with one core each on this machine, for the tests of what runs on one."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def loopback() -> Iterator[pytest.MonkeyPatch]:
    """Before Ray is imported: it stays on this machine's own address, and tells nobody of itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns of its next version
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        yield patch


@pytest.fixture(scope="module")
def cluster(loopback: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes of one core each on this machine; none of their processes is left."""
    from ray.cluster_utils import Cluster

    before = children()
    # Not pytest's own directory: the name of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="ray-") as directory:
        node = {
            "num_cpus": 1,
            "num_gpus": 0,
            "object_store_memory": 80 * 2**20,
            "include_dashboard": False,
            "temp_dir": directory,
        }
        cluster = Cluster(initialize_head=True, head_node_args=node)
        try:
            cluster.add_node(**node)
            loopback.setenv("RAY_ADDRESS", cluster.address)
            assert cluster.address.startswith("127.0.0.1:")
            yield cluster
        finally:
            cluster.shutdown()
    assert children() == before


def children() -> set[str]:
    """The processes that this one has started."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
