"""`danlu corpus label`, `train-classifier` and `train-lm`: labels, and the scorers that steps of a recipe use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from danlu.cli.options import AsJson, RunName, read_section, show, show_json, size
from danlu.errors import UsageError

if TYPE_CHECKING:
    from danlu.scorers.model_file import Card

Texts = Annotated[
    list[str],
    typer.Argument(metavar="TEXT...", help="Files or globs, in any format that a source reads."),
]
Labelled = Annotated[
    list[str] | None,
    typer.Option(metavar="GLOB", help="Rows of .jsonl or .csv with labels. May be repeated."),
]
Positive = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GLOB", help="Texts to be found: .jsonl, .csv or .txt, a paragraph each. May be repeated."
    ),
]
Negative = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Texts of the other side. May be repeated.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="A setting of the training, e.g. precision=0.9. May be repeated."
    ),
]

_COUNT = 50
"""Documents of a draw."""


def register(group: typer.Typer) -> None:
    """Adds the commands to `danlu corpus`."""
    group.command(epilog="Example: danlu corpus label my-model --scale keep --count 50")(label)
    group.command(
        "train-classifier",
        epilog="Example: danlu corpus train-classifier toxicity.safetensors --labelled train.csv --label toxic "
        "--set positive=drop --set precision=0.9",
    )(train_classifier)
    group.command("train-lm", epilog="Example: danlu corpus train-lm en.arpa wiki/*.txt --order 5")(train_lm)


def train_classifier(
    scorer: Annotated[Path, typer.Argument(metavar="FILE", help="The scorer to write, .safetensors.")],
    labelled: Labelled = None,
    positive: Positive = None,
    negative: Negative = None,
    text: Annotated[str, typer.Option(help="The field of the text.")] = "text",
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="The field of the label; of several any is enough."),
    ] = None,
    positive_label: Annotated[
        list[str] | None, typer.Option(metavar="LABEL", help="A label that is positive; all others are not.")
    ] = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Train a scorer of documents: quality, toxicity, education.

    From labelled rows, or from texts of two sides. A part is held out by the hash of the text: the figures, the
    threshold and the curve, a page beside the scorer, are of that part. The step `classifier` uses the file.
    """
    from danlu.log import say
    from danlu.scorers.curve import write_curve_page
    from danlu.scorers.examples import Columns, read_labelled, read_sides
    from danlu.scorers.model_file import save_scorer
    from danlu.scorers.settings import Training
    from danlu.scorers.train import train_scorer

    training = read_section(Training, settings or ())
    if scorer.suffix != ".safetensors":
        raise UsageError(f"{scorer}: a scorer's name ends in .safetensors; its page lies beside it as .html")
    if bool(labelled) == bool(positive and negative) or bool(positive) != bool(negative):
        raise UsageError("give --labelled FILES, or --positive FILES and --negative FILES")
    if positive and (label or positive_label):
        raise UsageError(
            "--label and --positive-label are of --labelled FILES: two sides are labels themselves"
        )
    if training.scale == "0-5" and (positive or positive_label):
        given = "--positive" if positive else "--positive-label"
        raise UsageError(f"--set scale=0-5 learns from points; give --labelled FILES and no {given}")
    if labelled:
        columns = Columns(text, tuple(label or ("label",)), tuple(positive_label or ()), training.scale)
        examples = read_labelled(labelled, columns)
    else:
        examples = read_sides(positive or (), negative or (), text)
    trained = train_scorer(examples, training, say)
    save_scorer(scorer, trained)
    page = scorer.with_suffix(".html")
    write_curve_page(page, trained.card)
    if as_json:
        show_json(trained.card.model_dump(mode="json"))
        return
    chosen = trained.card.threshold
    figures = ", ".join(
        f"{name.replace('_', ' ')} {value:.4f}" for name, value in trained.card.metrics.items()
    )
    show(
        f"{scorer}: {figures} on {trained.card.data.held_out:,} held-out texts\n"
        f"threshold {chosen.value:.4g} for {chosen.aim}: precision {chosen.precision:.1%}, recall {chosen.recall:.1%}\n"
        f"{page} shows the curve" + "".join(f"\n{caveat}" for caveat in _caveats(trained.card))
    )


def _caveats(card: Card) -> Iterator[str]:
    """A line for what a user would want to know before the scorer is used."""
    from danlu.scorers.solve import GAP

    if card.gap > GAP:
        yield (
            f"after {card.passes} passes the weights may be {card.gap:.1%} above the best, more than {GAP:.1%}: "
            f"raise --set max_passes"
        )
    if card.data.left_out:
        reasons = ", ".join(
            f"{count:,} {reason.replace('_', ' ')}" for reason, count in card.data.left_out.items()
        )
        yield f"left out {sum(card.data.left_out.values()):,} rows: {reasons}"


