"""Which documents train the tokenizer: about `sample_bytes` of the training split, shared out by domain weight.

Decides: in each domain the documents with the smallest hash of (seed, id) until its share is full; what a small
domain cannot fill goes to the others. Guarantees: the same corpus and seed give the same sample, in any file order.
Costs: the corpus is read twice; memory is 16 bytes a document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from danlu.errors import RecipeError
from danlu.read.store import list_domains, list_parts, read_part
from danlu.records import Document
from danlu.rng import hash_text


def sample_texts(corpus: Path, weights: Mapping[str, float], sample_bytes: int, seed: int) -> Iterator[str]:
    """Texts of the sample; `weights` of the domains, or empty for shares by size.

    Raises RecipeError where the weights and the corpus disagree on a domain.
    """
    domains = list_domains(corpus, "train")
    if weights and set(weights) != set(domains):
        wrong = sorted(set(weights) ^ set(domains))[0]
        raise RecipeError(
            f"mixture.weights and the corpus disagree on domain {wrong!r}; it has: {', '.join(domains)}"
        )
    scanned = {domain: _scan(corpus, domain, seed) for domain in domains}
    sizes = {domain: int(sizes.sum()) for domain, (_, sizes) in scanned.items()}
    quotas = share_out(
        weights or {domain: float(size) for domain, size in sizes.items()}, sizes, sample_bytes
    )
    for domain in domains:
        last = _last_hash(*scanned[domain], quotas[domain])
        for document in _documents(corpus, domain):
            if hash_text(document.id, seed) <= last:
                yield document.text


def share_out(weights: Mapping[str, float], sizes: Mapping[str, int], budget: int) -> dict[str, int]:
    """Bytes to take of each domain: by weight, none more than it has, the rest to the others."""
    quotas = dict.fromkeys(weights, 0)
    open_domains = sorted(weights)
    while open_domains:
        left = budget - sum(quotas[domain] for domain in quotas if domain not in open_domains)
        total = sum(weights[domain] for domain in open_domains) or 1.0
        quotas.update({domain: int(left * weights[domain] / total) for domain in open_domains})
        full = [domain for domain in open_domains if quotas[domain] >= sizes[domain]]
        if not full:
            break
        quotas.update({domain: sizes[domain] for domain in full})
        open_domains = [domain for domain in open_domains if domain not in full]
    return quotas


def _documents(corpus: Path, domain: str) -> Iterator[Document]:
    for part in list_parts(corpus, "train", domain):
        yield from read_part(part)


def _scan(corpus: Path, domain: str, seed: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Hash and UTF-8 bytes of every document of a domain."""
    rows = [
        (hash_text(document.id, seed), len(document.text.encode())) for document in _documents(corpus, domain)
    ]
    hashes = np.array([row[0] for row in rows], dtype=np.uint64)
    return hashes, np.array([row[1] for row in rows], dtype=np.int64)


def _last_hash(hashes: npt.NDArray[np.uint64], sizes: npt.NDArray[np.int64], quota: int) -> int:
    """The largest hash that is still taken: the document that fills the quota is the last one."""
    if quota <= 0 or not len(hashes):
        return -1
    order = np.argsort(hashes, kind="stable")
    taken = int(np.searchsorted(np.cumsum(sizes[order]), quota))
    return int(hashes[order[min(taken, len(order) - 1)]])
