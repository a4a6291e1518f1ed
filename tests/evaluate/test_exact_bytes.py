"""Perplexity by tokens and bits per byte by UTF-8 bytes, for every kind of tokenizer, by sums written out.

A document measured whole has its own bytes, whatever a tokenizer adds to it or loses; a part has those of its tokens.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from danlu.evaluate.bits import evaluate_domain
from danlu.objective.causal import Layout, Row, fill
from danlu.records import IGNORE_INDEX, Batch, Piece, Sample
from danlu.tokenizer.codec import Codec
from danlu.tokens.packing import KINDS as PACKINGS
from danlu.tokens.packing import pack
from small_tokenizers import KINDS, LOSSLESS, TEXT, train

TEXTS = [
    "plain words, 12345; it's  two  spaces\r\n\ttab",
    "丹炉炼字，一字千金。naïve café",
    "👩‍👩‍👧‍👦 𝔘𝔫𝔦 \x00\x07 \U0010ffff",
    "한글 العربية नमस्ते e\u0301 \ufffd",
    "a",
    " " * 300 + "好" * 40,
    TEXT[:700],
]
SIZE = 37


@pytest.fixture(scope="module")
def codecs(tmp_path_factory):
    """One of each kind."""
    pytest.importorskip("sentencepiece")
    place = tmp_path_factory.mktemp("exact")
    return {
        name: Codec.load(train(place / name, [TEXT], vocab_size=700, **keys).path)
        for name, keys in KINDS.items()
    }


def measure(codec, texts, packing, losses, rows=None):
    """All texts in one batch, or its first rows; every token but a text's first is a label once."""
    ids = codec.encode_documents(texts)
    made = pack(np.array([len(each) for each in ids]), SIZE, packing)
    rows = made.samples if rows is None else rows
    arrays = [np.empty((rows, SIZE), dtype=np.int64) for _ in range(4)]
    samples = []
    for row in range(rows):
        columns = slice(made.offsets[row], made.offsets[row + 1])
        parts = [array[columns].tolist() for array in (made.documents, made.starts, made.lengths)]
        pieces = [Piece("prose", *part) for part in zip(*parts, strict=True)]
        taken = [(ids[p.document][p.start : p.start + p.length + 1], p.length) for p in pieces]
        fill(own := Row(*(array[row] for array in arrays)), taken, Layout(codec.pad_id))
        samples.append(
            Sample(own.inputs, own.labels, own.positions, own.documents, tuple(pieces), "prose", row)
        )
    documents = SimpleNamespace(
        domain="prose",
        lengths=np.array([len(each) for each in ids]),
        byte_counts=np.array([len(text.encode()) for text in texts]),
    )
    return evaluate_domain(losses, documents, [Batch(*arrays, tuple(samples), 0)], codec.token_bytes())


def losses_of(batch):
    """Nats that differ from label to label."""
    return np.where(batch.labels == IGNORE_INDEX, np.nan, 0.5 + (batch.labels * 37 % 101) / 50)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_figures_are_the_sums_over_tokens_and_bytes(kind, packing, codecs):
    codec = codecs[kind]
    nats, tokens = 0.0, 0
    for ids in codec.encode_documents(TEXTS):
        assert ids[0] == codec.bos_id
        for token in ids[1:].tolist():
            nats += 0.5 + (token * 37 % 101) / 50
            tokens += 1
    length = sum(len(text.encode()) for text in TEXTS)
    found = measure(codec, TEXTS, packing, losses_of)
    assert (found.tokens, found.bytes) == (tokens, length)
    assert found.loss == pytest.approx(nats / tokens, rel=1e-12)
    assert found.perplexity == pytest.approx(math.exp(nats / tokens), rel=1e-12)
    assert found.bits_per_byte == pytest.approx(nats / math.log(2) / length, rel=1e-12)


@pytest.mark.parametrize("kind", LOSSLESS)
def test_a_part_has_the_bytes_of_its_tokens(kind, codecs):
    """Of byte tokens, of pieces and of characters; the space that SentencePiece puts before a text is one of them."""
    # No character is cut where the part ends, among letters that every kind has learned.
    text = TEXTS[0] + "𝔘é好" + TEXTS[-1]
    found = measure(codecs[kind], [text], "chunk", losses_of, rows=2)
    ids = codecs[kind].encode(text)[: 2 * SIZE]
    assert found.tokens == len(ids)
    known = codecs[kind].decode(ids).encode()
    assert text.encode().startswith(known)
    assert found.bytes == len(known) + kind.startswith("sentencepiece")


@pytest.mark.parametrize("kind", ["bpe", "char", "unigram", "sentencepiece_bpe", "sentencepiece_unigram"])
def test_a_byte_token_is_one_byte(kind, codecs):
    codec = codecs[kind]
    ids = codec.encode("𝔘")
    assert set(ids) & set(codec._byte_tokens)
    prefix = kind.startswith("sentencepiece")
    assert codec.token_bytes()[ids].tolist() == [1] * (4 + prefix)


def test_perplexity_goes_by_tokens_and_bits_by_bytes(codecs):
    """One model of the text, several tokenizers: equal nats a text give equal bits per byte, not equal perplexity."""
    found = {}
    for kind in ("byte_bpe", "wordpiece", "sentencepiece_unigram", "char"):
        found[kind] = measure(
            codecs[kind],
            TEXTS,
            "best_fit",
            lambda batch: np.full(batch.labels.shape, 5000.0 / batch.target_tokens),
        )
    bits = {one.bits_per_byte for one in found.values()}
    assert max(bits) == pytest.approx(min(bits), rel=1e-12)
    assert found["byte_bpe"].perplexity > 1.5 * found["char"].perplexity
