"""What decides each stage: which sections of the recipe, which stage before it, which of the user's files.

This is the table behind "done already" and "redone because ...": a key that is listed too much redoes work in vain, a
key that is missing here leaves a stale result. Costs: the texts are listed, never read; the newest
checkpoint is read and hashed. No torch.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from danlu.checkpoint.manifest import Manifest
from danlu.checkpoint.steps import newest_good
from danlu.corpus.settings import CorpusSettings, decisive
from danlu.corpus.split import TRAIN
from danlu.errors import InputError, MissingError
from danlu.files import digest, read_lines, sha256_file
from danlu.log import say
from danlu.mixture.weights import sampling_weights
from danlu.recipe import Recipe
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokens.settings import TokensSettings
from danlu.train.identity import wanted_stages
from danlu.workflow.run import Run
from danlu.workflow.stage import Stage, domain_digests, facts_of, output_digest, read_manifest
from danlu.workflow.training import decisive_settings, has_checkpoints


def corpus(run: Run) -> Stage:
    """[corpus] but for where it is built, and every file of its sources and steps by name, size and time."""
    settings = decisive(run.recipe.corpus)
    return Stage("corpus", run.directory / "corpus", settings, _texts(run), section=CorpusSettings)


def tokenizer(run: Run) -> Stage:
    """[tokenizer] and the corpus, or the file that the recipe names; seed and mixture where only a sample is read."""
    directory, settings = run.directory / "tokenizer", _section(run, "tokenizer")
    if run.recipe.tokenizer.path:
        path = run.base / run.recipe.tokenizer.path
        if not path.is_file():
            raise InputError(f"tokenizer.path: there is no file {path}")
        given = {run.recipe.tokenizer.path: sha256_file(path)}
        return Stage("tokenizer", directory, settings, given, section=TokenizerSettings)
    if _train_bytes(run) > run.recipe.tokenizer.sample_bytes:
        settings |= {"seed": run.recipe.seed, "mixture": {"weights": sample_weights(run)}}
    built = _built(run, "corpus")
    if has_checkpoints(run.directory) and (manifest := read_manifest(_earlier(run, "tokenizer"))):
        # A training keeps its vocabulary, also where weights change or a domain comes to the corpus.
        built = manifest["inputs"]
        sampled = {
            key: manifest["settings"][key] for key in ("seed", "mixture") if key in manifest["settings"]
        }
        settings = {**_section(run, "tokenizer"), **sampled}
    return Stage("tokenizer", directory, settings, built, section=TokenizerSettings)


def sample_weights(run: Run) -> dict[str, float]:
    """What the tokenizer's sample is shared out by: the mixtures of all stages, where that needs no text."""
    return sampling_weights([wanted.mixture for wanted in wanted_stages(run.recipe)])


def tokens(run: Run) -> Stage:
    """The corpus, the tokenizer, what is joined, and what comes as ids: Megatron's files by name, size and time.

    The index of packed samples beside the shards looks after itself.
    """
    tokens = run.recipe.tokens
    settings: dict[str, Any] = {"join": tokens.join, "megatron": tokens.megatron}
    if roots := joined_roots(run):
        settings["roots"] = roots
    stage = Stage(
        "tokens",
        run.directory / "tokens",
        settings,
        _built(run, "corpus", "tokenizer"),
        outputs=("*/*/shard-*",),
        section=TokensSettings,
    )
    return replace(stage, inputs={**stage.inputs, **_pairs(run, stage)})


def joined_roots(run: Run) -> dict[str, list[str]]:
    """Where the folders begin that documents of a domain are joined by."""
    from danlu.shards.join import FOLDER, folder_roots

    sources = run.recipe.corpus.source
    return {
        domain: [
            root
            for source in sources
            if source.domain == domain
            for root in folder_roots(source.paths, run.base)
        ]
        for domain, field in run.recipe.tokens.join.items()
        if field == FOLDER
    }


