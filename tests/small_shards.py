"""Small shards made by arithmetic: no tokenizer and no corpus are needed to test what is done with ids."""

from types import SimpleNamespace

import numpy as np
import pytest

from danlu.mixture.settings import MixtureSettings
from danlu.mixture.stages import WantedStage, plan_stages
from danlu.records import Document
from danlu.shards.documents import list_token_domains, open_documents
from danlu.shards.shard import ShardHeader, write_shard
from danlu.tokens.batches import open_batches
from danlu.tokens.settings import TokensSettings

VOCAB, BOS, EOS, PAD = 300, 0, 1, 2
LENGTHS = {"code": [5, 2, 9, 70, 3, 3, 12], "prose.v2": [4, 31, 2, 8]}
"""Tokens of each document of two domains."""


@pytest.fixture
def codec():
    """What open_batches asks of a tokenizer."""
    return SimpleNamespace(sha256="a" * 64, vocab_size=VOCAB, bos_id=0, eos_id=1, pad_id=PAD)


def header(domain, **changes):
    values = {"tokenizer_sha256": "a" * 64, "vocab_size": VOCAB, "bos_id": BOS, "eos_id": EOS, "inputs": "-"}
    return ShardHeader(domain, **{**values, **changes})


def document_ids(number, length):
    """BOS, then numbers that depend on the document and the place, then EOS."""
    inner = 3 + (np.arange(length - 2) * 7 + number * 31) % (VOCAB - 3)
    return np.concatenate([[BOS], inner, [EOS]]).astype(np.uint32)


@pytest.fixture
def write_domain():
    """Writes a domain of documents of the given token lengths, split over `shards` files."""

    def write(root, domain, lengths, split="train", shards=1, **changes):
        directory = root / split / domain
        for s in range(shards):
            numbers = range(s, len(lengths), shards)
            documents = [
                Document(f"{domain}-{n}", "x" * n, f"{domain}.txt", domain, "g", n, n + 1) for n in numbers
            ]
            ids = [document_ids(n, lengths[n]) for n in numbers]
            write_shard(directory / f"shard-{s:05d}.safetensors", header(domain, **changes), documents, ids)
        return directory

    return write


@pytest.fixture
def open_stages(codec):
    """Batches over the shards of a folder, in the order of planned stages."""

    def opened(root, stages, batch_tokens, seed=1, **more):
        documents = {
            name: open_documents(root / "train" / name, codec) for name in list_token_domains(root, "train")
        }
        return open_batches(
            documents, root / "train", codec, stages, batch_tokens=batch_tokens, seed=seed, **more
        )

    return opened


@pytest.fixture
def make_batches(tmp_path, write_domain, open_stages):
    """Batches of one stage over domains given as name -> lengths, a sample a step."""

    def make(domains, sequence_length=16, seed=1, total_tokens=None, root=tmp_path, **settings):
        for domain, lengths in domains.items():
            if not (root / "train" / domain).exists():
                write_domain(root, domain, lengths, shards=2)
        tokens = TokensSettings(
            **{key: settings.pop(key) for key in list(settings) if key in TokensSettings.model_fields}
        )
        sizes = {domain: sum(lengths) for domain, lengths in domains.items()}
        steps = max(1, (total_tokens or sum(sizes.values())) // sequence_length)
        wanted = WantedStage(
            sequence_length,
            tokens.packing,
            tokens.document_mask,
            tokens.reset_positions,
            MixtureSettings(**settings),
        )
        return open_stages(root, plan_stages([wanted], sizes, steps, sequence_length), sequence_length, seed)

    return make
