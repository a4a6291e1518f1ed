"""What a trained run has to show: measurements, exports, texts, the documents of a step, its saves.

Costs: each function opens the newest verified checkpoint once; torch is imported only then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from danlu.checkpoint.steps import list_steps, step_path
from danlu.errors import DamagedError, MismatchError, MissingError
from danlu.files import digest
from danlu.log import say
from danlu.monitor.runlog import RunLog
from danlu.rng import hash_text
from danlu.workflow.depends import final_evaluations
from danlu.workflow.run import Run
from danlu.workflow.training import refuse_another_training

if TYPE_CHECKING:
    from danlu.mixture.stages import PlannedStage
    from danlu.shards.documents import DomainDocuments
    from danlu.tokenizer.codec import Codec

BASELINE_BYTES = 50_000_000
"""Of each side at most: more training text moves the byte statistics no further, and xz is slow."""


def evaluate_run(run: Run) -> list[dict[str, Any]]:
    """Measures all the validation text under the newest checkpoint; the rows also go to evaluations.jsonl."""
    from danlu.evaluate.baselines import baselines
    from danlu.train.assemble import training_documents
    from danlu.train.session import open_session
    from danlu.train.validate import Validation, held_out

    session = open_session(run.recipe, run.directory)
    sides = {
        "train": training_documents(run.recipe, run.directory, session.codec),
        "validation": held_out(run.recipe, run.directory, session.codec),
    }
    validation = Validation(sides["validation"], session.codec, session.context, max_tokens=None)
    if not validation.domains:
        say("  nothing to measure: corpus.validation_share = 0 held no text out")
    rows = []
    with closing(RunLog(run.directory)) as log:
        for measured in validation.measure(session.token_losses):
            texts = (_text(run, split, documents[measured.domain]) for split, documents in sides.items())
            simple = baselines(*texts)
            row = {
                "step": session.step,
                **asdict(measured),
                "whole": True,
                "final": True,
                "baselines": simple,
            }
            log.evaluation(session.step, {**row, "tokens_seen": session.tokens})
            rows.append(row)
    return rows


def describe_evaluation(row: dict[str, Any]) -> str:
    """One domain's measures as a sentence, with which baselines the model beats and which not."""
    from danlu.evaluate.baselines import compare

    bits = row["bits_per_byte"]
    measures = f"{bits:.3f} bits per byte (loss {row['loss']:.3f}, perplexity {row['perplexity']:.4g})"
    return f"{row['domain']}: {measures}; {compare(bits, row['baselines'])}"


def export_run(run: Run, directory: Path) -> dict[str, Any]:
    """Writes the newest checkpoint as a Hugging Face directory, verified; returns the facts about it."""
    from danlu.evaluate.baselines import NAMES
    from danlu.export.card import CardInfo
    from danlu.export.huggingface import export_model
    from danlu.mixture.stages import cut_stages
    from danlu.plan.plan import read_plan
    from danlu.train.session import open_session

    session = open_session(run.recipe, run.directory)
    plan = read_plan(run.directory / "plan.json")
    evaluations = [
        {**row, "baselines": {NAMES[name]: bits for name, bits in row["baselines"].items()}}
        for row in final_evaluations(run.directory, session.step)
    ]
    card = CardInfo(
        name=run.recipe.name,
        parameters=plan.parameters,
        tokens=session.tokens,
        steps=session.step,
        sequence_length=session.context,
        domain_tokens=_tokens_seen(run, session.codec, cut_stages(plan.stages, session.step)),
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


@dataclass(frozen=True)
class Explained:
    """What each stage takes of each domain, and what is to be known of it."""

    rows: list[dict[str, Any]]
    notes: list[str]


def explain_run(run: Run) -> Explained:
    """Tokens and epochs of each domain in each stage of the training that the recipe asks for.

    Nothing is measured and nothing is written but the index of packed samples.
    """
    from danlu.mixture.stages import describe_caps, describe_change
    from danlu.plan.plan import whole_steps
    from danlu.tokenizer.codec import Codec
    from danlu.tokens.explain import explain_mixture, warn_orders
    from danlu.train.assemble import open_data, training_documents
    from danlu.train.identity import chart_course, wanted_stages

    recipe, batch_tokens = run.recipe, run.recipe.train.batch_tokens
    codec = Codec.load(run.directory / "tokenizer" / "tokenizer.json")
    documents = training_documents(recipe, run.directory, codec)
    available = {name: some.tokens for name, some in documents.items()}
    steps = whole_steps(_total_tokens(run), batch_tokens)
    course = chart_course(recipe, available, steps, run.directory / "checkpoints")
    batches = open_data(recipe, run.directory, codec, course.stages, documents)
    caps = describe_caps(wanted_stages(recipe), course.stages, available, batch_tokens, course.done)
    rows = [asdict(row) for row in explain_mixture(batches, batch_tokens)]
    change = describe_change(course.was, course.stages) if course.was else ""
    changes = [f"other than planned {change}"] if change else []
    return Explained(rows, [*_refusal(run), *changes, *caps, *warn_orders(batches)])


def _refusal(run: Run) -> Iterator[str]:
    """Why the training that stands here would not go on with this recipe."""
    try:
        refuse_another_training(run.recipe, run.directory)
    except MismatchError as error:
        yield f"the training would refuse this: {error}"


def _tokens_seen(run: Run, codec: Codec, stages: Sequence[PlannedStage]) -> dict[str, int]:
    """Tokens of each domain that these stages show, padding left out."""
    from danlu.tokens.explain import explain_mixture
    from danlu.train.assemble import open_data

    if not stages:
        return {}
    batches = open_data(run.recipe, run.directory, codec, stages)
    seen: Counter[str] = Counter()
    for row in explain_mixture(batches, run.recipe.train.batch_tokens):
        seen[row.domain] += row.tokens
    return dict(seen)


def _total_tokens(run: Run) -> int:
    """The length of the training: the recipe's, or in minutes what its plan made of them."""
    from danlu.plan.plan import read_plan

    train = run.recipe.train
    if train.steps is not None:
        return train.steps * train.batch_tokens
    return train.tokens or read_plan(run.directory / "plan.json").tokens


def block_in_run(run: Run, ids: Sequence[str]) -> tuple[int, int]:
    """Blocks documents from the step after the newest checkpoint on; returns how many were not, and that step."""
    from danlu.tokens.blocked import block_documents
    from danlu.tokens.domains import open_domains

    corpus, tokens = run.directory / "corpus", run.directory / "tokens"
    documents = open_domains(tokens, "train", corpus, run.recipe.mixture.slice)
    steps = list_steps(run.directory / "checkpoints")
    first = (steps[-1] if steps else 0) + 1
    return block_documents(run.directory, documents, ids, first), first


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


def _text(run: Run, split: str, documents: DomainDocuments) -> bytes:
    """The first documents of a domain of a split, of a slice its own alone, up to BASELINE_BYTES."""
    from danlu.read.store import list_parts, read_part

    wanted = set(documents.id_hashes().tolist()) if run.recipe.mixture.slice else None
    joined = bytearray()
    for part in list_parts(run.directory / "corpus", split, documents.source_domain):
        for document in read_part(part):
            if wanted is None or hash_text(document.id) in wanted:
                joined += document.text.encode() + b"\n"
            if len(joined) >= BASELINE_BYTES:
                return bytes(joined[:BASELINE_BYTES])
    return bytes(joined)
