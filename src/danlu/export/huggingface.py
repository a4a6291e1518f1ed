"""Writes a finished model as a Hugging Face directory that opens in plain `transformers`.

Decides: float32 weights in one safetensors file, a Llama or Qwen3 configuration, the tokenizer with its BOS, a model
card. Guarantees: the directory is written beside its place, verified there by an independent forward pass and an
independent reading of the tokenizer, and renamed into place only when both agree; an earlier export stays until then.
Costs: the weights once on disk, two forward passes over at most 256 tokens.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from danlu.errors import DamagedError, DanluError, MismatchError, UsageError
from danlu.export.card import CardInfo, model_card
from danlu.export.config import generation_config, model_config, weight_shapes
from danlu.export.tokenizer import check_tokenizer, write_tokenizer
from danlu.export.verify import TOLERANCE, Logits, Verification, verify_export
from danlu.files import TEMPORARY, aside, disk_errors, read_json, replace_directory, write_bytes, write_json
from danlu.model.shape import Shape
from danlu.tokenizer.codec import Codec

REPORT = "report.json"
MANIFEST = "manifest.json"
"""What a run's workflow puts beside an export when the stage is done."""


@dataclass(frozen=True)
class ExportReport:
    """What was exported and how it was checked; also written there as report.json. `files` gives their bytes."""

    architecture: str
    max_logit_difference: float
    tolerance: float
    tokens_compared: int
    texts_compared: int
    files: dict[str, int]


def export_model(
    directory: Path,
    shape: Shape,
    tensors: Mapping[str, Tensor],
    tokenizer: Path,
    card: CardInfo,
    network: Logits,
) -> ExportReport:
    """Exports to `directory`, replacing an earlier export.

    `tensors` carry the names that `transformers` uses. `tokenizer` is the run's tokenizer.json. `network(ids)` gives
    the trained network's own logits (T, V) of one document. Raises MismatchError if parts do not agree.
    """
    codec = Codec.load(tokenizer)
    if codec.vocab_size != shape.vocab_size:
        raise MismatchError(
            f"{tokenizer} has {codec.vocab_size} tokens, the model {shape.vocab_size}; they are of different runs"
        )
    weights = _checked(tensors, shape)
    directory = directory.resolve()
    if not directory.name:
        raise UsageError(f"{directory} cannot be replaced by an export; name a folder in it")
    for place in (directory, aside(directory)):
        _refuse_foreign(place)
    with disk_errors(directory):
        directory.parent.mkdir(parents=True, exist_ok=True)
        workshop = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=directory.parent))
        try:
            # A folder in it, because a temporary one is closed to everybody else.
            temporary = workshop / directory.name
            temporary.mkdir()
            _write_model(temporary, model_config(shape, codec, card.sequence_length), weights)
            write_json(temporary / "generation_config.json", generation_config(codec))
            settings = write_tokenizer(tokenizer, codec, temporary, card.sequence_length)
            write_json(temporary / "tokenizer_config.json", settings)
            texts = check_tokenizer(temporary, codec)
            found = verify_export(temporary, shape.vocab_size, codec.bos_id, card.sequence_length, network)
            write_bytes(temporary / "README.md", model_card(card, shape, found.max_difference).encode())
            report = _write_report(temporary, found, texts)
            replace_directory(temporary, directory)
        finally:
            shutil.rmtree(workshop, ignore_errors=True)
    return report


def _write_model(directory: Path, config: dict[str, Any], weights: dict[str, Tensor]) -> None:
    write_json(directory / "config.json", config)
    try:
        # transformers refuses a file that does not say what its tensors are for.
        save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})
    except SafetensorError as error:
        raise DanluError(f"cannot write {directory / 'model.safetensors'}: {error}") from error


def _write_report(directory: Path, found: Verification, texts: int) -> ExportReport:
    report = ExportReport(
        architecture=read_json(directory / "config.json")["architectures"][0],
        max_logit_difference=found.max_difference,
        tolerance=TOLERANCE,
        tokens_compared=found.tokens,
        texts_compared=texts,
        files={path.name: path.stat().st_size for path in sorted(directory.iterdir())},
    )
    write_json(directory / REPORT, asdict(report))
    return report


def _refuse_foreign(directory: Path) -> None:
    """An earlier export may be replaced; anything else that a user has there may not."""
    if not directory.exists():
        return
    if not directory.is_dir():
        raise UsageError(f"{directory} is a file; name a directory to export to")
    if Path.cwd().is_relative_to(directory):
        raise UsageError(
            f"{directory} is the folder that you are in, and an export replaces its folder as a whole; "
            f"name one below it, e.g. export"
        )
    known = _exported_names(directory)
    foreign = sorted(path.name for path in directory.iterdir() if path.name not in known)
    if foreign:
        raise UsageError(
            f"{directory} holds {foreign[0]}, which is not of an earlier export; name an empty or new directory"
        )


def _exported_names(directory: Path) -> set[str]:
    """The files that an earlier export, by its own report, put there; none where that is not a report of ours."""
    try:
        report = read_json(directory / REPORT) if (directory / REPORT).is_file() else None
    except DamagedError:
        return set()
    if not isinstance(report, dict) or set(report) != {field.name for field in fields(ExportReport)}:
        return set()
    return {REPORT, MANIFEST, *report["files"]} if isinstance(report["files"], dict) else set()


def _checked(tensors: Mapping[str, Tensor], shape: Shape) -> dict[str, Tensor]:
    """The tensors as contiguous float32, if they are exactly those that the configuration promises."""
    wanted = weight_shapes(shape)
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if found != wanted:
        wrong = sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))
        name = wrong[0]
        raise MismatchError(
            f"{len(wrong)} tensors are not what the model's shape asks for; the first: {name} is "
            f"{found.get(name, 'missing')}, wanted {wanted.get(name, 'nothing of that name')}"
        )
    return {
        name: tensor.detach().to(device="cpu", dtype=torch.float32).contiguous()
        for name, tensor in tensors.items()
    }
