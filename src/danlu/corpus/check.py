"""What makes a corpus unusable: nothing left of a domain, or nothing to train or to validate on.

Decides: the error says what took the documents away and what to change; the share to set is computed from the hashes
that there are. Costs: nothing measurable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from danlu.account.funnel import Count, Funnel
from danlu.corpus.split import SPLITS, TRAIN, VALIDATION, share_above

Points = Mapping[str, tuple[float, float]]
"""By domain, the lowest and the highest place of its kept documents on the line that the split cuts."""


def find_problem(
    funnel: Funnel, points: Points, validation_share: float, first_damage: Mapping[str, str]
) -> str:
    """Why the corpus cannot be trained on or validated, and what to do; "" where it can.

    `first_damage` holds one place and detail a reason of damage.
    """
    empty = [domain for domain in funnel.read if not any(domain in kept for kept in funnel.kept.values())]
    if empty:
        what = "the corpus is empty" if not points else f"nothing of domain {empty[0]!r} is left"
        return f"{what}: {_account(funnel, empty, first_damage)}"
    for split in SPLITS if validation_share else ():
        missing = [domain for domain in points if domain not in funnel.kept.get(split, {})]
        if missing:
            return _split_message(split, missing, points, validation_share)
    return ""


def _account(funnel: Funnel, domains: Sequence[str], first_damage: Mapping[str, str]) -> str:
    read = sum((funnel.read[domain] for domain in domains), Count())
    reasons: Counter[str] = Counter()
    for domain in domains:
        reasons.update({reason: count.documents for reason, count in funnel.dropped[domain].items()})
    lost = [f"{number} by {reason}" for reason, number in reasons.most_common()]
    damaged = [f"{number} {reason}" for reason, number in Counter(funnel.damaged).most_common()]
    parts = [f"{read.documents} documents read"]
    parts += [f"dropped {', '.join(lost)}"] if lost else []
    parts += [f"damaged in all sources: {', '.join(damaged)}"] if damaged else []
    if lost:
        parts.append("change or leave out that step in [[corpus.step]]")
    elif damaged:
        reason = max(funnel.damaged, key=lambda name: funnel.damaged[name])
        parts.append(f"the first {reason} is {first_damage[reason]}")
    else:
        parts.append("check paths and document")
    return "; ".join(parts)


def _split_message(split: str, missing: Sequence[str], points: Points, share: float) -> str:
    single = [domain for domain in missing if points[domain][0] == points[domain][1]]
    names = ", ".join(map(repr, missing))
    if single:
        return (
            f"of domain {single[0]!r} one document is left (or parts of one file), which cannot be on both "
            f"sides of the split: add text, set document = to what separates its documents, or "
            f"corpus.validation_share = 0"
        )
    if split == VALIDATION:
        least = max(share_above(points[domain][0]) for domain in missing)
        return (
            f"the validation split of {names} is empty at corpus.validation_share = {share}; set it to at "
            f"least {least}, to 0 for none, or add text"
        )
    most = min(points[domain][1] for domain in missing)
    return (
        f"the {TRAIN} split of {names} is empty at corpus.validation_share = {share}; set it below {most:.2g}"
    )
