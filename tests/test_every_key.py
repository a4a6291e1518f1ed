"""Invariant 7: every documented key changes something.

One row a key: another value, and exactly what of the corpus, the tokenizer, the plan, the training or the files differs
then from the same recipe without the change. A key without a row fails.
"""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

import house
from danlu.account.ledger import read_ledger
from danlu.checkpoint.steps import list_steps
from danlu.config import key_paths
from danlu.corpus.build import build_corpus
from danlu.corpus.rounds import module_of
from danlu.corpus.settings import name_of
from danlu.errors import RecipeError
from danlu.files import digest, read_lines
from danlu.jobs.run import Engine, run_tasks
from danlu.monitor.history import read_metrics
from danlu.plan.plan import read_plan
from danlu.quality.settings import SIGNALS
from danlu.read.store import list_domains, list_parts, read_part
from danlu.recipe import Recipe, parse
from danlu.train import measure
from danlu.train.assemble import build
from danlu.train.loop import train
from danlu.train.measure import measure_plan
from danlu.train.step import train_step
from danlu.words.text import Text
from danlu.workflow.run import Run, hold, open_run
from danlu.workflow.stages import build_corpus_stage
from danlu.workflow.texts import make_tokenizer
from odd_learned import LEARNED
from odd_mixtures import MIXTURES, NAMED, REFUSED
from odd_shards import PACKINGS, SHARDS, encoded
from odd_shared import COMPARED
from odd_texts import JUDGED, LINES, WORDS
from odd_tokenizers import TOKENIZERS
from small_run import prepared, tables
from web_archive import PAGE

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
    """Each file's documents in the corpus, with split, domain, id, language and metadata."""
    write_sources(place)
    build_corpus(recipe.corpus, place, place / "corpus")
    seen: Facets = {}
    for split in ("train", "validation"):
        for domain in list_domains(place / "corpus", split):
            for part in list_parts(place / "corpus", split, domain):
                for found in read_part(part):
                    what = (split, domain, found.id, found.text, found.language, dict(found.metadata))
                    seen.setdefault(found.source, []).append(what)
    return seen


def curated(recipe: Recipe, run: Path, place: Path) -> Facets:
    """What became of each text of a bank in the corpus: why it was dropped, its language, what is left of it."""
    rows = build_bank(recipe, place)
    parts = list_parts(place / "corpus", "train", recipe.corpus.source[0].domain)
    left = {document.id: document.text for part in parts for document in read_part(part)}
    return {row["id"]: (row["reason"], row["language"], left.get(row["id"])) for row in rows}


def measured(recipe: Recipe, run: Path, place: Path) -> Facets:
    """The columns of the ledger."""
    rows = build_bank(recipe, place)
    return {column: [row[column] for row in rows] for column in rows[0]}


def build_bank(recipe: Recipe, place: Path) -> list[dict[str, Any]]:
    """Builds the corpus of a bank; the rows of its ledger."""
    BANKS[recipe.corpus.source[0].domain].write(place)
    build_corpus(recipe.corpus, place, place / "corpus")
    return [row for batch in read_ledger(place / "corpus") for row in batch.to_pylist()]


def batched(recipe: Recipe, run: Path, place: Path) -> Facets:
    """How many windows of a text a network is given at a time, and what became of the texts of a bank."""
    from small_transformers import batch_sizes

    with batch_sizes() as sizes:
        return {**curated(recipe, run, place), "batches": sizes}


def judged(recipe: Recipe, run: Path, place: Path) -> Facets:
    """What the one step of a recipe does to each text of its bank: why it is dropped, its language and text."""
    (step,), (source,) = recipe.corpus.step, recipe.corpus.source
    language = "" if source.language == "auto" else source.language
    seen: Facets = {}
    for name, row in BANKS[source.domain].rows.items():
        text, values = module_of(step).measure(Text(row["text"], language, row), step)
        reason = module_of(step).decide(values, step)
        seen[name] = (f"{name_of(step)}.{reason}" if reason else "", text.language, text.text)
    return seen


