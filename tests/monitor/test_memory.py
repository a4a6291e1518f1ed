"""Resident memory follows what the process really holds."""

from danlu.monitor.memory import peak_bytes, resident_bytes


def test_a_large_block_shows() -> None:
    before = resident_bytes()
    block = bytearray(b"x") * 100_000_000
    during = resident_bytes()
    assert during - before > 80_000_000
    assert peak_bytes() > before + 80_000_000
    del block
    assert peak_bytes() > before + 80_000_000
