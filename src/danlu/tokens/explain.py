"""What the mixture gives: tokens, samples and epochs of each domain in each stage, before the training begins.

Guarantees: counted over the order that the training reads, to the token: it is what the model sees (tokens of blocked
documents included, which it sees as padding). Costs: a pass over a period of each mixture and over the samples of the
epochs that a stage begins and ends in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from danlu.mixture.repeats import effective_tokens
from danlu.tokens.batches import Batches


@dataclass(frozen=True, slots=True)
class MixtureRow:
    """What one stage, from 1, takes from one domain. Padding is left out, but from `first_token` and `until_token`.

    `epochs` are those of the stage and `total_epochs` those of the run up to its end. `repeat_value`: what the tokens
    up to its end are worth, in fresh tokens for each token that there is (the data-constrained law). `filled`: the
    share of positions of an epoch's samples that hold a token; `documents_cut`: how many of the documents packing cuts.
    """

    stage: int
    first_token: int
    until_token: int
    sequence_length: int
    domain: str
    share: float
    tokens: int
    samples: int
    epochs: float
    total_epochs: float
    unique_tokens: int
    documents: int
    repeat_value: float
    filled: float
    documents_cut: int


def explain_mixture(batches: Batches, batch_tokens: int) -> list[MixtureRow]:
    """A row a stage and domain; shares are of the stage's tokens."""
    rows: list[MixtureRow] = []
    total_epochs: dict[str, float] = {}
    for number, stage in enumerate(batches.stages, 1):
        samples = stage.end - stage.first_sample
        shown = stage.shown(samples)
        tokens = {
            name: leg.tokens(shown[name]) - leg.tokens(stage.before[name]) for name, leg in stage.legs.items()
        }
        all_tokens = sum(tokens.values()) or 1
        first = stage.first_step * batch_tokens
        for name, leg in stage.legs.items():
            documents = batches.documents[name]
            after = leg.epochs(shown[name])
            epochs = after - total_epochs.get(name, 0.0)
            total_epochs[name] = after
            rows.append(
                MixtureRow(
                    stage=number,
                    first_token=first,
                    until_token=first + stage.planned.steps * batch_tokens,
                    sequence_length=stage.planned.sequence_length,
                    domain=name,
                    share=tokens[name] / all_tokens,
                    tokens=tokens[name],
                    samples=shown[name] - stage.before[name],
                    epochs=epochs,
                    total_epochs=after,
                    unique_tokens=documents.tokens,
                    documents=len(documents),
                    repeat_value=effective_tokens(documents.tokens, after) / documents.tokens,
                    filled=leg.index.stats.efficiency,
                    documents_cut=leg.index.stats.documents_cut,
                )
            )
    return rows


def describe_packing(batches: Batches) -> list[tuple[str, str]]:
    """(packing, a sentence) for each cutting of a domain: how its text fills the samples of the stages that read it."""
    legs = {(name, leg.cutting): leg for stage in batches.stages for name, leg in stage.legs.items()}
    said = []
    for (name, cutting), leg in legs.items():
        stats = leg.index.stats
        sentence = (
            f"{name}: {stats.samples:,} samples of {cutting.sequence_length:,} tokens, {stats.efficiency:.2%} filled "
            f"({stats.padding:,} tokens of padding; {stats.lower_bound:,} samples at least), "
            f"{stats.documents_cut:,} of {stats.documents:,} documents cut, {stats.dropped:,} tokens dropped"
        )
        said.append((cutting.packing, sentence))
    return said


def warn_orders(batches: Batches) -> list[str]:
    """A sentence for each ordered domain whose order a stage does not show: in mid-epoch, or of one group."""
    warnings = []
    for number, stage in enumerate(batches.stages, 1):
        shown: Mapping[str, int] = stage.shown(stage.end - stage.first_sample)
        for name, attribute in stage.planned.order_by.items():
            leg = stage.legs[name]
            what = f"stage {number} reads {name!r} in the order of {attribute}"
            if len(leg.index.group_offsets) < 3:
                warnings.append(
                    f"{what}, but has too little text for it: all samples are one group, which is shuffled"
                )
            elif (epochs := leg.epochs(shown[name])) % 1.0:
                which = "smallest" if attribute.startswith("-") else "largest"
                warnings.append(
                    f"{what} and ends in mid-epoch, after {epochs:.3f} epochs: the last pass leaves out the "
                    f"{1 - epochs % 1.0:.1%} of its tokens with the {which} {attribute.removeprefix('-')}"
                )
    return warnings
