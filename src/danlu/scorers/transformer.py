"""How a transformer from a local directory scores a text: a sequence classifier of Hugging Face's format.

Decides: a head of one output gives its value, as FineWeb-Edu's does (Penedo et al. 2024, section 4); of several, the
softmax probability of the label named, or its sigmoid where the head says that labels do not exclude one another. The
score is the mean over the windows read; blank texts have none and are kept. Guarantees: only local files, weights from
safetensors alone, no code of the directory is run, and a head that the files do not hold is refused rather than made
up. Costs: the network once a process; a core scores about one window of 512 tokens in two seconds by a network of 110
million parameters.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from danlu.errors import InputError, MissingError
from danlu.scorers.settings import Transformer
from danlu.words.text import Measured, Text

MEASURES: tuple[str, ...] = ("score",)

_CHARACTERS_A_TOKEN = 16
"""No more of a text is tokenized than so many characters a token that is read."""
_UNLIMITED = 1 << 20
"""Positions of networks that name no limit."""


@dataclass(frozen=True, slots=True)
class Head:
    """A network with its tokenizer, and which of its outputs is the score."""

    network: Any
    tokenizer: Any
    output: int
    kind: str
    """ "value", "softmax" or "sigmoid"."""
    most_tokens: int
    """What the network's positions allow in one window."""
    padding: int | None
    """The token behind shorter windows of a batch."""


def measure(text: Text, settings: Transformer) -> Measured:
    """The score, NaN for blank texts; the text stays as it is.

    Raises MissingError without transformers, InputError where the directory is not what it should be.
    """
    if not text.text.strip():
        return Measured(text, (math.nan,))
    return Measured(text, (_score(text.text, _open(settings), settings),))


def decide(values: Sequence[float], settings: Transformer) -> str:
    """ "" keeps, also what was not measured; else "below_score" or "above_score"."""
    (score,) = values
    if settings.min_score is not None and score < settings.min_score:
        return "below_score"
    if settings.max_score is not None and score > settings.max_score:
        return "above_score"
    return ""


def forget_files() -> None:
    """The directory is read anew by the next text: for a process that builds a second time."""
    _load.cache_clear()


def _score(text: str, head: Head, settings: Transformer) -> float:
    import torch

    windows = _windows(text, head, settings)
    # Without a padding token a network cannot tell where the shorter of two windows ends.
    step = settings.batch if head.padding is not None else 1
    scores: list[float] = []
    with torch.inference_mode():
        for begin in range(0, len(windows), step):
            batch = windows[begin : begin + step]
            longest = max(map(len, batch))
            ids = torch.tensor([[*one, *[head.padding or 0] * (longest - len(one))] for one in batch])
            mask = torch.tensor([[1] * len(one) + [0] * (longest - len(one)) for one in batch])
            logits = head.network(input_ids=ids, attention_mask=mask).logits.float()
            if head.kind == "softmax":
                logits = logits.softmax(-1)
            elif head.kind == "sigmoid":
                logits = logits.sigmoid()
            scores += logits[:, head.output].tolist()
    return math.fsum(scores) / len(scores)


def _windows(text: str, head: Head, settings: Transformer) -> list[list[int]]:
    """The token ids of each window with the special tokens around it; at least one."""
    length = min(settings.max_tokens, head.most_tokens)
    # A lone surrogate has no UTF-8.
    sample = text[: _CHARACTERS_A_TOKEN * length * settings.windows].encode("utf-8", "replace").decode()
    found = head.tokenizer(sample, truncation=True, max_length=length, return_overflowing_tokens=True)
    windows: list[list[int]] = found["input_ids"]
    return windows[: settings.windows]


def _open(settings: Transformer) -> Head:
    place = Path(settings.model)
    # A build that named one file would not notice that another of the directory has changed.
    if not (place / "config.json").is_file():
        why = "is a file" if place.is_file() else "has no config.json"
        raise InputError(f"transformer.model: {place} {why}; name a local directory of Hugging Face's format")
    changed = tuple(
        sorted((path.name, path.stat().st_mtime_ns) for path in place.iterdir() if path.is_file())
    )
    return _load(place, settings.label, changed)


