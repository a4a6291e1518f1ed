"""The page of a corpus, runs/NAME/corpus.html: funnel, languages, published retention, histograms, samples, copies.

Guarantees: self-contained as report.html is; made from the corpus, its settings and the size of its tokens alone, the
same each time; what a sample's text holds cannot act in the page. Costs: a few passes over columns of the ledger; some
100 kB a page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from danlu.account.funnel import WARN_DROP_SHARE, Count, Flow, Funnel, warnings
from danlu.account.ledger import NO_MATCH, read_ledger
from danlu.account.samples import Sample, sample_by_reason
from danlu.account.step import Step
from danlu.chart.markup import (
    Html,
    code,
    folded,
    headline,
    join,
    paragraph,
    quotation,
    table,
)
from danlu.chart.page import Section, page
from danlu.files import write_bytes
from danlu.log import human, human_bytes
from danlu.report.clusters import NOTE as CLUSTERS_NOTE
from danlu.report.clusters import clusters_of
from danlu.report.funnel import NOTE as FUNNEL_NOTE
from danlu.report.funnel import (
    amounts,
    cuts_table,
    damage_table,
    funnel_pictures,
    load_funnel,
    reasons_table,
    share,
)
from danlu.report.histograms import histograms
from danlu.report.published import read_published, share_kept

NAME = "corpus.html"
_LANGUAGES = 30

LANGUAGES_NOTE = "Documents and text by domain and language, and the reason that takes most."
PUBLISHED_NOTE = (
    "What published pipelines kept of crawls of the web, beside this corpus: documents / bytes. Other text is right to "
    "differ; a step that keeps far less than it does elsewhere is worth a look at its samples."
)
HISTOGRAMS_NOTE = (
    "What each step measured; shares of documents on a logarithmic scale, red beyond a threshold. "
    "danlu corpus tune says what another threshold would keep."
)
SAMPLES_NOTE = (
    "Chosen by the hash of their ids, the same each time; a dropped text as it was when it was dropped. "
    "danlu corpus why says everything about one of them."
)


def write_corpus_page(
    run: Path, steps: Sequence[Step], settings: str, warn_drop_share: float = WARN_DROP_SHARE
) -> Path:
    """Writes the page of the corpus of a run, and returns its path. `settings` is [corpus] as text."""
    path = run / NAME
    text = corpus_page(run, steps, settings, warn_drop_share)
    write_bytes(path, text.encode("utf-8", "replace"))
    return path


def corpus_page(
    run: Path, steps: Sequence[Step], settings: str, warn_drop_share: float = WARN_DROP_SHARE
) -> str:
    """The page as text. Raises MissingError or DamagedError where the corpus cannot be read."""
    funnel, corpus = load_funnel(run), run / "corpus"
    samples = sample_by_reason(corpus)
    sections = [
        Section("Result", _result(funnel, splitters(corpus), warn_drop_share)),
        Section(
            "Funnel", join([funnel_pictures(funnel), reasons_table(funnel), cuts_table(funnel)]), FUNNEL_NOTE
        ),
        Section("Domains and languages", _languages(funnel), LANGUAGES_NOTE),
        Section("Published retention", _published(funnel), PUBLISHED_NOTE),
        Section("Histograms", histograms(corpus, steps, funnel.total_read().documents), HISTOGRAMS_NOTE),
        Section("Samples", _samples(funnel, samples), SAMPLES_NOTE),
        Section("Largest clusters", clusters_of(corpus, funnel.steps), CLUSTERS_NOTE),
        Section("Damaged input", _damaged(funnel)),
        Section("Settings", code("[corpus]", settings), "Every key that decided this corpus."),
    ]
    read, kept = funnel.total_read(), funnel.total_kept()
    subtitle = f"{kept.documents:,} of {read.documents:,} documents kept, {human_bytes(kept.bytes)}."
    return page(f"danlu: corpus of {run.name}", sections, subtitle=subtitle)


def splitters(corpus: Path) -> Counter[str]:
    """How many documents were split into words in which way."""
    found: Counter[str] = Counter()
    for batch in read_ledger(corpus, ["splitter"]):
        counts: pa.StructArray = batch.column("splitter").value_counts()
        for item in counts.to_pylist():
            found[item["values"]] += item["counts"]
    return found


def _result(funnel: Funnel, split: Mapping[str, int], warn_drop_share: float) -> Html:
    read, kept = funnel.total_read(), funnel.total_kept()
    held_out = funnel.total_kept("validation")
    words = [f"{name or 'none needed'} ({number:,})" for name, number in Counter(split).most_common()]
    facts = [
        ("documents read", f"{read.documents:,}", human_bytes(read.bytes)),
        ("documents kept", f"{kept.documents:,}", f"{share(kept.documents, read.documents)} of those read"),
        ("text kept", human_bytes(kept.bytes), f"{share(kept.bytes, read.bytes)} of the bytes read"),
        *([("tokens kept", human(kept.tokens), f"of about {human(read.tokens)}")] if kept.tokens else []),
        ("held out for validation", f"{held_out.documents:,}", human_bytes(held_out.bytes)),
        ("word splitters", words[0] if words else "none", ", ".join(words[1:])),
        ("damages", f"{sum(funnel.damaged.values()):,}", "records that could not be read as they should"),
    ]
    lines = [funnel.problem] if funnel.problem else []
    lines += warnings(funnel, warn_drop_share)
    said = [paragraph(f"Warning: {line}.", "verdict") for line in lines]
    return join([headline(facts), *said])


def _languages(funnel: Funnel) -> Html:
    flows = [
        (domain, language, flow)
        for domain, languages in funnel.languages.items()
        for language, flow in languages.items()
    ]
    flows.sort(key=lambda item: (-item[2].read.bytes, item[:2]))
    rows = [
        [domain, language or "unknown", *_flow_cells(flow)] for domain, language, flow in flows[:_LANGUAGES]
    ]
    header = [
        "domain",
        "language",
        "most lost to",
        "read",
        "kept",
        "share",
        "text read",
        "cut",
        "kept",
        "share",
    ]
    if funnel.total_read().tokens:
        header += ["tokens read", "tokens kept"]
    more = len(flows) - len(rows)
    rest = [paragraph(f"{more} more are in funnel.json of the corpus.", "note")] if more > 0 else []
    reasons = folded("Every reason by domain and language", _reasons_of(flows[:_LANGUAGES]))
    return join([table(header, rows, text_columns=3), *rest, reasons])


def _reasons_of(flows: Sequence[tuple[str, str, Flow]]) -> Html:
    """What was dropped and cut of each language of each domain, the most first."""
    tokens = any(flow.read.tokens for *_, flow in flows)
    rows = [
        [domain, language or "unknown", lost, f"{count.documents:,}", *amounts(count, tokens)]
        for domain, language, flow in flows
        for lost, count in [
            *sorted(flow.dropped.items(), key=lambda item: -item[1].documents),
            *((f"cut by {step}", count) for step, count in flow.cut.items()),
        ]
    ]
    if not rows:
        return paragraph("Nothing was dropped or cut.", "missing")
    header = ["domain", "language", "lost to", "documents", "text"] + ["tokens"] * tokens
    return table(header, rows, text_columns=3)


def _flow_cells(flow: Flow) -> list[str]:
    most = max(flow.dropped.items(), key=lambda item: item[1].documents, default=("", Count()))
    lost = f"{most[0]} ({share(most[1].documents, flow.read.documents)})" if most[0] else "nothing"
    cells = [
        lost,
        f"{flow.read.documents:,}",
        f"{flow.kept.documents:,}",
        share(flow.kept.documents, flow.read.documents),
        human_bytes(flow.read.bytes),
        human_bytes(sum(count.bytes for count in flow.cut.values())),
        human_bytes(flow.kept.bytes),
        share(flow.kept.bytes, flow.read.bytes),
    ]
    return cells + ([human(flow.read.tokens), human(flow.kept.tokens)] if flow.read.tokens else [])


def _published(funnel: Funnel) -> Html:
    rows = []
    for known in read_published():
        ours = share_kept(funnel, known.steps, known.without)
        shown = "not a step here" if ours is None else f"{ours[0]:.1%} / {ours[1]:.1%}"
        rows.append(
            [
                known.what,
                known.pipeline,
                f"{known.figures}; {known.place}",
                f"{known.kept:.0%} of {known.unit}",
                shown,
            ]
        )
    return table(["step", "published by", "figures", "kept there", "kept here"], rows, text_columns=3)


def _samples(funnel: Funnel, samples: Mapping[str, Sequence[Sample]]) -> Html:
    counts = {"": funnel.total_kept(), **funnel.total_dropped()}
    parts = []
    for reason, count in counts.items():
        chosen = samples.get(reason, [])
        label = f"{reason or 'kept'}: {len(chosen)} of {count.documents:,}"
        parts.append(folded(label, join(_quoted(sample) for sample in chosen)))
    return join(parts)


def _quoted(sample: Sample) -> Html:
    place = [sample.id, sample.domain, sample.language, sample.source, sample.url]
    if sample.match != NO_MATCH:
        place.append(f"like number {sample.match}")
    return quotation(" · ".join(filter(None, place)), "", sample.excerpt or "(no text)")


def _damaged(funnel: Funnel) -> Html:
    where = [paragraph("damaged.jsonl.zst in the corpus says where.", "note")] if funnel.damaged else []
    return join([damage_table(funnel), *where])
