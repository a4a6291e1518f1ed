"""The report's words and tables: result, evaluation, samples, corpus, mixture, foreseen and measured, events, export.

Decides what is worth a reader's minute; everything comes from `Facts`, and each number is shown with its unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from danlu.account.funnel import Funnel
from danlu.chart.bar import Bar, bar_chart
from danlu.chart.markup import (
    Html,
    code,
    columns,
    figure,
    heading,
    headline,
    join,
    paragraph,
    quotation,
    table,
)
from danlu.evaluate.baselines import NAMES, compare
from danlu.log import human, human_bytes, human_seconds
from danlu.report.facts import Facts, Row, median_speed, newest_by_domain, peak_memory
from danlu.report.funnel import cuts_table, damage_table, funnel_pictures, reasons_table

EVALUATION_NOTE = (
    "On validation text split off by hash before training. Bits per byte can be compared across models and with simple "
    "methods: byte frequencies (order-0) and byte pairs (bigram) counted on the training text, and xz -9."
)
SAMPLES_NOTE = "The same prompts continued as the training went on; the prompt is set apart."
CORPUS_NOTE = "What was read, dropped and kept; corpus.html has languages, histograms and samples."
MIXTURE_NOTE = "How much of each domain the training takes; an epoch is once through a domain's text."
EVENTS_NOTE = "Saves, stops, kills and resumes, in the order in which they happened (UTC)."
_SHOWN_DOCUMENTS = 12
_SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)


def result(facts: Facts) -> Html:
    """The headline numbers and the verdict on the baselines."""
    last = facts.metrics[-1] if facts.metrics else None
    rows = newest_by_domain(facts)
    numbers = [
        (f"{row['domain']}, bits per byte", _fixed(row["bits_per_byte"], 3), _perplexity(row)) for row in rows
    ]
    if facts.plan is not None:
        embeddings = f"of them {human(facts.plan.embedding_parameters)} embeddings"
        numbers.append(("parameters", human(facts.plan.parameters), embeddings))
    if last is not None:
        share = f", {last['tokens'] / facts.plan.tokens:.0%} of the plan" if facts.plan else ""
        numbers.append(("tokens trained on", human(last["tokens"]), f"{last['step']:,} steps{share}"))
        if last.get("seconds"):
            numbers.append(("time of training", human_seconds(last["seconds"]), "evaluation and saves apart"))
    if (speed := median_speed(facts)) is not None:
        numbers.append(("tokens per second", human(speed), "median step"))
    if facts.funnel is not None:
        kept = facts.funnel.total_kept()
        numbers.append(("documents kept", f"{kept.documents:,}", human_bytes(kept.bytes)))
    return join([headline(numbers), *(paragraph(line, "verdict") for line in verdicts(rows))])


def verdicts(rows: Sequence[Row]) -> list[str]:
    """One plain sentence a domain: what the model needs, which baselines it beats and which not."""
    return [
        f"On {row['domain']} the model needs {row['bits_per_byte']:.2f} bits per byte: it "
        f"{compare(row['bits_per_byte'], row['baselines'])}."
        for row in rows
        if row.get("baselines") and row.get("bits_per_byte") is not None
    ]


def evaluation(facts: Facts) -> Html:
    """The newest measurement of each domain beside its baselines."""
    rows = newest_by_domain(facts)
    names = list(dict.fromkeys(name for row in rows for name in row.get("baselines") or {}))
    header = [
        "domain",
        "step",
        "loss",
        "perplexity",
        "bits/byte",
        *(NAMES.get(name, name) for name in names),
        "tokens",
        "text",
    ]
    cells = [
        [
            str(row["domain"]),
            f"{row['step']:,}" if row.get("final") else f"{row['step']:,} (in part)",
            _fixed(row["loss"], 3),
            _fixed(row["perplexity"], 2),
            _fixed(row["bits_per_byte"], 3),
            *(_fixed((row.get("baselines") or {}).get(name), 3) for name in names),
            human(row["tokens"]),
            human_bytes(row["bytes"]),
        ]
        for row in rows
    ]
    later = [paragraph("Baselines are measured when the training is done.", "note")] if not names else []
    return join([table(header, cells), *later])


def samples(facts: Facts) -> Html:
    """Each prompt's continuations, at up to six points of the training."""
    parts: list[Html] = []
    for prompt in dict.fromkeys(str(row["prompt"]) for row in facts.samples):
        rows = [row for row in facts.samples if row["prompt"] == prompt]
        shown = nearest_shares(rows)
        parts += [
            quotation(f"{row['share']:.0%} of training, step {row['step']:,}", prompt, str(row["text"]))
            for row in shown
        ]
        if len(shown) < len(rows):
            parts.append(paragraph(f"{len(shown)} of {len(rows)} are shown; samples.jsonl has all.", "note"))
    return join(parts)


