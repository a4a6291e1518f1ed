"""Small shards made by arithmetic, for every test of this folder."""

import pytest

from small_shards import LENGTHS, make_batches, open_stages, write_domain
from small_shards import codec as bare_codec

__all__ = ["bare_codec", "make_batches", "open_stages", "write_domain"]


@pytest.fixture
def codec(bare_codec):
    """Ids above the special ones are characters."""
    bare_codec.decode = lambda ids: "".join(chr(each) for each in ids if each > 2)
    return bare_codec


@pytest.fixture
def tokens(tmp_path, write_domain):
    """A folder of shards: two domains, one of them in both splits."""
    for domain, lengths in LENGTHS.items():
        write_domain(tmp_path / "tokens", domain, lengths, shards=2)
    write_domain(tmp_path / "tokens", "code", [6, 7], split="validation")
    return tmp_path / "tokens"
