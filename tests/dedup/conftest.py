"""The fixture of tests/dedup: a round in one call; and no waiting for the disk."""

from __future__ import annotations

import os

import pytest

from dedup_rounds import deduplicate

__all__ = ["deduplicate"]


@pytest.fixture(autouse=True)
def do_not_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests kill no machine, and write some thousand small files."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