def worked(recipe: Recipe, run: Path, place: Path) -> Facets:
    """Who is asked to do the work of a corpus, in how many tasks, and the corpus; it is done here."""
    asked: list[tuple[Engine, int]] = []

    def here(task: Any, arguments: Any, engine: Engine, *others: Any) -> None:
        asked.append((engine, len(arguments)))
        run_tasks(task, arguments, Engine("pool", 1, engine.directory), *others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("danlu.corpus.build.run_tasks", here)
        texts = corpus(recipe, run, place)
    engine, tasks = asked[0]
    facts = {"engine": engine.kind, "workers": engine.workers, "tasks": tasks, "corpus": texts}
    return {**facts, **engine.slurm.model_dump()}


def warned(recipe: Recipe, run: Path, place: Path) -> Facets:
    """What the corpus is warned of."""
    write_sources(place)
    said: list[str] = []
    mine = open_run(recipe, place)
    with pytest.MonkeyPatch.context() as patch, hold(mine):
        patch.setattr("danlu.workflow.stages.say", said.append)
        build_corpus_stage(mine)
    return {"warnings": [line for text in said for line in text.splitlines() if "warning" in line]}


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
    batches = [trainer.batches.step(step) for step in range(min(STEPS, trainer.plan.steps))]
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


def write_sources(place: Path) -> None:
    """Files of every kind, for the keys of [corpus] and its sources."""
    (place / "prose").mkdir()
    texts = {"accent": "Caf\u00e9 and t\u00e9 of the house.", "long": " ".join(LINES), "short": "Nine words."}
    for name, text in texts.items():
        (place / "prose" / f"{name}.txt").write_bytes(text.encode())
    (place / "verses.txt").write_text("\n\n".join(LINES[:3]))
    (place / "more.txt").write_text("More than thirty-two characters are in this one.")
    rows = [
        {"id": f"i{n}", "key": f"k{n}", "text": f"{LINES[n]} {LINES[-n - 1]}", "body": f"Row {n}: {LINES[n]}"}
        for n in range(3)
    ]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "page.html").write_text(PAGE)


# ---- the rows

BANKS = JUDGED | COMPARED | LEARNED | {"words": WORDS, "signals": WORDS}
PROSE = {"domain": "prose", "paths": ["prose/*.txt"]}
PAGES = {"domain": "pages", "paths": ["page.html"]}
SOURCES: dict[str, Any] = {
    "corpus.validation_share": 0.0,
    "corpus.source": [
        PROSE,
        {"domain": "rows", "paths": ["rows.jsonl"]},
        {"domain": "verses", "paths": ["verses.txt"]},
    ],
    "corpus.step": [{"use": "length", "min_characters": 20}],
    "mixture.weights": ABSENT,
}
ONE_PAGE = SOURCES | {"corpus.source": [PAGES]}
FEW_WORDS = {"use": "expression", "keep": "word_count > 5"}
ON_SLURM = SOURCES | {"corpus.engine": "slurm"}
EVERY_SAVE = {"checkpoint.every_steps": 1}
BY_MINUTES = {"train.steps": ABSENT, "train.minutes": 1e-9, "plan.max_tokens": 4096}
BY_TOKENS = {"train.steps": ABSENT, "train.tokens": 1024}
BY_SIZE = {f"model.{key}": ABSENT for key in ("width", "layers", "heads", "kv_heads", "ffn_width")}
THREE_WINDOWS = BANKS["transformer"].settings | {"windows": 3}
NO_OTHER = Refused("not supported yet")


def of_bank(name: str, step: dict[str, Any]) -> dict[str, Any]:
    """A corpus of a bank's texts with one step."""
    bank = BANKS[name]
    source = {"domain": name, "paths": ["bank.jsonl"], "language": bank.language}
    source |= {"metadata_fields": bank.metadata}
    return {**SOURCES, "corpus.source": [source], "corpus.step": [step]}


def of_step(use: str, look: Look) -> dict[str, Row]:
    """The rows of a step from its bank. Without the step, or for texts of another language, all texts stay."""
    bank, step = BANKS[use], f"corpus.step[{use}]"
    base = of_bank(use, {"use": use, **bank.settings})
    rows = {f"{step}.use": Row(curated, ABSENT, bank.odd, base, step)}
    if bank.language != "auto":
        rows[f"{step}.languages"] = Row(curated, ["sw"], bank.odd, base)
    if f"{step}.domains" in KEYS:
        (source,) = base["corpus.source"]
        two = base | {"corpus.source": [source, {**source, "domain": "other", "id_field": "none"}]}
        rows[f"{step}.domains"] = Row(curated, ["other"], bank.odd, two)
    for key, (value, names, given) in bank.keys.items():
        before = base if given is None else of_bank(use, {"use": use, **given})
        rows[f"{step}.{key}"] = Row(look, value, names, before)
    return rows


def of_source(place: int, value: Any, effect: set[str], key: str) -> dict[str, Row]:
    """The row of a source's key, tried on the source at a place."""
    row = Row(corpus, value, effect, SOURCES, f"corpus.source[{place}].{key}")
    return {f"corpus.source[].{key}": row}