def nearest_shares(rows: Sequence[Row]) -> list[Row]:
    """The rows nearest to 0, 10, 25, 50, 75 and 100 % of training, each once, in order; all where there are few."""
    if len(rows) <= len(_SHARES):
        return list(rows)
    chosen = {min(range(len(rows)), key=lambda i: abs(rows[i]["share"] - share)) for share in _SHARES}
    return [rows[i] for i in sorted(chosen)]


def corpus(facts: Facts) -> Html:
    """The funnel: bars of documents and of bytes, then the reasons and what is kept where."""
    funnel: Funnel = _there(facts.funnel)
    kept = [
        [domain, split, f"{count.documents:,}", human_bytes(count.bytes)]
        for split, domains in funnel.kept.items()
        for domain, count in domains.items()
    ]
    kept_table = table(["domain", "split", "documents", "text"], sorted(kept), text_columns=2)
    parts = [join([heading("Kept"), kept_table])]
    if funnel.damaged:
        parts.append(join([heading("Damaged input"), damage_table(funnel)]))
    problem = [paragraph(f"Warning: {funnel.problem}.", "verdict")] if funnel.problem else []
    lost = [heading("Dropped"), reasons_table(funnel), cuts_table(funnel)]
    return join([*problem, funnel_pictures(funnel), *lost, columns(parts)])


def mixture(facts: Facts) -> Html:
    """Shares, tokens and epochs by domain."""
    rows = _there(facts.plan).mixture
    bars = [Bar(row.domain, row.share, f"{row.share:.1%}") for row in rows]
    header = ["domain", "share", "tokens", "taken", "epochs"]
    cells = [
        [
            row.domain,
            f"{row.share:.2%}",
            human(row.available_tokens),
            human(row.planned_tokens),
            f"{row.epochs:.2f}",
        ]
        for row in rows
    ]
    return join([columns([figure(bar_chart(bars, "Mixture")), table(header, cells)])])


def foreseen(facts: Facts) -> Html:
    """The plan's numbers beside what was measured, and what danlu chose and why."""
    plan = _there(facts.plan)
    last: Row = facts.metrics[-1] if facts.metrics else {}
    share = last.get("step", 0) / plan.steps
    expected, memory = plan.expected_seconds, plan.memory.total + plan.process_bytes
    note = "" if share in (0, 1) else f" (for the {share:.0%} done)"
    rows = [
        [
            "tokens",
            human(plan.tokens),
            _shown(last.get("tokens"), human),
            _ratio(last.get("tokens"), plan.tokens),
        ],
        [
            f"time of training{note}",
            _shown(expected, lambda seconds: human_seconds(seconds * (share or 1))),
            _shown(last.get("seconds"), human_seconds),
            _ratio(last.get("seconds"), expected * share if expected else None),
        ],
        [
            "tokens per second",
            _shown(plan.tokens_per_second, human),
            _shown(median_speed(facts), human),
            _ratio(median_speed(facts), plan.tokens_per_second),
        ],
        [
            "memory",
            human_bytes(memory),
            _shown(peak_memory(facts), human_bytes),
            _ratio(peak_memory(facts), memory),
        ],
    ]
    parts = [table(["", "foreseen", "measured", "ratio"], rows)]
    parts.append(
        paragraph(
            f"{plan.total_flops:.2e} FLOPs in all, on {plan.machine.processor}, {plan.machine.cores} cores. "
            f"A step is {plan.accumulation} x {plan.micro_batch} sequences of {plan.sequence_length:,} tokens.",
            "note",
        )
    )
    if plan.choices:
        chosen = [[choice.key, choice.value, choice.reason] for choice in plan.choices]
        parts += [heading("Chosen by danlu"), table(["key", "value", "why"], chosen, text_columns=3)]
    return join(parts)


def events(facts: Facts) -> Html:
    """The events, runs of saves in one line."""
    rows = [[_clock(row), said] for row, said in _told(facts.events)]
    return table(["time", "what"], rows, text_columns=2)


