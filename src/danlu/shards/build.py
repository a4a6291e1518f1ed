"""Corpus parts -> token shards, one shard a part.

Guarantees: a finished shard of the same part, tokenizer and format is not made again, unless it is damaged; one whose
part is gone is removed, so that an interrupted build goes on at the shard where it stopped. Costs: the encoder's speed;
finished shards are read once; memory of one part's ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from danlu.errors import DamagedError, InputError, MissingError
from danlu.files import remove_temporaries, sha256_file
from danlu.log import Progress, progress
from danlu.read.store import list_domains, list_parts, read_part
from danlu.records import Document
from danlu.shards.documents import list_shards
from danlu.shards.shard import (
    ShardHeader,
    open_shard,
    provenance_path,
    read_header,
    verify_shard,
    write_shard,
)
from danlu.tokenizer.codec import Codec

SPLITS = ("train", "validation")
_CHUNK_CHARACTERS = 2_000_000


@dataclass(frozen=True, slots=True)
class DomainTokens:
    """One domain of one split: `bytes` are those of the UTF-8 text, `tokens` include BOS and EOS."""

    split: str
    domain: str
    documents: int
    tokens: int
    bytes: int
    shards: int
    shards_made: int


@dataclass(frozen=True, slots=True)
class TokensReport:
    """What the stage holds now and how much of it was made by this call."""

    domains: tuple[DomainTokens, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    def tokens(self, split: str) -> int:
        """All tokens of a split."""
        return sum(row.tokens for row in self.domains if row.split == split)


def build_tokens(codec: Codec, corpus: Path, directory: Path) -> TokensReport:
    """Encodes corpus/{train,validation}/<domain> into tokens/{train,validation}/<domain>/shard-*.safetensors.

    Raises InputError where there is no training text; a full disk leaves every finished shard as it was.
    """
    found = {
        (split, domain): list_parts(corpus, split, domain)
        for split in SPLITS
        for domain in list_domains(corpus, split)
    }
    if not any(parts for (split, _), parts in found.items() if split == "train"):
        raise InputError(f"{corpus} holds no training text; build the corpus first")
    _remove_unknown(directory, {directory / split / domain for split, domain in found})
    with progress("tokenise", None, "bytes") as bar:
        rows = [
            _build_domain(codec, directory / split / domain, parts, split, bar)
            for (split, domain), parts in found.items()
        ]
    return TokensReport(tuple(rows))


def _build_domain(
    codec: Codec, directory: Path, parts: list[Path], split: str, bar: Progress
) -> DomainTokens:
    directory.mkdir(parents=True, exist_ok=True)
    remove_temporaries(directory)
    wanted, made = [], 0
    for number, part in enumerate(parts):
        path = directory / f"shard-{number:05d}.safetensors"
        header = ShardHeader(
            domain=directory.name,
            tokenizer_sha256=codec.sha256,
            vocab_size=codec.vocab_size,
            bos_id=codec.bos_id,
            eos_id=codec.eos_id,
            inputs=sha256_file(part),
        )
        wanted.append(path)
        if not _is_finished(path, header):
            _build_shard(codec, path, header, part, bar)
            made += 1
    for path in set(list_shards(directory)) - set(wanted):
        _remove_shard(path)
    shards = [open_shard(path) for path in wanted]
    return DomainTokens(
        split=split,
        domain=directory.name,
        documents=sum(len(shard.byte_counts) for shard in shards),
        tokens=sum(len(shard.ids) for shard in shards),
        bytes=sum(int(shard.byte_counts.sum()) for shard in shards),
        shards=len(shards),
        shards_made=made,
    )


def _build_shard(codec: Codec, path: Path, header: ShardHeader, part: Path, bar: Progress) -> None:
    documents: list[Document] = []
    ids: list[npt.NDArray[np.uint32]] = []
    for chunk in _chunks(read_part(part)):
        texts = [document.text for document in chunk]
        ids += codec.encode_documents(texts)
        documents += chunk
        bar.advance(sum(len(text.encode()) for text in texts))
    write_shard(path, header, documents, ids)


def _chunks(documents: Iterator[Document]) -> Iterator[list[Document]]:
    """Documents in lists of about two million characters: what one call of the encoder holds."""
    chunk: list[Document] = []
    characters = 0
    for document in documents:
        chunk.append(document)
        characters += len(document.text)
        if characters >= _CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _is_finished(path: Path, header: ShardHeader) -> bool:
    try:
        found = read_header(path)
        verify_shard(path)
    except (MissingError, DamagedError):
        return False
    return replace(found, checksum="") == replace(header, checksum="") and provenance_path(path).exists()


def _remove_unknown(directory: Path, wanted: set[Path]) -> None:
    """Removes shards of domains that the corpus no longer has."""
    for split in SPLITS:
        for domain in (directory / split).glob("*"):
            if domain not in wanted:
                for path in list_shards(domain):
                    _remove_shard(path)


def _remove_shard(path: Path) -> None:
    path.unlink()
    provenance_path(path).unlink(missing_ok=True)
