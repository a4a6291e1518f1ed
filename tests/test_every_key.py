"""Invariant 7: every documented key changes something.

One row a key: another value, and exactly what of the corpus, the tokenizer, the plan, the training or the files differs
then from the same recipe without the change. A key without a row fails.
"""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

import house
from danlu.checkpoint.steps import list_steps
from danlu.config import key_paths
from danlu.corpus.build import build_corpus
from danlu.errors import RecipeError
from danlu.files import digest, read_lines
from danlu.monitor.history import read_metrics
from danlu.plan.plan import read_plan
from danlu.read.store import list_domains, list_parts, read_part
from danlu.recipe import Recipe, parse
from danlu.train import measure
from danlu.train.assemble import build
from danlu.train.loop import train
from danlu.train.measure import measure_plan
from danlu.train.step import train_step
from danlu.workflow.run import Run, open_run
from danlu.workflow.texts import make_tokenizer
from small_run import prepared, tables

__all__ = ["prepared"]

KEYS = (house.ROOT / "tests" / "golden" / "recipe_keys.txt").read_text().split()
ABSENT = object()
STEPS = 6

Facets = dict[str, Any]
"""What is seen of a recipe's result, by name, the earliest first."""
Look = Callable[[Recipe, Path, Path], Facets]
"""(recipe, the prepared run, an empty directory) -> what is seen."""


@dataclass(frozen=True)
class Refused:
    """The change is an error with these words."""

    words: str


@dataclass(frozen=True)
class Row:
    """`value` is set at the key, or at `at`, over a recipe with `base`."""

    look: Look
    value: Any
    effect: set[str] | str | Refused
    """All facets that differ, or the first one that does, what follows from it being left open."""
    base: dict[str, Any] = field(default_factory=dict)
    at: str = ""


# ---- the recipe


def changed(*changes: dict[str, Any]) -> Recipe:
    """The small run's recipe, six steps long, with keys changed: "train.steps", "corpus.source[1].paths"."""
    value = tables(train={"steps": STEPS, "batch_tokens": 256, "device": "cpu"})
    value["checkpoint"] = {"every_steps": 0, "keep_last": 99}
    value["evaluate"] = {"every_steps": 0}
    for key, new in ((key, new) for change in changes for key, new in change.items()):
        *sections, name = re.findall(r"\w+|\[\w+\]", key)
        place: Any = value
        for section in sections:
            if section.startswith("["):
                place = place[_position(place, section)]
            else:
                place = place.setdefault(section, {})
        place = place if isinstance(place, dict) else dict(enumerate(place))
        if new is not ABSENT:
            place[name] = copy.deepcopy(new)
        elif name.startswith("["):
            parent = value["corpus"]["step"]
            del parent[_position(parent, name)]
        else:
            del place[name]
    return parse(value)


def _position(items: list[dict[str, Any]], brackets: str) -> int:
    """ "[1]" is a number, "[length]" the step of that name."""
    name = brackets.strip("[]")
    return int(name) if name.isdigit() else [item["use"] for item in items].index(name)


# ---- where one looks


def corpus(recipe: Recipe, run: Path, place: Path) -> Facets:
    """Each file's documents in the corpus, with split, domain and id."""
    write_odd_texts(place)
    build_corpus(recipe.corpus, place, place / "corpus")
    seen: Facets = {}
    for split in ("train", "validation"):
        for domain in list_domains(place / "corpus", split):
            for part in list_parts(place / "corpus", split, domain):
                for document in read_part(part):
                    mine = seen.setdefault(document.source, [])
                    mine.append((split, domain, document.id, document.text))
    return seen


def tokenizer(recipe: Recipe, run: Path, place: Path) -> Facets:
    """The bytes of the tokenizer made from the prepared corpus."""
    shutil.copy(run / "tokenizer" / "tokenizer.json", place / "given.json")
    shutil.copytree(run / "corpus", place / "corpus")
    make_tokenizer(Run(recipe, place, place), place)
    return {"tokenizer": (place / "tokenizer.json").read_bytes()}


def planned(recipe: Recipe, run: Path, place: Path) -> Facets:
    """How long the run is, and in which pieces a step is computed."""
    plan = measure_plan(recipe, run)
    return {"tokens": plan.tokens, "batch": plan.batch_tokens, "micro-batch": plan.micro_batch}


def built(recipe: Recipe, run: Path, place: Path) -> Facets:
    """What computes, before anything is computed."""
    trainer = build(recipe, run, read_plan(run / "plan.json"))
    kernel = trainer.network.layers[0].attention.attend
    return {
        "device": trainer.device.type,
        "attention": kernel.__module__,
        "forward": type(trainer.forward).__name__,
    }


