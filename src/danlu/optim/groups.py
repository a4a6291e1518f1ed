"""Which parameters decay and which optimizer moves them, by role.

Decides: matrices and an untied head decay; embeddings (and with them a tied head) and norm gains do not (as OLMo 2 and
SmolLM3). With Muon, hidden matrices are Muon's and the rest is AdamW's (Jordan et al. 2024).
Guarantee: every parameter is in exactly one group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from danlu.errors import MismatchError
from danlu.records import Role


@dataclass(frozen=True, slots=True)
class Groups:
    """Names of parameters, in the order of the network."""

    muon: list[str] = field(default_factory=list)
    adamw_decay: list[str] = field(default_factory=list)
    adamw_plain: list[str] = field(default_factory=list)


def group_by_role(roles: Mapping[str, Role], kind: Literal["adamw", "muon"]) -> Groups:
    """Partitions the parameters. Raises MismatchError for a role it does not know."""
    groups = Groups()
    for name, role in roles.items():
        if role == "matrix":
            (groups.muon if kind == "muon" else groups.adamw_decay).append(name)
        elif role == "head":
            groups.adamw_decay.append(name)
        elif role in ("embedding", "gain"):
            groups.adamw_plain.append(name)
        else:
            raise MismatchError(f"parameter {name} has the role {role!r}, which no optimizer group takes")
    return groups