def _pairs(run: Run, stage: Stage) -> dict[str, Any]:
    """The files of tokens.megatron; where they are gone but the shards are there, those stand as they were built."""
    found: dict[str, Any] = {}
    for domain, path in run.recipe.tokens.megatron.items():
        from danlu.shards.megatron_import import pair_files
        from danlu.shards.task import stamp

        try:
            found |= {f"{path}: {file.name}": stamp(file) for file in pair_files(run.base / path)}
        except FileNotFoundError as error:
            why = f"tokens.megatron: {domain!r}: there is no file {error.filename}"
            manifest = read_manifest(stage)
            if manifest is None or manifest["settings"] != stage.settings:
                raise InputError(f"{why}; name a dataset by its path without .bin and .idx") from None
            say(f"note: {why}\n  The tokens of {run.directory} stay as they were built from it")
            was = manifest["inputs"].items()
            found |= {name: value for name, value in was if name.startswith(f"{path}: ")}
    return found


def plan(run: Run) -> Stage:
    """All that decides the training, and how it is cut on this machine."""
    settings = {
        **decisive_settings(run.recipe),
        "plan": _section(run, "plan"),
        "train": _section(run, "train"),
    }
    for earlier in ("corpus", "tokenizer"):
        settings.pop(earlier)
    inputs = _built(run, "tokenizer", "tokens")
    return Stage("plan", run.directory, settings, inputs, ("plan.json",), "plan.manifest.json", Recipe)


def evaluation(run: Run) -> Stage:
    """The newest checkpoint and the validation text."""
    inputs = {"checkpoint": newest_checkpoint(run).fingerprint, **_built(run, "tokens")}
    return Stage("evaluation", run.directory, {}, inputs, ("evaluations.jsonl",), "evaluations.manifest.json")


def explanation(run: Run) -> Stage:
    """The newest checkpoint."""
    inputs = {"checkpoint": newest_checkpoint(run).fingerprint}
    return Stage("explanation", run.directory, {}, inputs, ("explained.json",), "explained.manifest.json")


def export(run: Run) -> Stage:
    """The newest checkpoint, the tokenizer, and the final evaluation, which the model card tells."""
    newest = newest_checkpoint(run)
    inputs = {"checkpoint": newest.fingerprint, **_built(run, "tokenizer")}
    if rows := final_evaluations(run.directory, newest.step):
        inputs["evaluation"] = digest(rows)
    return Stage("export", run.directory / "export", {}, inputs)


def final_evaluations(directory: Path, step: int) -> list[dict[str, Any]]:
    """The newest measurement of each domain over all its validation text, under the weights of `step`."""
    rows = read_lines(directory / "evaluations.jsonl")
    final = {row["domain"]: row for row in rows if row.get("step") == step and row.get("final")}
    return list(final.values())


def training_inputs(run: Run) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """One digest a stage that the training is made of, and one for each of its domains."""
    domains = {name: domain_digests(_earlier(run, name)) for name in ("corpus", "tokens")}
    return _built(run, "corpus", "tokenizer", "tokens"), domains


def _built(run: Run, *names: str) -> dict[str, str]:
    """Name -> digest of what earlier stages wrote, whatever they would have to be redone for now."""
    return {name: output_digest(_earlier(run, name)) for name in names}


def _earlier(run: Run, name: str) -> Stage:
    """An earlier stage for asking what it wrote; what decides it is not looked at."""
    return Stage(name, run.directory / name, {}, {})


def _section(run: Run, name: str) -> dict[str, Any]:
    value: dict[str, Any] = getattr(run.recipe, name).model_dump(mode="json", exclude_none=True)
    return value


def _train_bytes(run: Run) -> int:
    kept = facts_of(_earlier(run, "corpus")).get("kept", {}).get(TRAIN, {})
    return sum(count["bytes"] for count in kept.values())


def _texts(run: Run) -> dict[str, Any]:
    """The user's files; where they are gone but the corpus is there, it stands as it was built."""
    from danlu.corpus.job import corpus_fingerprint

    try:
        rows = corpus_fingerprint(run.recipe.corpus, run.base)
    except InputError as error:
        manifest = read_manifest(_earlier(run, "corpus"))
        if manifest is None or manifest["settings"] != decisive(run.recipe.corpus):
            raise
        say(f"note: {error}\n  The corpus of {run.directory} stays as it was built from it")
        return dict(manifest["inputs"])
    return {str(name): rest for name, *rest in rows}


def newest_checkpoint(run: Run) -> Manifest:
    """The checkpoint that is opened for questions: the newest that is whole."""
    newest = newest_good(run.directory / "checkpoints")
    if newest is None:
        raise MissingError(f"{run.directory} has no checkpoint yet; `danlu train {run.directory}` makes one")
    return newest