ROWS = {
    "name": Row(named, "other", {"directory"}),
    "seed": Row(trained, 8, "batches"),
    "corpus.engine": Row(worked, "ray", {"engine", "workers"}, SOURCES),
    "corpus.workers": Row(worked, 2, {"workers"}, SOURCES),
    "corpus.slurm.partition": Row(worked, "long", {"partition"}, ON_SLURM),
    "corpus.slurm.account": Row(worked, "ours", {"account"}, ON_SLURM),
    "corpus.slurm.time": Row(worked, "04:00:00", {"time"}, ON_SLURM),
    "corpus.slurm.memory": Row(worked, "8G", {"memory"}, ON_SLURM),
    "corpus.words": Row(curated, "plain", {"chinese"}, of_bank("words", FEW_WORDS)),
    "corpus.measure_dropped": Row(
        measured,
        False,
        {
            f"repetition.{name}"
            for name in ("duplicate_line_share", "duplicate_character_share", "character_share")
        },
        of_bank("length", {"use": "length"})
        | {"corpus.step": [{"use": "length", "min_characters": 100}, {"use": "repetition"}]},
    ),
    "corpus.shard_bytes": Row(worked, 500, {"tasks"}, SOURCES),
    "corpus.validation_share": Row(corpus, 0.5, {"prose/long.txt"}, SOURCES | {"corpus.source": [PROSE]}),
    "corpus.max_document_bytes": Row(corpus, 500, {"prose/long.txt"}, SOURCES),
    "corpus.warn_drop_share": Row(warned, 0.05, {"warnings"}, SOURCES),
    **of_source(2, "songs", {"verses.txt"}, "domain"),
    **of_source(2, ["verses.txt", "more.txt"], {"more.txt"}, "paths"),
    **of_source(1, "txt", {"rows.jsonl"}, "format"),
    **of_source(2, "blank_line", {"verses.txt"}, "document"),
    **of_source(0, "latin-1", {"prose/accent.txt"}, "encoding"),
    **of_source(1, "body", {"rows.jsonl"}, "text_field"),
    **of_source(1, "{key}: {body}", {"rows.jsonl"}, "template"),
    **of_source(1, "key", {"rows.jsonl"}, "id_field"),
    **of_source(1, ["key"], {"rows.jsonl"}, "metadata_fields"),
    "corpus.source[].extractor": Row(
        corpus, "trafilatura", {"page.html"}, ONE_PAGE, "corpus.source[0].extractor"
    ),
    **of_source(2, "de", {"verses.txt"}, "language"),
    **{key: row for use in JUDGED for key, row in of_step(use, judged).items()},
    **{key: row for use in COMPARED | LEARNED for key, row in of_step(use, curated).items()},
    "corpus.step[transformer].batch": Row(
        batched, 2, {"batches"}, of_bank("transformer", {"use": "transformer", **THREE_WINDOWS})
    ),
    "corpus.step[signals].use": Row(
        measured,
        ABSENT,
        {"splitter", *(f"signals.{name}" for name in SIGNALS)},
        of_bank("signals", {"use": "signals"}),
        "corpus.step[signals]",
    ),
    **{
        f"tokenizer.{key}": Row(tokenizer, value, {"tokenizer"}, base)
        for key, (value, base) in TOKENIZERS.items()
    },
    "tokenizer.path": Row(tokenizer, "given.json", {"tokenizer"}, {"tokenizer.vocab_size": ABSENT}),
    **{f"tokens.{key}": Row(trained, value, "batches", base) for key, (value, base) in PACKINGS.items()},
    **{f"tokens.{key}": Row(encoded, *row) for key, row in SHARDS.items()},
    **{f"mixture.{key}": Row(trained, value, "batches", base) for key, (value, base) in MIXTURES.items()},
    **{key: Row(trained, value, "batches", *rest) for key, (value, *rest) in NAMED.items()},
    **{key: Row(trained, row[0], Refused(words), *row[1:]) for key, (row, words) in REFUSED.items()},
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
    """Plans say the same on every machine, and soon; files wait for no disk."""
    monkeypatch.setattr(measure, "_rehearse", lambda *_: (0.001, 0))
    monkeypatch.setattr(os, "fsync", lambda _: None)


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
    touched = {re.sub(r"\[\d+\]", "[]", row.at or key).replace(".long.", ".*.") for key, row in ROWS.items()}
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
