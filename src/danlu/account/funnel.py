"""The funnel of a corpus: what was read, what each step dropped and why or cut, what is kept, by domain and language.

Guarantees: documents read = dropped + kept, and bytes read = dropped + cut + kept, for every domain and for every
language of it. Bytes are UTF-8: a dropped document counts as it was read, so what steps before cut out of it is no
cut; normalisation may add bytes, a cut below zero. Costs: a pass over a few columns of the ledger, some millions of
documents a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from danlu.errors import DamagedError

WARN_DROP_SHARE = 0.5
"""A step that drops more than this share of the documents that reach it deserves a look."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many documents, how many bytes of UTF-8 text in them, and about how many tokens that would be."""

    documents: int = 0
    bytes: int = 0
    tokens: float = 0.0
    """0 until `Funnel.in_tokens`."""

    def __add__(self, other: Count) -> Count:
        return Count(self.documents + other.documents, self.bytes + other.bytes, self.tokens + other.tokens)


Counts = dict[str, Count]


@dataclass(frozen=True, slots=True)
class Flow:
    """The counts of one language of a domain; `dropped` is by reason, `kept` of both splits."""

    read: Count = Count()
    dropped: Mapping[str, Count] = field(default_factory=dict)
    kept: Count = Count()
    cut: Mapping[str, Count] = field(default_factory=dict)
    """By step: what it changed of the documents that are kept, and by how much they are shorter in all."""

    def __add__(self, other: Flow) -> Flow:
        dropped, cut = (_added(both) for both in ([self.dropped, other.dropped], [self.cut, other.cut]))
        return Flow(self.read + other.read, dropped, self.kept + other.kept, cut)


@dataclass(frozen=True, slots=True)
class Funnel:
    """The counts of one build. `dropped` is by domain and reason ("step.what"), `kept` by split and domain."""

    steps: tuple[str, ...]
    read: Mapping[str, Count]
    dropped: Mapping[str, Mapping[str, Count]]
    damaged: Mapping[str, int]
    kept: Mapping[str, Mapping[str, Count]]
    languages: Mapping[str, Mapping[str, Flow]] = field(default_factory=dict)
    """By domain and language; "" is the language of what no step has named one for."""
    problem: str = ""
    """Why it cannot be trained on, and what to do; "" where it can."""

    def total_read(self) -> Count:
        """Over all domains."""
        return sum(self.read.values(), Count())

    def total_dropped(self) -> Counts:
        """By reason, over all domains, in the order of the steps."""
        total: Counts = {}
        for reasons in self.dropped.values():
            for reason, count in reasons.items():
                total[reason] = total.get(reason, Count()) + count
        return self._in_order(total)

    def total_cut(self) -> Counts:
        """By step, over all domains, in the order of the steps."""
        flows = [flow for languages in self.languages.values() for flow in languages.values()]
        return self._in_order(_added(flow.cut for flow in flows))

    def passed(self) -> dict[str, tuple[Count, Count]]:
        """By step: what reached it and what it dropped, in bytes as read."""
        by_step: Counts = {}
        for reason, count in self.total_dropped().items():
            by_step[step_of(reason)] = by_step.get(step_of(reason), Count()) + count
        flow, reached = {}, self.total_read()
        for step in self.steps:
            dropped = by_step.get(step, Count())
            flow[step] = reached, dropped
            reached += Count(-dropped.documents, -dropped.bytes, -dropped.tokens)
        return flow

    def total_kept(self, split: str | None = None) -> Count:
        """Over all domains of one split, or of both."""
        splits = [split] if split else list(self.kept)
        return sum((count for name in splits for count in self.kept.get(name, {}).values()), Count())

    def in_tokens(self, bytes_a_token: Mapping[str, float]) -> Funnel:
        """The same with tokens in every count, from what a token of each domain was measured to hold.

        What was dropped was never tokenised: it is taken to be like what its domain kept, and a domain of which
        nothing was kept like the mean of the others.
        """
        mean = sum(bytes_a_token.values()) / len(bytes_a_token)
        rates = {domain: bytes_a_token.get(domain, mean) for domain in self.read}

        def told(counts: Mapping[str, Count], domain: str = "") -> Counts:
            return {
                name: replace(count, tokens=count.bytes / rates[domain or name])
                for name, count in counts.items()
            }

        def flowed(flow: Flow, domain: str) -> Flow:
            both = told({"read": flow.read, "kept": flow.kept}, domain)
            return Flow(both["read"], told(flow.dropped, domain), both["kept"], told(flow.cut, domain))

        return replace(
            self,
            read=told(self.read),
            dropped={domain: told(reasons, domain) for domain, reasons in self.dropped.items()},
            kept={split: told(domains) for split, domains in self.kept.items()},
            languages={
                domain: {language: flowed(flow, domain) for language, flow in flows.items()}
                for domain, flows in self.languages.items()
            },
        )

    def _in_order(self, counts: Counts) -> Counts:
        order = {step: place for place, step in enumerate(self.steps)}
        return dict(sorted(counts.items(), key=lambda item: (order[step_of(item[0])], item[0])))

    def to_json(self) -> dict[str, Any]:
        """Plain values for a JSON file; `from_json` is the way back."""
        return {
            "steps": list(self.steps),
            "read": plain_counts(self.read),
            "dropped": {domain: plain_counts(reasons) for domain, reasons in self.dropped.items()},
            "damaged": dict(self.damaged),
            "kept": {split: plain_counts(domains) for split, domains in self.kept.items()},
            "languages": {
                domain: {language: _plain_flow(flow) for language, flow in flows.items()}
                for domain, flows in self.languages.items()
            },
            "problem": self.problem,
        }