def trained(recipe: Recipe, run: Path, place: Path) -> Facets:
    """The first steps of the training, from the data on."""
    trainer = build(recipe, run, measure_plan(recipe, run))
    trainer.log.close()
    count = trainer.batch_sequences
    batches = [trainer.batches.batch(step * count, count) for step in range(min(STEPS, trainer.plan.steps))]
    shapes = {name: list(tensor.shape) for name, tensor in trainer.network.named_parameters()}
    results = [train_step(trainer, batch) for batch in batches]
    names = ("inputs", "labels", "positions", "documents")
    return {
        "batches": [[getattr(batch, name).tolist() for name in names] for batch in batches],
        "shapes": shapes,
        "first loss": results[0].loss,
        "first gradient": results[0].gradient_norm,
        "rates": [result.rate_factor for result in results],
        "weights": {name: tensor.tolist() for name, tensor in trainer.network.named_parameters()},
    }


def written(recipe: Recipe, run: Path, place: Path) -> Facets:
    """What a training of these steps leaves in its directory."""
    directory = place / "run"
    shutil.copytree(run, directory)
    train(recipe, directory, measure_plan(recipe, directory))
    evaluations = read_lines(directory / "evaluations.jsonl")
    samples = read_lines(directory / "samples.jsonl")
    return {
        "saves": list_steps(directory / "checkpoints"),
        "evaluations": [(row["step"], row["domain"], row["tokens"]) for row in evaluations],
        "metrics": [row["step"] for row in read_metrics(directory)],
        "samples": [(row["step"], row["prompt"], row["text"]) for row in samples],
    }


def named(recipe: Recipe, run: Path, place: Path) -> Facets:
    """Where the run lives."""
    return {"directory": open_run(recipe, place).directory.name}


def write_odd_texts(place: Path) -> None:
    """Texts that a corpus step drops or changes at one setting and not at another; each shows one thing."""
    lines = [f"Line {number} says that the {number * 37}th stone is warm." for number in range(12)]
    prose = "\n".join(lines[:4])
    texts = {
        "accent.txt": f"A cafe\u0301, its accent written apart.\n{prose}",
        "characters.txt": "\n".join(
            [*lines[:5], "The same words twice, thirty-nine of them.", *lines[6:8]] + [lines[5]] * 2
        ),
        "controls.txt": f"Ends of lines\r\n{prose}\x07",
        "letters.txt": f"{'z' * 45} and then some words of other letters, forty of them or so, a few more",
        "lines.txt": "\n".join([*lines[3:11], "x", "x", "x"]),
        "long.txt": " ".join(f"{number}: the word {number * number}" for number in range(60)),
        "loop.txt": "\n".join(["The same line over and over again."] * 12),
        "plain.txt": prose,
        "replaced.txt": f"One \ufffd is lost.\n{lines[9]}",
        "short.txt": "Nine words.",
        "spaced.txt": prose.replace(" ", "  "),
        "twin.txt": prose,
    }
    (place / "prose").mkdir()
    for name, text in texts.items():
        (place / "prose" / name).write_bytes(text.encode())
    verses = "\n\n".join(
        f"Verse {n}: the furnace is lit, the coal is low,\nthe ash is {n}." for n in range(3)
    )
    (place / "verses.txt").write_text(verses)
    (place / "more.txt").write_text("More than thirty-two characters are in this one.")
    rows = [
        {
            "id": f"i{n}",
            "key": f"k{n}",
            "text": f"{lines[n]} {lines[-n - 1]}",
            "body": f"The body of row {n}: {lines[n]}",
        }
        for n in range(3)
    ]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


# ---- the rows

PROSE = {"domain": "prose", "paths": ["prose/*.txt"]}
ODD_TEXTS: dict[str, Any] = {
    "corpus.validation_share": 0.0,
    "corpus.source": [
        PROSE,
        {"domain": "rows", "paths": ["rows.jsonl"]},
        {"domain": "verses", "paths": ["verses.txt"]},
    ],
    "corpus.step": [{"use": use} for use in ("normalize", "length", "repetition", "exact")],
    "mixture.weights": ABSENT,
}
EVERY_SAVE = {"checkpoint.every_steps": 1}
BY_MINUTES = {"train.steps": ABSENT, "train.minutes": 1e-9, "plan.max_tokens": 4096}
BY_TOKENS = {"train.steps": ABSENT, "train.tokens": 1024}
BY_SIZE = {f"model.{key}": ABSENT for key in ("width", "layers", "heads", "kv_heads", "ffn_width")}
NO_OTHER = Refused("not supported yet")


