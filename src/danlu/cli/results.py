"""`danlu evaluate`, `generate`, `export`, `report`: what a trained run has to show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from danlu.cli.options import AsJson, RunName, cell, show, show_json, table
from danlu.errors import UsageError
from danlu.log import visible


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(epilog="Example: danlu evaluate my-model --json")(evaluate)
    app.command(epilog='Example: danlu generate my-model "Once upon a time" --temperature 0.7')(generate)
    app.command(epilog="Example: danlu export my-model hf/my-model")(export)
    app.command(epilog="Example: danlu report my-model")(report)


def evaluate(run: RunName, as_json: AsJson = False) -> None:
    """Measure the validation text.

    Loss, perplexity and bits per byte of each domain, beside simple baselines of the same bytes.
    """
    from danlu.evaluate.baselines import NAMES
    from danlu.workflow.run import find_run, hold, load_run
    from danlu.workflow.stages import evaluate_stage

    the_run = load_run(find_run(run))
    with hold(the_run):
        rows = evaluate_stage(the_run)
    if as_json:
        show_json(rows)
    elif rows:
        names = ("domain", "loss", "perplexity", "bits_per_byte", "tokens", "bytes")
        found = [[row[name] for name in names] + list(row["baselines"].values()) for row in rows]
        simple = (NAMES[name] for name in rows[0]["baselines"])
        show(table([(*names, *simple), *(tuple(map(cell, values)) for values in found)]))


def generate(
    run: RunName,
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="The text to continue.")],
    tokens: Annotated[int, typer.Option(min=1, help="Stop after this many tokens.")] = 128,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 takes the likeliest token.")] = 0.8,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another text.")] = 1,
    step: Annotated[int | None, typer.Option(help="The checkpoint of this step; else the newest.")] = None,
) -> None:
    """Continue a text."""
    from danlu.workflow.results import generate_text
    from danlu.workflow.run import find_run, load_run

    try:
        prompt.encode()
    except UnicodeEncodeError:
        raise UsageError("the prompt is not UTF-8 text") from None
    the_run = load_run(find_run(run))
    pieces = generate_text(the_run, prompt, tokens, temperature, seed, step)
    # The prompt is an answer too: only once there is something to follow it.
    print(visible(prompt + next(pieces, ""), lines=True), end="", flush=True)
    for piece in pieces:
        print(visible(piece, lines=True), end="", flush=True)
    print()


def export(
    run: RunName,
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIRECTORY", help="Where to; else the run's export/.")
    ] = None,
) -> None:
    """Export for `transformers`.

    The newest checkpoint as a Hugging Face directory, verified against the network.
    """
    from danlu.workflow.results import export_run
    from danlu.workflow.run import find_run, hold, load_run
    from danlu.workflow.stages import export_stage

    the_run = load_run(find_run(run))
    with hold(the_run):
        if directory is None:
            export_stage(the_run)
        else:
            export_run(the_run, directory)
    show(str(directory or the_run.directory / "export"))


def report(run: RunName) -> None:
    """Write report.html.

    One self-contained page of the whole run, also while it trains.
    """
    from danlu.workflow.run import find_run, load_run
    from danlu.workflow.stages import report_stage

    show(str(report_stage(load_run(find_run(run)))))
