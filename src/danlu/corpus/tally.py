"""The counters of one build, and what makes a corpus unusable.

Decides: a domain of which nothing is left, or that has nothing to train or to validate on, stops the build with what
to change; the share to set is computed from the hashes that there are. Costs: a few additions a document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from danlu.corpus.funnel import Count, Counts, Funnel
from danlu.corpus.split import SPLITS, TRAIN, VALIDATION, share_above, split_point
from danlu.errors import InputError
from danlu.records import Document


class Tally:
    """Counts documents and bytes on their way; `funnel` is the result."""

    def __init__(self, domains: Sequence[str]) -> None:
        self._read: Counts = {domain: Count() for domain in domains}
        self._dropped: dict[str, Counts] = {domain: {} for domain in domains}
        self._damaged: Counter[str] = Counter()
        self._kept: dict[str, Counts] = {split: {} for split in SPLITS}
        self._points: dict[str, tuple[float, float]] = {}

    def count_read(self, domain: str, size: int) -> None:
        """One document of `size` bytes came in."""
        self._read[domain] += Count(1, size)

    def count_damage(self, reason: str) -> None:
        """One record could not be read as it should."""
        self._damaged[reason] += 1

    def count_dropped(self, domain: str, reason: str, size: int) -> None:
        """One document was dropped."""
        reasons = self._dropped[domain]
        reasons[reason] = reasons.get(reason, Count()) + Count(1, size)

    def count_kept(self, split: str, document: Document, size: int) -> None:
        """One document was kept, with `size` bytes after cleaning."""
        domain, point = document.domain, split_point(document.group)
        self._kept[split][domain] = self._kept[split].get(domain, Count()) + Count(1, size)
        low, high = self._points.get(domain, (point, point))
        self._points[domain] = min(low, point), max(high, point)

    def count_superseded(self, document: Document, reason: str) -> None:
        """One document that was counted as kept for training was dropped after all."""
        domain, size = document.domain, len(document.text.encode())
        kept = self._kept[TRAIN]
        kept[domain] += Count(-1, -size)
        if not kept[domain].documents:
            del kept[domain]
        self.count_dropped(domain, reason, size)

    def funnel(self, steps: tuple[str, ...]) -> Funnel:
        """The counts so far."""
        damaged = dict(sorted(self._damaged.items()))
        return Funnel(steps, self._read, self._dropped, damaged, self._kept)

    def check(self, validation_share: float) -> None:
        """Raises InputError where the corpus cannot be trained on or validated."""
        empty = [domain for domain in self._read if not any(domain in kept for kept in self._kept.values())]
        if empty:
            what = "the corpus is empty" if not self._points else f"nothing of domain {empty[0]!r} is left"
            raise InputError(f"{what}: {self._account(empty)}")
        if validation_share == 0.0:
            return
        for split in SPLITS:
            missing = [domain for domain in self._points if domain not in self._kept[split]]
            if missing:
                raise InputError(self._split_message(split, missing, validation_share))

    def _account(self, domains: Sequence[str]) -> str:
        read = sum((self._read[domain] for domain in domains), Count())
        reasons: Counter[str] = Counter()
        for domain in domains:
            reasons.update({reason: count.documents for reason, count in self._dropped[domain].items()})
        lost = [f"{number} by {reason}" for reason, number in reasons.most_common()]
        damaged = [f"{number} {reason}" for reason, number in self._damaged.most_common()]
        parts = [f"{read.documents} documents read"]
        parts += [f"dropped {', '.join(lost)}"] if lost else []
        parts += [f"damaged in all sources: {', '.join(damaged)}"] if damaged else []
        advice = "change or leave out that step in [[corpus.step]]" if lost else "check paths and text_field"
        return f"{'; '.join(parts)}; {advice}"

    def _split_message(self, split: str, missing: Sequence[str], share: float) -> str:
        single = [domain for domain in missing if len(set(self._points[domain])) == 1]
        names = ", ".join(map(repr, missing))
        if single:
            return (
                f"of domain {single[0]!r} one document is left (or parts of one file), which cannot be on both "
                f"sides of the split: add text, set document = to what separates its documents, or "
                f"corpus.validation_share = 0"
            )
        if split == VALIDATION:
            least = max(share_above(self._points[domain][0]) for domain in missing)
            return (
                f"the validation split of {names} is empty at corpus.validation_share = {share}; set it to at "
                f"least {least}, or add text"
            )
        most = min(self._points[domain][1] for domain in missing)
        return f"the {TRAIN} split of {names} is empty at corpus.validation_share = {share}; set it below {most:.2g}"