def odd(value: Any, effect: set[str], at: str = "", source: Any = ()) -> Row:
    """A row of the corpus: the files whose documents differ."""
    base = ODD_TEXTS | {"corpus.source": source} if source else ODD_TEXTS
    return Row(corpus, value, effect, base, at)


ROWS = {
    "name": Row(named, "other", {"directory"}),
    "seed": Row(trained, 8, "batches"),
    "corpus.validation_share": odd(0.2, {"prose/long.txt"}, source=[PROSE]),
    "corpus.max_document_bytes": odd(700, {"prose/long.txt"}),
    "corpus.source[].domain": odd("songs", {"verses.txt"}, "corpus.source[2].domain"),
    "corpus.source[].paths": odd(["verses.txt", "more.txt"], {"more.txt"}, "corpus.source[2].paths"),
    "corpus.source[].format": odd("txt", {"rows.jsonl"}, "corpus.source[1].format"),
    "corpus.source[].document": odd("blank_line", {"verses.txt"}, "corpus.source[2].document"),
    "corpus.source[].encoding": odd(
        "latin-1", {"prose/accent.txt", "prose/replaced.txt"}, "corpus.source[0].encoding"
    ),
    "corpus.source[].text_field": odd("body", {"rows.jsonl"}, "corpus.source[1].text_field"),
    "corpus.source[].id_field": odd("key", {"rows.jsonl"}, "corpus.source[1].id_field"),
    "corpus.step[normalize].use": odd(
        ABSENT, {"prose/accent.txt", "prose/controls.txt", "prose/replaced.txt"}, "corpus.step[normalize]"
    ),
    "corpus.step[normalize].unicode": odd("none", {"prose/accent.txt"}),
    "corpus.step[normalize].max_replacement_share": odd(0.5, {"prose/replaced.txt"}),
    "corpus.step[length].use": odd(ABSENT, {"prose/short.txt"}, "corpus.step[length]"),
    "corpus.step[length].min_characters": odd(5, {"prose/short.txt"}),
    "corpus.step[length].max_characters": odd(700, {"prose/long.txt"}),
    "corpus.step[repetition].use": odd(ABSENT, {"prose/loop.txt"}, "corpus.step[repetition]"),
    "corpus.step[repetition].max_duplicate_line_share": odd(0.15, {"prose/lines.txt"}),
    "corpus.step[repetition].max_duplicate_character_share": odd(0.05, {"prose/characters.txt"}),
    "corpus.step[repetition].max_character_share": odd(0.4, {"prose/letters.txt"}),
    "corpus.step[exact].use": odd(ABSENT, {"prose/spaced.txt", "prose/twin.txt"}, "corpus.step[exact]"),
    "corpus.step[exact].ignore_white_space": odd(False, {"prose/spaced.txt"}),
    "tokenizer.kind": Row(tokenizer, "wordpiece", NO_OTHER),
    "tokenizer.vocab_size": Row(tokenizer, 300, {"tokenizer"}),
    "tokenizer.pretokenizer": Row(tokenizer, "gpt2", {"tokenizer"}),
    "tokenizer.sample_bytes": Row(tokenizer, 2000, {"tokenizer"}),
    "tokenizer.path": Row(tokenizer, "given.json", {"tokenizer"}, {"tokenizer.vocab_size": ABSENT}),
    "tokens.packing": Row(trained, "chunk", "batches"),
    "tokens.document_mask": Row(trained, False, "batches", {"tokens.reset_positions": False}),
    "tokens.reset_positions": Row(trained, False, "batches"),
    "mixture.weights": Row(trained, {"code": 0.3, "prose": 0.7}, "batches"),
    "mixture.temperature": Row(trained, 0.01, "batches", {"mixture.weights": ABSENT}),
    "mixture.max_epochs": Row(trained, 1.6, "batches", {"train.steps": 80}),
    "objective.weights": Row(trained, {"mlm": 1.0}, NO_OTHER),
    "model.size": Row(trained, "200K", "shapes", {**BY_SIZE, "model.size": "100K"}),
    "model.width": Row(trained, 48, "shapes"),
    "model.layers": Row(trained, 1, "shapes"),
    "model.heads": Row(trained, 4, "shapes"),
    "model.kv_heads": Row(trained, 2, "shapes"),
    "model.ffn_width": Row(trained, 96, "shapes"),
    "model.tie_embeddings": Row(trained, False, "shapes"),
    "model.norm": Row(trained, "layer", Refused("model.norm")),
    "model.norm_epsilon": Row(trained, 0.1, "first loss"),
    "model.qk_norm": Row(trained, False, "shapes"),
    "model.attention": Row(built, "reference", {"attention"}),
    "model.rope.theta": Row(trained, 100.0, "first loss"),
    "train.tokens": Row(planned, 2048, {"tokens"}, BY_TOKENS),
    "train.steps": Row(planned, 4, {"tokens"}),
    "train.minutes": Row(planned, 1000.0, {"tokens"}, BY_MINUTES),
    "train.sequence_length": Row(trained, 32, "batches"),
    "train.batch_tokens": Row(planned, 1024, {"tokens", "batch"}),
    "train.micro_batch": Row(planned, 4, {"micro-batch"}),
    "train.compile": Row(built, True, {"forward"}),
    "train.device": Row(
        built, "cuda", {"device", "forward"} if torch.cuda.is_available() else Refused("no GPU")
    ),
    "precision.kind": Row(trained, "bf16", "first loss"),
    "optimizer.kind": Row(trained, "adamw", "weights", {"optimizer.matrix_learning_rate": ABSENT}),
    "optimizer.learning_rate": Row(trained, 0.02, "weights"),
    "optimizer.matrix_learning_rate": Row(trained, 0.03, "weights"),
    "optimizer.weight_decay": Row(trained, 0.5, "weights"),
    "optimizer.betas": Row(trained, [0.8, 0.9], "weights"),
    "optimizer.epsilon": Row(trained, 1e-3, "weights"),
    "optimizer.momentum": Row(trained, 0.5, "weights"),
    "optimizer.clip_norm": Row(trained, 0.01, "weights"),
    "schedule.kind": Row(trained, "cosine", "rates"),
    "schedule.warmup_tokens": Row(trained, 1024, "rates"),
    "schedule.decay_share": Row(trained, 0.4, "rates"),
    "schedule.final_ratio": Row(trained, 0.5, "rates"),
    "loss.z_loss": Row(trained, 0.1, "first gradient"),
    "loss.label_smoothing": Row(trained, 0.1, "first gradient"),
    "checkpoint.every_steps": Row(written, 2, {"saves"}),
    "checkpoint.every_tokens": Row(written, 1024, {"saves"}),
    "checkpoint.every_minutes": Row(written, 1e-9, {"saves"}),
    "checkpoint.keep_last": Row(written, 2, {"saves"}, EVERY_SAVE),
    "checkpoint.keep_every_steps": Row(written, 2, {"saves"}, EVERY_SAVE | {"checkpoint.keep_last": 1}),
    "evaluate.every_steps": Row(written, 2, {"evaluations"}),
    "evaluate.max_tokens": Row(written, 128, {"evaluations"}, {"evaluate.every_steps": 2}),
    "monitor.log_every_steps": Row(written, 4, {"metrics"}),
    "monitor.samples": Row(written, ["def"], {"samples"}),
    "monitor.sample_shares": Row(written, [0.5], {"samples"}, {"monitor.samples": ["def"]}),
    "monitor.sample_tokens": Row(written, 3, {"samples"}, {"monitor.samples": ["def"]}),
    "plan.min_tokens": Row(planned, 1024, {"tokens"}, BY_MINUTES),
    "plan.max_tokens": Row(planned, 2048, {"tokens"}, BY_MINUTES | {"train.minutes": 1000.0}),
}


