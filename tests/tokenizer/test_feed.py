"""What trainers read is bounded and complete, and what teaches nothing is counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from danlu.errors import RecipeError
from danlu.tokenizer.codec import BOS, BYTE_TOKENS, EOS, PAD
from danlu.tokenizer.feed import (
    Feed,
    known_parts,
    make_vocabulary,
    require_room,
    room_for,
    unreachable_score,
)
from danlu.tokenizer.settings import TokenizerSettings


def feed_of(*texts):
    return Feed(lambda: iter(texts))


def test_every_pass_gives_the_whole_sample():
    feed = feed_of("ab\n", "好" * 2000)
    for _ in range(2):
        assert "".join(feed.pieces()) == "ab\n" + "好" * 2000
        assert (feed.documents, feed.bytes) == (2, 6003)


def test_alphabet_covers_the_share_and_counts_the_rest():
    feed = feed_of("a" * 90 + "b" * 9 + "好")
    assert feed.alphabet(0.99) == ["a", "b"]
    assert feed.left_out.total() == 3
    assert feed_of("aabb好").alphabet(1.0) == ["a", "b", "好"]
    assert feed_of("baba").alphabet(1.0, most=1) == ["a"]
    assert feed_of().alphabet(1.0) == []


def test_words_are_counted_most_frequent_first():
    words = feed_of("b a b", "c a b").words(pre_tokenizers.WhitespaceSplit())
    assert words == [("b", 3), ("a", 2), ("c", 1)]


def test_words_stay_within_memory_and_the_rare_are_counted():
    feed = feed_of("once upon", "often often often", "a time")
    words = feed.words(pre_tokenizers.WhitespaceSplit(), most_characters=8)
    assert words[0] == ("often", 3)
    assert sum(len(word) for word, _ in words) <= 8
    left = sum(len(word) * count for word, count in words)
    assert feed.left_out.total() + left == len("onceuponoftenoftenoftenatime")


def test_new_words_are_left_out_once_memory_is_full():
    feed = feed_of("one two,", "three", "one three 四 two,", "two!")
    assert list(feed.bounded_pieces(most_distinct_bytes=8)) == [
        *("one two,", "three", "one three ", " two,", "two", "")
    ]
    assert feed.left_out == {"words that memory has no room for": 3 + 1}
    assert "".join(feed_of("a b\n" * 5).bounded_pieces()) == "a b\n" * 5


def test_each_byte_is_left_out_once():
    """Also one of a character outside of the alphabet, in a word that memory has no room for."""
    feed = feed_of("abcd " * 2000, "efgh efgé")
    assert "é" not in feed.alphabet(0.9999)
    list(feed.bounded_pieces(most_distinct_bytes=3))
    assert feed.rare_characters() == ["é"]
    assert dict(feed.left_out) == {
        "characters outside of the alphabet": len("é".encode()),
        "words that memory has no room for": len("efghefg"),
    }
    # A word of nothing else was counted with its characters.
    feed.leave_out_word("éé")
    assert feed.left_out.total() == 2 + 7


def test_excerpts_are_of_the_last_pass():
    feed = feed_of("a" * 1000, *"bcdefghijklmnopqrstuvw")
    for _ in range(2):
        list(feed.pieces())
    assert feed.excerpts == ["a" * 400, *"bcdefghijklmnop"]


@given(text=st.text(max_size=50), alphabet=st.text(alphabet="a^-]\\b好", min_size=1, max_size=5))
def test_known_parts_leave_out_only_the_unknown(text, alphabet):
    parts = list(known_parts([text], sorted(set(alphabet))))
    assert "".join(parts) == "".join(character for character in text if character in alphabet)
    assert all(part in text for part in parts)


def test_vocabulary_has_special_tokens_bytes_and_each_name_once():
    vocabulary = make_vocabulary(TokenizerSettings(kind="bpe"), ["x", EOS, "<0x41>", "y"])
    assert list(vocabulary) == [BOS, EOS, PAD, *BYTE_TOKENS, "x", "y"]
    assert list(vocabulary.values()) == list(range(261))


def test_room():
    settings = TokenizerSettings(kind="bpe", vocab_size=300)
    assert room_for(settings) == 41
    require_room(settings, 40)
    with pytest.raises(RecipeError, match="at least 301"):
        require_room(settings, 41)


def test_unreachable_is_worse_than_any_spelling():
    score = unreachable_score([-1.0, -20.0], ["</s>", "<0x41>"])
    assert score < len("<0x41>") * -20.0