@lru_cache(maxsize=4)
def _load(place: Path, label: str, changed: tuple[tuple[str, int], ...]) -> Head:
    """Reads a directory; `changed` makes one whose files were replaced another one."""
    config = _read_config(place)
    names = [name for name, _ in changed]
    if not any(name.endswith(".safetensors") for name in names):
        others = [name for name in names if name.endswith((".bin", ".pt", ".pth", ".ckpt", ".h5"))]
        has = f"; {others[0]} may hold code, and is not read" if others else ""
        raise InputError(f"transformer.model: {place} has no weights in safetensors{has}")
    if "auto_map" in config:
        raise InputError(
            f"transformer.model: {place} needs code of its own (auto_map in config.json), which is never run"
        )
    network, tokenizer = _read_network(place)
    output, kind = _output(place, network.config, label)
    limit = min(_positions(network.config), int(tokenizer.model_max_length))
    if limit <= tokenizer.num_special_tokens_to_add():
        raise InputError(f"transformer.model: {place} allows {limit} tokens, which leaves no room for a text")
    return Head(network, tokenizer, output, kind, limit, getattr(network.config, "pad_token_id", None))


def _read_config(place: Path) -> dict[str, Any]:
    try:
        value = json.loads((place / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"transformer.model: {place / 'config.json'} cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"transformer.model: {place / 'config.json'} is no table of settings")
    return value


def _read_network(place: Path) -> tuple[Any, Any]:
    try:
        import torch
        from safetensors import SafetensorError
        from transformers import AutoModelForSequenceClassification, AutoTokenizer, utils
    except ImportError:
        raise MissingError(
            'the step use = "transformer" needs transformers; pip install "danlu[hf]"'
        ) from None
    # Every worker of a build would draw a bar and print a table; what they say is checked below.
    quiet: Any = utils.logging
    quiet.disable_progress_bar()
    quiet.set_verbosity_error()
    # A build runs a process a core.
    torch.set_num_threads(1)
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=True, trust_remote_code=False)
        network, report = AutoModelForSequenceClassification.from_pretrained(
            place,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            dtype=torch.float32,
        )
    except (OSError, ValueError, KeyError, RuntimeError, AttributeError, SafetensorError) as error:
        why = str(error).strip().partition("\n")[0]
        raise InputError(f"transformer.model: {place} cannot be read: {why}") from error
    missing = sorted([*report["missing_keys"], *(str(key) for key in report["mismatched_keys"])])
    if missing:
        raise InputError(
            f"transformer.model: the files of {place} lack {len(missing)} tensors of its network ({missing[0]}); "
            f"name a directory that was saved with its classification head"
        )
    return network.eval(), tokenizer


def _positions(config: Any) -> int:
    """How many tokens a network has positions for."""
    most = getattr(config, "max_position_embeddings", None) or _UNLIMITED
    # RoBERTa and its kin count positions from behind the padding token's number.
    return int(most) - (config.pad_token_id + 1 if "roberta" in config.model_type else 0)


def _output(place: Path, config: Any, label: str) -> tuple[int, str]:
    """Which output of the head is the score, and how it becomes one."""
    labels: dict[int, str] = {int(number): str(name) for number, name in config.id2label.items()}
    if len(labels) == 1:
        if label:
            raise InputError(
                f"transformer.label: the head of {place} has one output, which is the score; remove label"
            )
        return 0, "value"
    for number, name in labels.items():
        if name == label:
            return number, "sigmoid" if config.problem_type == "multi_label_classification" else "softmax"
    named = f"has no {label!r}" if label else "needs one"
    raise InputError(f"transformer.label: {place} {named}; its labels are {', '.join(labels.values())}")