# ---- the tests


@pytest.fixture(autouse=True)
def always_the_same_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans say the same on every machine, and soon."""
    monkeypatch.setattr(measure, "_rehearse", lambda *_: (0.001, 0))


@pytest.fixture(scope="module")
def seen(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Facets]:
    """What one look finds under some changes; rows with the same base share it."""
    known: dict[str, Facets] = {}

    def find(look: Look, *changes: dict[str, Any]) -> Facets:
        recipe = changed(*changes)
        key = digest([look.__name__, recipe.model_dump(mode="json")])
        if key not in known:
            known[key] = look(recipe, prepared, tmp_path_factory.mktemp(look.__name__))
        return known[key]

    return find


def test_every_row_is_of_a_documented_key() -> None:
    assert set(ROWS) <= set(key_paths(Recipe))
    touched = {re.sub(r"\[\d+\]", "[]", row.at or key) for key, row in ROWS.items()}
    assert touched == {key.removesuffix(".use") for key in ROWS}


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")
@pytest.mark.parametrize("key", KEYS)
def test_invariant_7_every_key_changes_something(key: str, seen: Callable[..., Facets]) -> None:
    assert key in ROWS, f"{key} has no row: say here what it changes"
    row = ROWS[key]
    change = {row.at or key: row.value}
    if isinstance(row.effect, Refused):
        with pytest.raises(RecipeError, match=row.effect.words):
            seen(row.look, row.base, change)
        return
    before, after = seen(row.look, row.base), seen(row.look, row.base, change)
    differ = [name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name)]
    if isinstance(row.effect, str):
        assert differ[:1] == [row.effect]
    else:
        assert set(differ) == row.effect