def step_of(reason: str) -> str:
    """The step in front of a reason: "length.too_short" -> "length"."""
    return reason.partition(".")[0]


def warnings(funnel: Funnel, share: float = WARN_DROP_SHARE) -> list[str]:
    """One sentence for each step that drops more than `share` of the documents that reach it."""
    return [
        f"{step} drops {dropped.documents / reached.documents:.0%} of the {reached.documents:,} documents that reach it"
        for step, (reached, dropped) in funnel.passed().items()
        if dropped.documents > share * reached.documents
    ]


def funnel_of(
    corpus: Path, domains: Sequence[str], steps: Sequence[str], damaged: Mapping[str, int]
) -> Funnel:
    """Counts the ledger of a corpus. Every domain is in `read` and `dropped`, also one of which nothing was read."""
    read: Counts = {domain: Count() for domain in domains}
    dropped: dict[str, Counts] = {domain: {} for domain in domains}
    kept: dict[str, Counts] = {}
    languages: dict[str, dict[str, Flow]] = {domain: {} for domain in domains}
    columns = _cut_columns(corpus, steps)
    for row in _groups(corpus, list(columns.values())):
        domain, number = row["domain"], row["bytes_count"]
        came, stays = Count(number, row["bytes_sum"]), Count(number, row["kept_bytes_sum"])
        if reason := row["reason"]:
            _count(dropped[domain], reason, came)
            flow = Flow(came, {reason: came})
        else:
            _count(kept.setdefault(row["split"], {}), domain, stays)
            cut = {
                step: Count(row[f"{name}_count"], int(row[f"{name}_sum"]))
                for step, name in columns.items()
                if row[f"{name}_count"]
            }
            flow = Flow(came, {}, stays, cut)
        _count(read, domain, came)
        languages[domain][row["language"]] = languages[domain].get(row["language"], Flow()) + flow
    return Funnel(tuple(steps), read, dropped, dict(damaged), kept, languages)


def _cut_columns(corpus: Path, steps: Sequence[str]) -> dict[str, str]:
    """The ledger's columns of what each step cuts, for those that may."""
    # Whoever only shows a funnel does not load the reader of the ledger.
    from danlu.account.ledger import CUT_BYTES, list_measures

    known = set(list_measures(corpus))
    columns = {step: f"{step}.{CUT_BYTES}" for step in steps}
    return {step: column for step, column in columns.items() if column in known}


def _groups(corpus: Path, cuts: Sequence[str]) -> list[dict[str, Any]]:
    """One row for all documents of a domain, language, split and reason, sorted by these."""
    import pyarrow as pa

    from danlu.account.ledger import read_ledger

    keys, sums = ["domain", "language", "split", "reason"], ["bytes", "kept_bytes", *cuts]
    total: pa.Table | None = None
    for batch in read_ledger(corpus, [*keys, *sums]):
        part = pa.Table.from_batches([batch]).group_by(keys)
        counted = ["bytes", *cuts]
        part = part.aggregate([(name, "count") for name in counted] + [(name, "sum") for name in sums])
        columns = [*(f"{name}_count" for name in counted), *(f"{name}_sum" for name in sums)]
        both = part if total is None else pa.concat_tables([total, part.select(total.column_names)])
        total = both.group_by(keys).aggregate([(name, "sum") for name in columns])
        total = total.rename_columns([*keys, *columns])
    return [] if total is None else total.sort_by([(key, "ascending") for key in keys]).to_pylist()


def from_json(value: Any) -> Funnel:
    """A funnel of `to_json`. Raises DamagedError where it is not one."""
    try:
        return Funnel(
            tuple(value["steps"]),
            _counts(value["read"]),
            {domain: _counts(reasons) for domain, reasons in value["dropped"].items()},
            {str(reason): int(number) for reason, number in value["damaged"].items()},
            {split: _counts(domains) for split, domains in value["kept"].items()},
            {
                domain: {language: _flow(flow) for language, flow in flows.items()}
                for domain, flows in value["languages"].items()
            },
            str(value["problem"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DamagedError(
            f"the funnel of the corpus is not readable ({error!r}); build the corpus again"
        ) from error


def _count(counts: Counts, name: str, count: Count) -> None:
    counts[name] = counts.get(name, Count()) + count


def _added(several: Iterable[Mapping[str, Count]]) -> Counts:
    total: Counts = {}
    for counts in several:
        for name, count in counts.items():
            _count(total, name, count)
    return dict(sorted(total.items()))


def _plain_flow(flow: Flow) -> dict[str, Any]:
    return {
        **plain_counts({"read": flow.read, "kept": flow.kept}),
        "dropped": plain_counts(flow.dropped),
        "cut": plain_counts(flow.cut),
    }


def _flow(value: Mapping[str, Any]) -> Flow:
    counts = _counts({"read": value["read"], "kept": value["kept"]})
    return Flow(counts["read"], _counts(value["dropped"]), counts["kept"], _counts(value["cut"]))


def plain_counts(counts: Mapping[str, Count]) -> dict[str, dict[str, int]]:
    """Documents and bytes by name, for a JSON file."""
    return {name: {"documents": count.documents, "bytes": count.bytes} for name, count in counts.items()}


def _counts(value: Mapping[str, Mapping[str, int]]) -> Counts:
    return {name: Count(int(count["documents"]), int(count["bytes"])) for name, count in value.items()}
