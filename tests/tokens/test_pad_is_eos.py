"""A tokenizer whose padding is its end of text, as GPT-2's: the end of text keeps its loss, padding has none."""

import numpy as np
import pytest

from danlu.records import IGNORE_INDEX, PAD_DOCUMENT
from small_shards import EOS, PAD

LENGTHS = {"prose": [5, 16, 9, 3, 40, 2, 17, 8]}
TOKENS = sum(LENGTHS["prose"])


@pytest.mark.parametrize("packing", ["best_fit", "chunk", "greedy", "none"])
def test_the_end_of_text_keeps_its_loss(make_batches, codec, packing, tmp_path):
    found = {}
    for pad in (PAD, EOS):
        codec.pad_id = pad
        batches = make_batches(LENGTHS, packing=packing, total_tokens=4 * TOKENS)
        seen, samples = 0, []
        while seen < TOKENS:
            samples.append(batches.batch(len(samples), 1))
            seen += sum(piece.length for piece in samples[-1].samples[0].pieces)
        found[pad] = samples
        ends = sum(int((sample.labels == EOS).sum()) for sample in samples)
        assert seen == TOKENS
        assert ends == len(LENGTHS["prose"])
    for apart, same in zip(found[PAD], found[EOS], strict=True):
        np.testing.assert_array_equal(apart.labels, same.labels)
        padding = same.documents == PAD_DOCUMENT
        assert (same.inputs[padding] == EOS).all()
        assert (same.labels[padding] == IGNORE_INDEX).all()
        np.testing.assert_array_equal(apart.inputs[~padding], same.inputs[~padding])
