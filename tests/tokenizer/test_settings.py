"""What [tokenizer] refuses."""

import pytest
from pydantic import ValidationError

from danlu.errors import RecipeError
from danlu.recipe import load
from danlu.tokenizer.settings import TokenizerSettings


def test_sizes_with_units():
    assert TokenizerSettings(vocab_size="16K", sample_bytes="2M").vocab_size == 16_000


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"vocab_size": 259}, "260"),
        ({"kind": "tiktoken"}, "byte_bpe"),
        ({"pretokenizer": "bert"}, "gpt2"),
        ({"vocab": 300}, "Extra inputs"),
        ({"score": "likelihood"}, "only on wordpiece"),
        ({"kind": "char", "pretokenizer": "gpt2"}, "only on byte_bpe, bpe, unigram"),
        ({"kind": "bpe", "character_coverage": 0.9}, "0.98"),
        ({"kind": "bpe", "split_digits": False}, "only on sentencepiece_bpe"),
        ({"kind": "bpe", "vocab_size": 200}, "needs at least 260"),
        ({"path": "x.json", "byte_fallback": False}, "no effect with path"),
        ({"special_ids": {"bos": 1, "eos": 2}}, "without a gap"),
        ({"special_ids": {"bos": 0, "eos": 0}}, "different"),
        ({"special_ids": {"bos": 0, "pad": 1}}, "no eos"),
        ({"kind": "unigram", "special_ids": {"eos": 0}}, "no unk"),
        ({"special_ids": {"cls": 0}}, "bos"),
    ],
)
def test_refuses(keys, said):
    with pytest.raises(ValidationError, match=said):
        TokenizerSettings(**keys)


def test_special_ids_by_kind():
    def ids(**keys):
        return TokenizerSettings(**keys).ids_of_roles()

    assert ids() == ids(kind="bpe") == {"bos": 0, "eos": 1, "pad": 2}
    unknown = {"bos": 0, "eos": 1, "pad": 2, "unk": 3}
    assert ids(kind="bpe", byte_fallback=False) == ids(kind="wordpiece") == ids(kind="unigram") == unknown
    assert ids(kind="sentencepiece_bpe") == unknown
    given = {"unk": 0, "bos": 1, "eos": 2, "pad": -1}
    assert ids(kind="sentencepiece_bpe", special_ids=given) == {"unk": 0, "bos": 1, "eos": 2}


def test_longest_token_by_kind():
    lengths = {kind: TokenizerSettings(kind=kind).longest_token() for kind in ("byte_bpe", "unigram")}
    assert lengths == {"byte_bpe": 128, "unigram": 16}
    assert TokenizerSettings(max_token_length=7).longest_token() == 7


RECIPE = """
name = "a"
[[corpus.source]]
domain = "d"
paths = ["*.txt"]
[tokenizer]
kind = "byte_bpe"
vocab_size = 2048
[train]
steps = 1
"""


@pytest.mark.parametrize(
    ("text", "settings", "place"),
    [
        (RECIPE, ("tokenizer.vocab_size=100",), "--set tokenizer.vocab_size=100: "),
        (
            RECIPE,
            ("tokenizer.score=likelihood", "tokenizer.sample_bytes=9"),
            "--set tokenizer.score=likelihood: ",
        ),
        (RECIPE.replace("2048", "100"), ("tokenizer.sample_bytes=9",), "r.toml, line 6: "),
    ],
)
def test_keys_that_contradict_each_other_are_found_where_they_stand(tmp_path, text, settings, place):
    """The finding is one about the table; what was set, and is named in it, is to blame."""
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(RecipeError) as caught:
        load(tmp_path / "r.toml", settings)
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(f"{place}tokenizer: ")
