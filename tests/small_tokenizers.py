"""Small tokenizers of every kind, trained on a mixed text, for several tests."""

import ast
import inspect
from pathlib import Path

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
LOSSLESS = ("byte_bpe", "bpe", "char", "unigram", "sentencepiece_bpe", "sentencepiece_unigram")


def train(directory: Path, texts: list[str], **settings) -> TrainedTokenizer:
    """Trains on these texts."""
    return train_tokenizer(TokenizerSettings(**settings), lambda: iter(texts), directory)
