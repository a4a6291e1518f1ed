"""Small shards made by arithmetic, for every test of this folder."""

from small_shards import codec, make_batches, open_stages, write_domain  # noqa: F401  (fixtures)
