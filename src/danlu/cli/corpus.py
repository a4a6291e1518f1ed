"""`danlu corpus`: from files to clean documents, and what became of each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from danlu.cli import scoring
from danlu.cli.options import (
    AsJson,
    DryRun,
    RecipeOrRun,
    RunName,
    Settings,
    do_through,
    show,
    show_json,
    table,
)

if TYPE_CHECKING:
    from danlu.account.funnel import Count
    from danlu.account.samples import Sample
    from danlu.account.tune import Tuned

Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="STEP.KEY=VALUE",
        help="Try a key of a step, e.g. gopher_quality.min_doc_words=30. May be repeated.",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(help="From files to clean documents.", no_args_is_help=True, rich_markup_mode=None)
    group.command(epilog="Example: danlu corpus build recipe.toml")(build)
    group.command(epilog="Example: danlu corpus tune my-model --set length.min_characters=50")(tune)
    group.command(epilog="Example: danlu corpus why my-model 4294967296")(why)
    group.command(epilog="Example: danlu corpus clusters my-model --step minhash")(clusters)
    group.command(epilog="Example: danlu corpus report my-model")(report)
    scoring.register(group)
    app.add_typer(group, name="corpus")
    app.command(hidden=True, epilog="Example: danlu job runs/web/corpus.work/jobs/corpus 12")(job)


def build(recipe: RecipeOrRun, settings: Settings = None, dry_run: DryRun = False) -> None:
    """Read, clean and split the text.

    Says what was dropped and why.
    """
    do_through("corpus", recipe, settings, dry_run)


def tune(recipe: RecipeOrRun, changes: Changes = None, as_json: AsJson = False) -> None:
    """Say what other thresholds would keep.

    From what was measured when the corpus was built: no text is read again, nothing is changed. The thresholds are the
    recipe's, with those of --set over them.
    """
    from danlu.workflow.curation import tune as try_thresholds
    from danlu.workflow.run import resolve

    tuned = try_thresholds(resolve(recipe), changes or ())
    if as_json:
        show_json(tuned.to_json())
    else:
        show("\n".join(_tuned_lines(tuned)))


def why(
    run: RunName,
    document: Annotated[str, typer.Argument(metavar="ID", help="A document's id, or its number.")],
    as_json: AsJson = False,
) -> None:
    """Tell one document's story.

    Where it came from, what every step measured against its threshold, what dropped it, which document it repeats, and
    which were dropped because it stays.
    """
    from danlu.account.why import describe
    from danlu.workflow.curation import stories
    from danlu.workflow.run import find_run, load_run

    found = stories(load_run(find_run(run)), document)
    if as_json:
        show_json([story.to_json() for story in found])
    else:
        show("\n\n".join(describe(story) for story in found))


def clusters(
    run: RunName,
    step: Annotated[str | None, typer.Option(help="Only of this step, e.g. minhash.")] = None,
    largest: Annotated[int, typer.Option(min=1, help="Clusters of each step.")] = 10,
    members: Annotated[int, typer.Option(min=0, help="Copies of each cluster.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Show the largest clusters of copies.

    Which document stays, what was dropped for it, and how alike each copy and the document that it was compared with
    are: the Jaccard index of their n-grams of words, which minhash estimates where min_jaccard is 0.
    """
    from danlu.account.clusters import describe
    from danlu.workflow.curation import clusters as find_clusters
    from danlu.workflow.run import find_run, load_run

    found = find_clusters(load_run(find_run(run)), step, largest, members)
    if as_json:
        show_json([cluster.to_json() for cluster in found])
    else:
        show(
            describe(found) or f"No document was dropped as a copy of another{f' by {step}' if step else ''}."
        )


def report(run: RunName) -> None:
    """Write the page of the corpus.

    Funnel, languages, published retention, histograms, samples and clusters of copies, in one file.
    """
    from danlu.workflow.curation import write_page
    from danlu.workflow.run import find_run, load_run

    show(str(write_page(load_run(find_run(run)))))


def job(
    directory: Annotated[str, typer.Argument(metavar="DIRECTORY", help="Where the tasks are written.")],
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="Which one.")],
) -> None:
    """Carry out one task of a Slurm array; the array's script calls this."""
    from pathlib import Path

    from danlu.jobs.slurm import run_array_task

    run_array_task(Path(directory), number)


def _tuned_lines(tuned: Tuned) -> Iterator[str]:
    from danlu.account.funnel import Count

    yield from tuned.changes
    yield ""
    rows = []
    for reason in dict.fromkeys([*tuned.then, *tuned.now]):
        then, now = tuned.then.get(reason, Count()), tuned.now.get(reason, Count())
        rows.append((_name(reason), *_pair(then, now)))
    # What is kept is the last line, also where a reason is new.
    rows.sort(key=lambda row: row[0] == "kept")
    yield table([("", "documents then", "now", "", "bytes then", "now", ""), *rows])
    yield from _changed("newly kept, by why they were dropped", tuned.newly_kept, tuned.kept_examples)
    yield from _changed("newly dropped, by why", tuned.newly_dropped, tuned.dropped_examples)
    yield ""
    if tuned.unmeasured:
        yield f"{tuned.unmeasured:,} of the newly kept were not measured by later steps, which may still drop them."
    yield "Bytes are those of the texts as read. Deduplication is not done again: `danlu corpus build` does all of it."


def _pair(then: Count, now: Count) -> tuple[str, ...]:
    differences = (now.documents - then.documents, now.bytes - then.bytes)
    documents, texts = (f"{number:+,}" if number else "" for number in differences)
    return f"{then.documents:,}", f"{now.documents:,}", documents, f"{then.bytes:,}", f"{now.bytes:,}", texts


def _changed(title: str, counts: Mapping[str, Count], examples: Mapping[str, list[Sample]]) -> Iterator[str]:
    if not counts:
        return
    yield ""
    yield f"{title}:"
    for reason, count in counts.items():
        yield f"  {reason}: {count.documents:,} documents, {count.bytes:,} bytes"
        for sample in examples.get(reason, []):
            text = " ".join(sample.excerpt.split())
            yield f"    {sample.id} ({sample.source}): {text[:100]}"


def _name(reason: str) -> str:
    return reason or "kept"
