"""What the first stages do with the text beside building it: show it as it was split, and learn a vocabulary of it.

Costs: the preview opens one file a source; the tokenizer is trained on a sample of a bounded size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from danlu.account.funnel import WARN_DROP_SHARE, Funnel, step_of, warnings
from danlu.corpus.split import VALIDATION
from danlu.errors import UsageError
from danlu.log import human, human_bytes, say, visible
from danlu.workflow.run import Run

if TYPE_CHECKING:
    from danlu.shards.build import TokensReport

_SHOWN_CHARACTERS = 72
_SAID_CHARACTERS = 20_000_000
_MOST_DOCUMENT_BYTES = 20_000_000


def show_first_documents(run: Run) -> None:
    """The first three documents of every source, so that a wrong `document` or `encoding` is seen at once."""
    from danlu.read.documents import preview

    for source in run.recipe.corpus.source:
        say(f"  first documents of {source.domain} ({', '.join(source.paths)}):")
        for document in preview(source, run.base):
            text = " ".join(document.text.split())
            shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
            say(
                f"    {visible(document.source)}, {human_bytes(len(document.text.encode(errors='replace')))}: {shown}"
            )


def read_texts(paths: Sequence[str], document: str = "file") -> Iterator[str]:
    """The texts of files in any format that a source reads; what is damaged is said at the end, by reason.

    Raises UsageError where the files have no such documents.
    """
    from pydantic import ValidationError

    from danlu.read.documents import read_documents
    from danlu.read.settings import Source

    damages: Counter[str] = Counter()
    keys = {"document": document} if document != "file" else {}
    try:
        source = Source(domain="texts", paths=list(paths), **keys)
    except ValidationError as error:
        why = "; ".join(found["msg"].removeprefix("Value error, ") for found in error.errors())
        raise UsageError(f"--document {document} does not fit {', '.join(paths)}: {why}") from None
    for found in read_documents(
        source, Path(), _MOST_DOCUMENT_BYTES, lambda damage: damages.update([damage.reason])
    ):
        yield found.text
    if damages:
        say(f"  damaged: {', '.join(f'{count:,} {reason}' for reason, count in damages.most_common())}")


def said_by_stage() -> Callable[[str, int], None]:
    """Says how far a training of n-grams is: each order, and every some million characters that are read."""
    said = 0

    def report(stage: str, done: int) -> None:
        nonlocal said
        if stage != "read":
            say(f"  {stage}: order {done}")
        elif done - said >= _SAID_CHARACTERS:
            said = done
            say(f"  read {human(done)} characters")

    return report


def describe_funnel(funnel: Funnel, warn_drop_share: float = WARN_DROP_SHARE) -> str:
    """What came through the corpus and what did not, for the terminal; a step that drops more than a share is named."""
    read, kept, held_out = funnel.total_read(), funnel.total_kept(), funnel.total_kept(VALIDATION)
    lines = [
        f"  kept {kept.documents:,} of {read.documents:,} documents, {human_bytes(kept.bytes)}; of them "
        f"{held_out.documents:,} ({human_bytes(held_out.bytes)}) are held out for validation"
    ]
    lines += _losses(funnel)
    damaged = [f"{count:,} {reason}" for reason, count in funnel.damaged.items()]
    if damaged:
        lines.append(f"  damaged: {', '.join(damaged)}; damaged.jsonl.zst in the corpus says where")
    lines += [f"  warning: {warning}" for warning in warnings(funnel, warn_drop_share)]
    return "\n".join(lines)


def _losses(funnel: Funnel) -> Iterator[str]:
    """A line for each step that drops documents, its reasons by their number, or cuts text out of those that stay."""
    dropped, cut = funnel.total_dropped(), funnel.total_cut()
    for step, (reached, lost) in funnel.passed().items():
        said = []
        if lost.documents:
            reasons = [
                (count.documents, reason) for reason, count in dropped.items() if step_of(reason) == step
            ]
            named = [
                f"{number:,} {reason.partition('.')[2]}"
                for number, reason in sorted(reasons, key=lambda item: (-item[0], item[1]))
            ]
            share = lost.documents / reached.documents
            said.append(
                f"drops {lost.documents:,} of {reached.documents:,} ({share:.1%}): {', '.join(named)}"
            )
        if step in cut:
            size = human_bytes(abs(cut[step].bytes))
            what = f"cuts {size} out of" if cut[step].bytes > 0 else f"adds {size} to"
            changed = f"{cut[step].documents:,} that stay"
            said.append(
                f"{what} {changed}" if cut[step].bytes else f"changes {changed} at the same length in all"
            )
        if said:
            yield f"  {step} {'; '.join(said)}"


def make_tokenizer(run: Run, directory: Path) -> dict[str, Any]:
    """Trains a tokenizer, or takes over the one that the recipe names; returns the facts for the manifest."""
    from danlu.tokenizer.sample import sample_texts
    from danlu.tokenizer.train import adopt_tokenizer, train_tokenizer
    from danlu.workflow.depends import sample_weights

    settings = run.recipe.tokenizer
    if settings.path:
        made = adopt_tokenizer(settings, run.base / settings.path, directory)
        say(f"  {made.vocab_size:,} tokens, from {settings.path}")
    else:
        corpus, weights, seed = run.directory / "corpus", sample_weights(run), run.recipe.seed
        made = train_tokenizer(
            settings, lambda: sample_texts(corpus, weights, settings.sample_bytes, seed), directory
        )
        say(f"  {made.vocab_size:,} tokens, trained on {human_bytes(made.sample_bytes)}")
    if made.reason:
        say(f"  {made.reason}")
    facts = asdict(made)
    facts.pop("path")
    return facts


def encode_corpus(run: Run, directory: Path) -> TokensReport:
    """The corpus, and what comes as ids, as shards, with the recipe's workers."""
    from danlu.shards.build import Joining, build_tokens
    from danlu.workflow.depends import joined_roots

    tokens, workers = run.recipe.tokens, run.recipe.corpus.workers
    roots = joined_roots(run)
    return build_tokens(
        run.directory / "tokenizer" / "tokenizer.json",
        run.directory / "corpus",
        directory,
        workers=None if workers == "auto" else workers,
        join={domain: Joining(field, tuple(roots.get(domain, ()))) for domain, field in tokens.join.items()},
        pairs={domain: run.base / path for domain, path in tokens.megatron.items()},
    )


def describe_tokens(report: TokensReport) -> str:
    """The shards' contents, for the terminal."""
    train, validation = report.tokens("train"), report.tokens("validation")
    return f"  {human(train)} training tokens, {human(validation)} held out for validation"
