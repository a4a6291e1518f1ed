"""What a trained run has to show: measurements, exports, texts, the documents of a step, its saves.

Costs: each function opens the newest verified checkpoint once; torch is imported only then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from danlu.checkpoint.steps import list_steps, step_path
from danlu.errors import DamagedError, MissingError
from danlu.files import append_line, digest
from danlu.workflow.run import Run

if TYPE_CHECKING:
    pass

_BASELINES = {"order0": "byte frequencies", "bigram": "byte bigrams", "xz": "xz"}
BASELINE_BYTES = 50_000_000
"""Of each side at most: more training text moves the byte statistics no further, and xz is slow."""


def evaluate_run(run: Run) -> list[dict[str, Any]]:
    """Measures all the validation text under the newest checkpoint; the rows also go to evaluations.jsonl."""
    from danlu.evaluate.baselines import baselines
    from danlu.evaluate.bits import evaluate_domain
    from danlu.read.store import list_domains
    from danlu.tokens.validation import validation_batches
    from danlu.train.session import open_session

    session, recipe = open_session(run.recipe, run.directory), run.recipe
    tokens, length = run.directory / "tokens", recipe.train.sequence_length
    rows_of_a_pass = min(recipe.train.batch_sequences, max(1, 16_384 // length))
    rows = []
    for domain in list_domains(run.directory / "corpus", "validation"):
        batches = validation_batches(tokens, domain, length, None, rows_of_a_pass, session.codec.pad_id)
        measured = evaluate_domain(session.token_losses, domain, batches, session.codec.token_bytes())
        simple = baselines(*(_text(run, split, domain) for split in ("train", "validation")))
        row = {"step": session.step, **asdict(measured), "final": True, "baselines": simple}
        append_line(run.directory / "evaluations.jsonl", row)
        rows.append(row)
    return rows


def describe_evaluation(row: dict[str, Any]) -> str:
    """One domain's measures as a sentence, with which baselines the model beats and which not."""
    bits = row["bits_per_byte"]
    verdicts: dict[str, list[str]] = {"better than": [], "not better than": []}
    for name, value in row["baselines"].items():
        verdicts["better than" if bits < value else "not better than"].append(
            f"{_BASELINES[name]} {value:.3f}"
        )
    measures = f"{bits:.3f} bits per byte (loss {row['loss']:.3f}, perplexity {row['perplexity']:.4g})"
    found = (f"{verdict} {', '.join(names)}" for verdict, names in verdicts.items() if names)
    return f"{row['domain']}: {'; '.join([measures, *found])}"


def export_run(run: Run, directory: Path) -> dict[str, Any]:
    """Writes the newest checkpoint as a Hugging Face directory, verified; returns the facts about it."""
    from danlu.export.card import CardInfo
    from danlu.export.huggingface import export_model
    from danlu.monitor.history import read_evaluations
    from danlu.plan.plan import read_plan
    from danlu.train.session import open_session

    session = open_session(run.recipe, run.directory)
    plan = read_plan(run.directory / "plan.json")
    evaluations = [row for row in read_evaluations(run.directory) if row["step"] == session.step]
    card = CardInfo(
        name=run.recipe.name,
        parameters=plan.parameters,
        tokens=session.tokens,
        steps=session.step,
        sequence_length=plan.sequence_length,
        domain_tokens={row.domain: round(row.share * session.tokens) for row in plan.mixture},
        evaluations=evaluations,
        recipe_digest=digest(run.recipe.model_dump(mode="json")),
    )
    tokenizer = run.directory / "tokenizer" / "tokenizer.json"
    tensors = session.hf_tensors()
    report = export_model(directory, session.shape, tensors, tokenizer, card, session.logits)
    return asdict(report)


def generate_text(
    run: Run, prompt: str, tokens: int, temperature: float, seed: int, step: int | None = None
) -> Iterator[str]:
    """The continuation of a prompt, piece by piece."""
    from danlu.generate.sample import stream
    from danlu.train.session import open_session

    session = open_session(run.recipe, run.directory, step)
    return stream(session.next_logits, session.codec, prompt, tokens, temperature, seed=seed)


def documents_of_step(run: Run, step: int) -> list[dict[str, Any]]:
    """The documents of a training step and their losses under the newest weights, hardest first."""
    from danlu.plan.plan import read_plan
    from danlu.train.explain import explain_step
    from danlu.train.session import open_session

    plan = read_plan(run.directory / "plan.json")
    session = open_session(run.recipe, run.directory)
    return [asdict(seen) for seen in explain_step(run.recipe, run.directory, plan, step, session)]


def explain_run(run: Run) -> list[dict[str, Any]]:
    """Tokens and epochs of each domain that the planned training will see."""
    from danlu.plan.plan import read_plan
    from danlu.tokenizer.codec import Codec
    from danlu.tokens.explain import explain_mixture
    from danlu.train.assemble import open_data

    plan = read_plan(run.directory / "plan.json")
    codec = Codec.load(run.directory / "tokenizer" / "tokenizer.json")
    batches = open_data(run.recipe, run.directory, codec, plan.tokens)
    samples = plan.tokens // run.recipe.train.sequence_length
    return [asdict(row) for row in explain_mixture(batches, samples)]


def saved_steps(directory: Path) -> list[dict[str, Any]]:
    """The checkpoints of a run directory, oldest first."""
    checkpoints = directory / "checkpoints"
    saved = []
    for step in list_steps(checkpoints):
        path = step_path(checkpoints, step)
        size = sum(file.stat().st_size for file in path.iterdir())
        saved.append({"step": step, "bytes": size, "path": str(path)})
    if not saved:
        raise MissingError(f"{directory} has no checkpoint yet; `danlu train {directory}` makes one")
    return saved


def verify_steps(directory: Path) -> list[dict[str, Any]]:
    """Every checkpoint with what is wrong with it, or None."""
    from danlu.checkpoint.manifest import verify

    verdicts = []
    for saved in saved_steps(directory):
        try:
            verify(Path(saved["path"]))
            damage = None
        except DamagedError as error:
            damage = str(error)
        verdicts.append({"step": saved["step"], "damage": damage})
    return verdicts


def _text(run: Run, split: str, domain: str) -> bytes:
    """The first documents of a split, up to BASELINE_BYTES."""
    from danlu.read.store import list_parts, read_part

    parts = list_parts(run.directory / "corpus", split, domain)
    texts = (document.text.encode() for part in parts for document in read_part(part))
    joined = bytearray()
    for text in texts:
        joined += text + b"\n"
        if len(joined) >= BASELINE_BYTES:
            break
    return bytes(joined[:BASELINE_BYTES])
