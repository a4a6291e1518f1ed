"""Resident memory follows what the process really holds."""

import mmap

from danlu.monitor.memory import peak_bytes, resident_bytes


def test_a_large_block_shows() -> None:
    before = resident_bytes()
    # Fresh pages of the system's: what the allocator holds already would be resident before.
    with mmap.mmap(-1, 100_000_000) as block:
        block.write(b"x" * len(block))
        during = resident_bytes()
        assert peak_bytes() > before + 80_000_000
    assert during - before > 80_000_000
    assert peak_bytes() > before + 80_000_000
