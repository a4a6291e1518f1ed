"""Unigram: a vocabulary that is filled, whatever the order of the text, and pieces that can be trusted."""

import numpy as np
import pytest
from tokenizers import Tokenizer

from danlu.tokenizer.codec import Codec
from danlu.tokenizer.unigram import digamma, estimate, learn_pieces
from small_tokenizers import TEXT, train


def test_rare_pieces_go_and_single_characters_stay():
    found = estimate({"a": 0.1, "ab": 0.4, "b": 9.0}, "ab")
    assert list(found) == ["a", "b"]


def test_digamma():
    # Euler's constant, and the recurrence to the next number.
    assert digamma(np.array([1.0]))[0] == pytest.approx(-0.5772156649015329, abs=1e-12)
    x = np.array([0.01, 0.5, 3.7, 8.0, 1e9])
    assert digamma(x + 1) == pytest.approx(digamma(x) + 1 / x, rel=1e-12)


def test_the_vocabulary_is_filled_and_the_characters_are_in_it():
    words = [(word, TEXT.split().count(word)) for word in dict.fromkeys(TEXT.split())][:400]
    alphabet = sorted(set("".join(word for word, _ in words)))
    pieces = learn_pieces(words, alphabet, 300, 16, reserved=["class"])
    assert len(pieces) == 300
    assert set(alphabet) <= pieces.keys()
    assert "class" not in pieces
    assert list(pieces.values()) == sorted(pieces.values(), reverse=True)
    assert max(map(len, pieces)) <= 16


def test_fewer_pieces_where_the_text_has_no_more(tmp_path):
    made = train(tmp_path, ["abab abab"], kind="unigram", vocab_size=1000)
    assert made.vocab_size < 330
    assert "no further piece" in made.reason


def test_order_does_not_matter(tmp_path):
    lines = TEXT.splitlines()
    one = train(tmp_path / "a", lines, kind="unigram", vocab_size=600)
    two = train(tmp_path / "b", lines[::-1], kind="unigram", vocab_size=600)
    assert one.sha256 == two.sha256


def test_characters_outside_become_bytes_and_names_stay_text(tmp_path):
    made = train(tmp_path, [TEXT], kind="unigram", vocab_size=700)
    codec = Codec.load(made.path)
    for text in ("𝔘", "<|end_of_text|>", "<0x41>"):
        assert codec.decode(codec.encode(text)) == text
    vocab = Tokenizer.from_file(str(made.path)).get_vocab()
    assert codec.encode("𝔘") == [vocab[f"<0x{byte:02X}>"] for byte in "𝔘".encode()]
