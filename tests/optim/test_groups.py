from __future__ import annotations

from typing import Any, Literal

import pytest

from danlu.errors import MismatchError
from danlu.optim.groups import group_by_role
from networks import make_network


@pytest.mark.parametrize("kind", ["adamw", "muon"])
@pytest.mark.parametrize("tied", [False, True])
def test_the_groups_partition_the_parameters(kind: Literal["adamw", "muon"], tied: bool) -> None:
    network = make_network(tie_embeddings=tied)
    groups = group_by_role(network.roles(), kind)
    names = [*groups.muon, *groups.adamw_decay, *groups.adamw_plain]
    assert sorted(names) == sorted(name for name, _ in network.named_parameters())
    assert "embedding.weight" in groups.adamw_plain
    assert ("head.weight" in groups.adamw_decay) is not tied
    assert all("norm" not in name for name in (*groups.muon, *groups.adamw_decay))
    assert bool(groups.muon) is (kind == "muon")


def test_an_unknown_role_is_refused() -> None:
    roles: dict[str, Any] = {"router.weight": "router"}
    with pytest.raises(MismatchError, match=r"router\.weight has the role 'router'"):
        group_by_role(roles, "adamw")
