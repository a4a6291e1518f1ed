"""Tiny sequence classifiers of Hugging Face's format: random ones, and one that weighs two kinds of words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast
from transformers.utils import logging

from danlu.scorers import transformer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
TEXT = "the river rose in the night and by morning the field was under water"
WORDS = tuple(dict.fromkeys([*TEXT.split(), *"河水上涨"]))
VOCABULARY = {word: number for number, word in enumerate((*SPECIAL, *WORDS))}
SHAPE: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}

logging.disable_progress_bar()


def save_tokenizer(place: Path, **names: str) -> None:
    """Words between spaces, most of them unknown."""
    made = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    given = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", **names}
    PreTrainedTokenizerFast(tokenizer_object=made, **given).save_pretrained(place)


def save_bert(
    place: Path,
    labels: Sequence[str] = ("good", "bad"),
    kind: Any = None,
    most: int = 64,
    make: Any = BertForSequenceClassification,
) -> Any:
    """A random network with these outputs and so many positions, and its tokenizer; returns the network."""
    torch.manual_seed(7)
    names = dict(enumerate(labels))
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        max_position_embeddings=most,
        id2label=names,
        label2id={name: number for number, name in names.items()},
        problem_type=kind,
        initializer_range=1.0,
        **SHAPE,
    )
    network = make(config).eval()
    network.save_pretrained(place)
    save_tokenizer(place)
    return network


def save_votes(place: Path, votes: Mapping[str, float]) -> None:
    """A network whose probability of "good" is 0.98 where a window's votes are above 0, 0.5 at 0, and 0.02 below."""
    network = save_bert(place)
    layer, direction = network.bert.encoder.layer[0], torch.eye(SHAPE["hidden_size"])[0]
    direction = direction - direction.roll(1)
    with torch.no_grad():
        for name, weights in network.named_parameters():
            weights.fill_(float(name.endswith("LayerNorm.weight")))
        for word, vote in votes.items():
            # Every norm makes them as long as one another: it is the number of words that counts.
            network.bert.embeddings.word_embeddings.weight[VOCABULARY[word]] = vote * direction
        # Without queries and keys all tokens look at all alike.
        for linear in (layer.attention.self.value, layer.attention.output.dense, network.bert.pooler.dense):
            linear.weight.copy_(torch.eye(SHAPE["hidden_size"]))
        network.classifier.weight.copy_(torch.stack([direction, -direction]))
    network.save_pretrained(place)


@contextmanager
def batch_sizes() -> Iterator[list[int]]:
    """How many windows a network has been given at a time, so far."""
    sizes: list[int] = []
    opened = transformer._open

    def watched(*settings: Any) -> transformer.Head:
        head = opened(*settings)

        def network(**inputs: Any) -> Any:
            sizes.append(len(inputs["input_ids"]))
            return head.network(**inputs)

        return replace(head, network=network)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transformer, "_open", watched)
        yield sizes
