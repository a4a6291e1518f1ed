"""Small tokenizers of every kind, trained on a mixed text, for several tests."""

import ast
import inspect
import io
from collections.abc import Iterable
from pathlib import Path

import pytest

from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.train import TrainedTokenizer, train_tokenizer

TEXT = inspect.getsource(ast)[:30_000] + "".join(
    f"第{i}章：丹炉炼字，一字千金。naïve café, Привет мир; it's {i * 37}\n" for i in range(300)
)

KINDS = {
    "byte_bpe": {"kind": "byte_bpe", "pretokenizer": "digits"},
    "bpe": {"kind": "bpe", "pretokenizer": "cjk"},
    "bpe without bytes": {"kind": "bpe", "byte_fallback": False, "pretokenizer": "code"},
    "char": {"kind": "char"},
    "wordpiece": {"kind": "wordpiece"},
    "wordpiece by likelihood": {"kind": "wordpiece", "score": "likelihood"},
    "unigram": {"kind": "unigram", "pretokenizer": "latex"},
    "sentencepiece_bpe": {"kind": "sentencepiece_bpe"},
    "sentencepiece_unigram": {"kind": "sentencepiece_unigram"},
}
LINES = [
    "the quick brown fox jumps over the lazy dog",
    "low lower lowest newer newest wider",
    "你好 世界 , 预训练 语言 模型",
    "numbers 123 4567 and 89",
    "hug pug pun bug bun hugs",
] * 60
"""What the golden models of SentencePiece were trained on."""

LOSSLESS = ("byte_bpe", "bpe", "char", "unigram", "sentencepiece_bpe", "sentencepiece_unigram")


def train(directory: Path, texts: list[str], **settings) -> TrainedTokenizer:
    """Trains on these texts."""
    return train_tokenizer(TokenizerSettings(**settings), lambda: iter(texts), directory)


def package_model(lines: Iterable[str], **options) -> bytes:
    """The .model that the package `sentencepiece` trains by itself."""
    sentencepiece = pytest.importorskip("sentencepiece")
    data = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=data, minloglevel=2, num_threads=1, **options
    )
    return data.getvalue()
