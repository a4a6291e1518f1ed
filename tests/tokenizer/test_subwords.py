"""Trainers by counting: equal to slow ones, the rule for ties, and the tokens that a text must never become."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, trainers

from danlu.errors import RecipeError
from danlu.tokenizer.codec import BYTE_TOKENS, EOS, UNK, Codec
from danlu.tokenizer.feed import Feed
from danlu.tokenizer.pretokens import make_word_splitter
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.subwords import make_wordpiece, neighbours, train_bpe, word_symbols
from small_tokenizers import TEXT, train


def merges_of(tokenizer):
    return json.loads(tokenizer.to_str())["model"]["merges"]


def reference_bpe(words, alphabet, most):
    """Slow BPE with the library's rule: the largest count, then the smaller pair of ids."""
    splits, ids = {word: list(word) for word in words}, {c: i for i, c in enumerate(sorted(alphabet))}
    merges = []
    for _ in range(most):
        counts = {}
        for word, count in words.items():
            for pair in zip(splits[word], splits[word][1:], strict=False):
                counts[pair] = counts.get(pair, 0) + count
        counts = {pair: count for pair, count in counts.items() if count >= 2}
        if not counts:
            break
        pair = min(counts, key=lambda pair: (-counts[pair], ids[pair[0]], ids[pair[1]]))
        merges.append(list(pair))
        ids.setdefault("".join(pair), len(ids))
        for word, split in splits.items():
            joined, i = [], 0
            while i < len(split):
                step = 2 if tuple(split[i : i + 2]) == pair else 1
                joined.append("".join(split[i : i + step]))
                i += step
            splits[word] = joined
    return merges


@pytest.mark.parametrize("seed", range(5))
def test_bpe_equals_the_reference(seed):
    random.seed(seed)
    texts = ["".join(random.choices("abcd", k=random.randint(1, 6))) for _ in range(200)]
    words = {text: texts.count(text) for text in texts}
    settings = TokenizerSettings(kind="bpe", vocab_size=3 + 256 + 4 + 20, character_coverage=1.0)
    tokenizer = train_bpe(settings, Feed(lambda: iter(texts))).tokenizer
    assert merges_of(tokenizer) == reference_bpe(words, "abcd", 20)


def test_wordpiece_does_not_try_words_of_more_than_100_characters():
    tokenizer = make_wordpiece(TokenizerSettings(kind="wordpiece"), ["h", "##h"])
    assert tokenizer.encode("h" * 100).tokens == ["h", *["##h"] * 99]
    assert tokenizer.encode("h" * 101).tokens == [UNK]


def test_too_small_a_vocabulary_is_refused(tmp_path):
    with pytest.raises(RecipeError, match="Ask for at least"):
        train(tmp_path, [TEXT], kind="bpe", vocab_size=270)
    with pytest.raises(RecipeError, match="character_coverage"):
        train(tmp_path, [TEXT], kind="wordpiece", vocab_size=50)


def test_char_takes_the_most_frequent_characters(tmp_path):
    made = train(tmp_path, ["aaab" * 50 + "好"], kind="char", vocab_size=261, character_coverage=1.0)
    codec = Codec.load(made.path)
    assert codec.encode("ab好") == [259, 260, *(3 + byte for byte in "好".encode())]
    assert made.left_out_bytes == 3
    assert "outside of the alphabet" in made.reason


@pytest.mark.parametrize("kind", ["bpe", "unigram", "sentencepiece_bpe", "sentencepiece_unigram"])
def test_no_learned_token_is_a_special_or_a_byte_one(tmp_path, kind):
    """However often the sample spells the names out."""
    texts = [f"x{EOS}y<0x41>{UNK}</s> " * 500]
    made = train(tmp_path, texts, kind=kind, vocab_size=400)
    codec = Codec.load(made.path)
    for name in (EOS, UNK, "</s>", "<0x41>", *BYTE_TOKENS[65:70]):
        ids = codec.encode(name)
        assert len(ids) > 1
        assert not {0, 1, 2, 3} & set(ids)
        assert codec.decode(ids) == name


def test_frequency_wordpiece_equals_the_library(tmp_path):
    made = train(tmp_path, [TEXT], kind="wordpiece", vocab_size=700, character_coverage=1.0)
    ours = Tokenizer.from_file(str(made.path)).get_vocab(with_added_tokens=False)
    peer = Tokenizer(models.WordPiece(unk_token=UNK))
    peer.pre_tokenizer = Tokenizer.from_file(str(made.path)).pre_tokenizer
    peer.train_from_iterator(
        TEXT.splitlines(), trainers.WordPieceTrainer(vocab_size=696, min_frequency=2, show_progress=False)
    )
    theirs = peer.get_vocab(with_added_tokens=False).keys()
    # Ties fall by the ids of single characters, which differ from process to process in the library.
    assert len(theirs - ours.keys()) < 40


@given(st.lists(st.text(alphabet="ab1,。 \t\n\r好界é\u0301한ノ👩\u200d\u00a0\0", max_size=12), max_size=4))
def test_symbols_of_neighbours_are_those_of_whole_words(texts):
    splitter = make_word_splitter()
    words = [word for text in texts for word, _ in splitter.pre_tokenize_str(text)]
    alphabet = sorted(set("".join(texts)))
    assert word_symbols(neighbours(texts), alphabet) == word_symbols(words, alphabet)
