"""Figures counted by hand, baselines, and tokenizers that nobody should train with."""

import json
import math

import pytest

from danlu.errors import InputError
from danlu.tokenizer.measure import Figures, Labelled, TokenizerFile, compare
from small_tokenizers import TEXT, train

TEXTS = [
    Labelled("alpha beta\n", "prose", "en"),
    Labelled("你好，世界", "news", "zh"),
    Labelled("gamma delta ☃", "prose", ""),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The bytes of a tokenizer of single characters with bytes for others, and of one that has an unknown token."""
    place = tmp_path_factory.mktemp("measured")
    keys = {"kind": "char", "vocab_size": 400, "character_coverage": 0.98}
    with_bytes = train(place / "a", ["alphbetgmd \n" * 50], **keys).path
    unknown = train(place / "b", ["alphbetgmd \n" * 50], **keys, byte_fallback=False).path
    return with_bytes.read_bytes(), unknown.read_bytes()


def test_figures_by_hand(data):
    chars, unknown, *_ = compare(TEXTS, [TokenizerFile(data[0], "bytes"), TokenizerFile(data[1], "unknown")])
    assert (chars.total.texts, chars.total.bytes) == (3, 11 + 15 + 15)
    # Each Chinese character is a word; the sign and the snowman are none.
    assert chars.total.words == 2 + 4 + 2
    assert chars.total.tokens == 11 + 15 + (12 + 3)
    assert chars.total.unknown == 0
    assert chars.total.returned == 3
    assert unknown.total.tokens == 11 + 5 + 13
    assert unknown.total.unknown == 5 + 1
    assert unknown.total.returned == 1
    assert unknown.domains["news"].rates()["unknown_rate"] == 1.0
    assert {name: one.words for name, one in unknown.languages.items()} == {"en": 2, "zh": 4, "not told": 2}
    rates = chars.domains["prose"].rates()
    assert rates["bytes_per_token"] == 1.0
    assert rates["fertility"] == 26 / 4
    assert rates["encode_mb_per_second"] > 0


def test_groups_add_up(data):
    for one in compare(TEXTS * 300, [TokenizerFile(data[0], "x")]):
        for groups in (one.domains, one.languages):
            total = Figures()
            for figures in groups.values():
                total.add(figures)
            assert {k: v for k, v in vars(total).items() if k != "seconds"} == {
                k: v for k, v in vars(one.total).items() if k != "seconds"
            }
            assert total.seconds == pytest.approx(one.total.seconds)


def test_baselines():
    texts = [Labelled(f"one two, three {word}", "d", "en") for word in ("a", "b", "c", "d", "e", "f")]
    characters, words = compare(texts, [])
    assert characters.total.tokens == sum(len(item.text) for item in texts)
    # Only the last word of each text is not in the other half.
    assert words.total.tokens == 5 * len(texts)
    assert words.total.unknown == len(texts)
    # Texts of the other half have an "e" in their words.
    assert characters.total.unknown == len(texts) - 1
    assert words.total.returned == 0
    assert math.isnan(words.total.rates()["encode_mb_per_second"])


def test_baselines_have_no_more_words_than_the_largest(data):
    texts = [Labelled(" ".join(f"w{i}" for i in range(j, j + 900)), "d", "") for j in range(0, 5000, 100)]
    *_, words = compare(texts, [TokenizerFile(data[0], "x")])
    assert words.vocab_size == json.loads(data[0])["model"]["vocab"].__len__()


def test_a_tokenizer_without_eos_is_measured_with_a_note(data):
    description = json.loads(data[0].replace(b"<|end_of_text|>", b"<|enough|>"))
    given = TokenizerFile(json.dumps(description).encode(), "odd")
    assert "end-of-text" in given.note
    assert compare(TEXTS, [given])[0].note == given.note


def test_special_names_and_long_texts_are_plain_text(data, tmp_path):
    given = TokenizerFile(train(tmp_path, [TEXT], vocab_size=500).path.read_bytes(), "long")
    one, *_ = compare([Labelled(TEXT + "<|end_of_text|>", "d", "")], [given])
    assert one.total.returned == 1


def test_the_speed_is_that_of_what_danlu_encodes_with(data, tmp_path):
    """The package that is named encodes, and its ids are those of the other."""
    pytest.importorskip("fastokens")
    byte_level = TokenizerFile(train(tmp_path, [TEXT], vocab_size=500).path.read_bytes(), "fast")
    chars = TokenizerFile(data[0], "slow")
    texts = [Labelled(TEXT, "d", ""), Labelled("", "d", "")]
    one, other, *baselines = compare(texts, [byte_level, chars])
    assert (one.encoder, other.encoder) == ("fastokens", "tokenizers")
    assert {baseline.encoder for baseline in baselines} == {""}
    assert one.total.tokens == len(byte_level._tokenizer.encode(TEXT, add_special_tokens=False).ids)


def test_refusals(data):
    with pytest.raises(InputError, match="--text"):
        compare([], [TokenizerFile(data[0], "x")])
    with pytest.raises(InputError, match="bad"):
        TokenizerFile(b"{", "bad")
    assert all(math.isnan(rate) for rate in Figures().rates().values())