def train_lm(
    model: Annotated[Path, typer.Argument(metavar="FILE", help="The model to write, .arpa.")],
    texts: Texts,
    order: Annotated[int, typer.Option(min=2, help="Words of the longest n-grams.")] = 5,
    tokens: Annotated[
        Literal["words", "characters", "spaces"],
        typer.Option(help="words; characters, for scripts without spaces; or what stands between spaces."),
    ] = "words",
    prune: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N", help="Leave out n-grams that occur no more often: 0 for words, then once an order."
        ),
    ] = None,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help='Bytes, e.g. "2G"; the rest is on disk.')
    ] = "1G",
    document: Annotated[
        str,
        typer.Option(help="What one document is, cut as the corpus's are: file, line, blank_line, section."),
    ] = "file",
) -> None:
    """Train an n-gram language model.

    Modified Kneser-Ney, as ARPA, with a card beside it: the step `perplexity` sorts documents into head, middle and
    tail by it. Train it on text that is as you want it, such as an encyclopedia, one model a language. Its documents
    should be cut as those of the corpus are: beside single paragraphs, whole pages are all tail.
    """
    from danlu.lm.train import train_lm as train
    from danlu.workflow.texts import read_texts, said_by_stage

    card = train(
        read_texts(texts, document),
        model,
        order=order,
        tokens=tokens,
        prune=prune or (),
        memory_bytes=size(memory, "--memory") or 0,
        progress=said_by_stage(),
    )
    held_out = (
        f"perplexity {card.held_out_perplexity:.1f} on {card.held_out_documents:,} held-out documents"
        if card.held_out_perplexity
        else "nothing was held out: give cutoffs in the recipe"
    )
    show(
        f"{model}: {' + '.join(f'{count:,}' for count in card.ngrams)} n-grams of {card.words:,} words; {held_out}"
    )
    if card.percentiles:
        show(
            f"30 % of these are below perplexity {card.percentile(0.3):.1f}, 60 % below {card.percentile(0.6):.1f}; "
            f"half of them have {card.held_out_median_words:,} words or fewer: the corpus's should be about as long, "
            f"else choose --document anew"
        )


def label(
    run: RunName,
    scale: Annotated[
        Literal["keep", "0-5"],
        typer.Option(help="keep: keep or drop; 0-5: points, e.g. of educational value."),
    ] = "keep",
    count: Annotated[
        int | None, typer.Option(min=1, help="How many documents are drawn in all; 50, if not said.")
    ] = None,
    reason: Annotated[
        str,
        typer.Option(help="Only kept, in full; dropped; or those of a step or reason, e.g. c4.policy."),
    ] = "",
    by: Annotated[
        str,
        typer.Option(metavar="MEASURE", help="Draw evenly over a measure, e.g. classifier_quality.score."),
    ] = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Another draw; 1, if not said.")] = None,
    name: Annotated[str | None, typer.Option(help="Who labels; this user, if not said.")] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Ask nothing: say what the labels of all draws say.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the labelled texts of all draws for train-classifier."),
    ] = None,
    endpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Let a model label: url, model, prices and caps as TOML."),
    ] = None,
    prompt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What the model is asked; {text} is the document.")
    ] = None,
) -> None:
    """Label documents of a corpus.

    Shows one document after the other and takes keep or drop, or points; every label is stored with who gave it and
    when. The same command goes on where it ended; another labeller gets the same documents. Then it says how far
    labellers agree and how many more labels are worth giving.

    Of a dropped document there are the first 240 characters. Unless --reason says otherwise, kept ones are drawn among
    them and shown as far, so that their length tells nothing; --reason kept shows whole texts.
    """
    from danlu.labels.sample import Draw
    from danlu.labels.session import name_of_labeller
    from danlu.labels.settings import Endpoint
    from danlu.workflow.labelling import (
        describe_labels,
        export_examples,
        label_by_model,
        label_here,
        open_labelling,
        stored_labelling,
    )
    from danlu.workflow.run import find_run, load_run

    if prompt and not endpoint:
        raise UsageError("--prompt is what a model is asked; say which with --endpoint FILE")
    ways = {"--report": report, "--export": export, "--endpoint": endpoint}
    given = [way for way, value in ways.items() if value]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} are different things to do; type one of them, then another")
    if given and name is not None:
        raise UsageError(f"--name is the person who labels now, which nobody does with {given[0]}")
    drawing = {"--count": count is not None, "--seed": seed is not None, "--reason": reason, "--by": by}
    drawn = [option for option, value in drawing.items() if value]
    if drawn and (report or export):
        raise UsageError(f"{given[0]} takes all draws of the run together; leave out {' and '.join(drawn)}")
    found, wanted = load_run(find_run(run)), Draw(count or _COUNT, 1 if seed is None else seed, reason, by)
    if export:
        done = export_examples(stored_labelling(found, scale), export)
        _tell(f"{export}: {len(done.said)} examples; left out {done.divided} whose labels are evenly divided")
        return
    if endpoint:
        settings = read_section(Endpoint, (), endpoint)
        _tell(label_by_model(open_labelling(found, wanted, scale), settings, prompt))
    elif not report:
        who = name_of_labeller(name)
        _tell(label_here(open_labelling(found, wanted, scale), who, sys.stdin, sys.stdout))
    _tell("\n".join(describe_labels(stored_labelling(found, scale))))


def _tell(text: str) -> None:
    """Prints an answer at once, so that an output that takes no more is an error and no traceback at the end."""
    from danlu.labels.terminal import output_errors

    with output_errors(sys.stdout):
        show(text)