def _told(rows: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    saves: list[Row] = []
    for row in rows:
        if row["kind"] == "saved":
            saves.append(row)
            continue
        yield from _told_saves(saves)
        saves = []
        yield row, tell(row)
    yield from _told_saves(saves)


def _told_saves(saves: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    if saves:
        steps = (
            f"step {saves[0]['step']:,}"
            if len(saves) == 1
            else f"steps {saves[0]['step']:,} to {saves[-1]['step']:,}"
        )
        seconds = sum(row.get("seconds") or 0.0 for row in saves)
        number = "a checkpoint" if len(saves) == 1 else f"{len(saves)} checkpoints"
        yield saves[0], f"saved {number}, {steps}, in {human_seconds(seconds)}"


def tell(row: Row) -> str:
    """An event in words."""
    step = f"{row['step']:,}" if isinstance(row.get("step"), int) else "?"
    match row["kind"]:
        case "killed":
            return f"the trainer was killed with SIGKILL after step {step}"
        case "resumed":
            return f"resumed from the checkpoint of step {step}"
        case "replayed":
            different = row.get("different") or []
            end = f"; different at {', '.join(map(str, different))}" if different else ""
            return f"replayed {row['steps']} steps: {row['equal']} losses equal to the logged ones bit for bit{end}"
        case "stopped":
            return f"stopped by {row.get('reason')} at step {step}; everything was saved"
        case "limit":
            return f"ended at step {step} by a limit of the command: {row.get('reason')}"
        case "finished":
            return f"finished at step {step}"
        case "checkpoint_damaged":
            return f"a damaged checkpoint was passed over: {row.get('reason')}"
    rest = ", ".join(f"{key} {value}" for key, value in row.items() if key not in ("kind", "time"))
    return f"{str(row['kind']).replace('_', ' ')} {rest}".strip()


def explained(facts: Facts) -> Html:
    """The worst step and the documents that it saw."""
    found = _there(facts.explained)
    if found["step"] is None:
        return paragraph("The training was too short to tell its worst step.", "missing")
    sentence = (
        f"At step {found['step']:,} the loss, {_fixed(found['loss'], 3)}, stood furthest above that of the steps "
        f"around it. These are the documents that the step saw, with their losses under the newest weights."
    )
    cells = [
        [
            document["domain"],
            f"{document['source']} [{document['start']}:{document['end']}]",
            f"{document['tokens']:,}",
            _fixed(document["loss"], 3),
        ]
        for document in found["documents"][:_SHOWN_DOCUMENTS]
    ]
    header = ["domain", "source [bytes]", "tokens", "loss"]
    more = len(found["documents"]) - len(cells)
    rest = [paragraph(f"{more} more are in explained.json.", "note")] if more > 0 else []
    return join([paragraph(sentence), table(header, cells, text_columns=2), *rest])


def export(facts: Facts) -> Html:
    """What was exported, and how it was checked."""
    report = _there(facts.export)
    size = sum(report["files"].values())
    sentence = (
        f"export/ is a {report['architecture']} that opens in plain transformers. A second implementation read the "
        f"files in float64: over {report['tokens_compared']} tokens no logit differs from the network's by more than "
        f"{report['max_logit_difference']:.1e} ({report['tolerance']:g} is allowed), and the tokenizer agrees on "
        f"{report['texts_compared']} difficult texts."
    )
    files = [[name, human_bytes(number)] for name, number in report["files"].items()]
    return join([paragraph(sentence), table(["file", human_bytes(size)], files)])


def recipe(facts: Facts) -> Html:
    """The resolved recipe."""
    return code("recipe.toml", _there(facts.recipe))


def _there(value: Any) -> Any:
    if value is None:
        raise ValueError("nothing there")
    return value


def _fixed(value: float | None, digits: int) -> str:
    return "not finite" if value is None else f"{value:,.{digits}f}"


def _perplexity(row: Row) -> str:
    return f"loss {_fixed(row['loss'], 3)}, perplexity {_fixed(row['perplexity'], 1)}"


def _shown(value: float | None, how: Any) -> str:
    return "not measured" if value is None else str(how(value))


def _ratio(measured: float | None, expected: float | None) -> str:
    return f"{measured / expected:.2f}" if measured and expected else ""


def _clock(row: Row) -> str:
    moment = row.get("time")
    return "" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S}"
