"""What [tokenizer] refuses."""

import pytest
from pydantic import ValidationError

from danlu.tokenizer.settings import TokenizerSettings


def test_sizes_with_units():
    assert TokenizerSettings(vocab_size="16K", sample_bytes="2M").vocab_size == 16_000


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"vocab_size": 259}, "260"),
        ({"kind": "unigram"}, "byte_bpe"),
        ({"pretokenizer": "bert"}, "gpt2"),
        ({"vocab": 300}, "Extra inputs"),
    ],
)
def test_refuses(keys, said):
    with pytest.raises(ValidationError, match=said):
        TokenizerSettings(**keys)
