"""The recipe's `[corpus]`: sources, the list of steps, the split, limits, and where the work runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from danlu.config import Section, Size, nearest
from danlu.dedup.settings import Boilerplate, Decontaminate, Exact, MinHash, Substrings
from danlu.jobs.settings import Slurm
from danlu.lm.settings import Perplexity
from danlu.pii.settings import Pii
from danlu.quality.settings import Expression, Language, Length, Normalize, Repetition, Signals
from danlu.read.settings import Source
from danlu.rules.settings import (
    C4,
    Cjk,
    Code,
    FineWeb,
    GopherQuality,
    GopherRepetition,
    RefinedWeb,
    Rule,
    Science,
    Url,
)
from danlu.scorers.settings import Classifier, Keywords, Transformer

Step = Annotated[
    Normalize | Length | Repetition | Language | Signals | Expression
    | Url | GopherQuality | GopherRepetition | C4 | FineWeb | RefinedWeb | Code | Cjk | Science
    | Perplexity | Classifier | Keywords | Transformer | Pii
    | Exact | MinHash | Substrings | Boilerplate | Decontaminate,
    Field(discriminator="use"),
]  # fmt: skip
DEFAULT_STEPS: tuple[Step, ...] = (Normalize(), Length(), Repetition(), Exact())


class CorpusSettings(Section):
    """What becomes the corpus, in the order of `step`."""

    engine: Literal["pool", "ray", "slurm"] = "pool"
    """Who runs the tasks: processes on this machine, a Ray cluster, a Slurm array. The corpus is the same."""
    workers: Annotated[int, Field(ge=1)] | Literal["auto"] = "auto"
    """How many tasks at a time; "auto": one a core that this process may use (Ray, Slurm: all that there are)."""
    slurm: Slurm = Slurm()
    words: Literal["auto", "plain", "spacy"] = "auto"
    """The word splitter of every step: by white space ("plain"), as spaCy's English ("spacy"), or by language."""
    measure_dropped: bool = True
    """Whether later rules measure a document that a rule has dropped, so that all thresholds can be tuned together.

    It takes up to a third of the time of a build.
    """
    shard_bytes: Annotated[Size, Field(gt=0)] | Literal["auto"] = "auto"
    """How much input is one task; "auto": 16 MB to 256 MB by the size of all sources."""
    validation_share: float = Field(default=0.005, ge=0.0, lt=1.0)
    """By hash of the document (of its source file where it came from one), never by position."""
    max_document_bytes: Size = Field(default=20_000_000, gt=0)
    """Longer ones are dropped and counted."""
    warn_drop_share: float = Field(default=0.5, ge=0.0, le=1.0)
    """A step that drops more than this share of the documents that reach it is warned of."""
    source: list[Source] = Field(min_length=1)
    step: list[Step] = Field(default_factory=lambda: list(DEFAULT_STEPS))

    @model_validator(mode="after")
    def _steps_once(self) -> CorpusSettings:
        names = [name_of(step) for step in self.step]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"step {sorted(twice)[0]!r} is listed twice")
        return self

    @model_validator(mode="after")
    def _keys_have_effect(self) -> CorpusSettings:
        if self.engine != "slurm" and self.is_changed("slurm"):
            raise ValueError(f'slurm has no effect with engine = "{self.engine}"; remove it')
        return self

    @model_validator(mode="after")
    def _domains_are_known(self) -> CorpusSettings:
        known = sorted({source.domain for source in self.source})
        for step in self.step:
            for domain in step.domains if isinstance(step, Rule) else ():
                if domain not in known:
                    raise ValueError(
                        f"step {name_of(step)!r}: no source is of domain {domain!r}; {nearest(domain, known)}"
                    )
        return self

    @model_validator(mode="after")
    def _languages_are_known(self) -> CorpusSettings:
        named = any(source.language != "auto" for source in self.source)
        for step in self.step:
            named |= isinstance(step, Language)
            if isinstance(step, Rule) and step.languages and not named:
                raise ValueError(
                    f"step {name_of(step)!r}: no language is known there, so that languages would pass every document "
                    f'by; put a step use = "language" before it, or say the language of a source'
                )
        return self


def name_of(step: Step) -> str:
    """What a step is called in reasons, columns and directories: what is used, and what tells several uses apart."""
    if isinstance(step, Exact) and step.unit != "document":
        return f"{step.use}_{step.unit}"
    if isinstance(step, Expression) and step.is_changed("reason"):
        return f"{step.use}_{step.reason}"
    if isinstance(step, (Classifier, Keywords, Transformer)):
        return f"{step.use}_{step.name}"
    return step.use


def decisive(settings: CorpusSettings) -> dict[str, Any]:
    """What decides the corpus, as plain values: everything but where it is built and what is warned of."""
    elsewhere = {"engine", "workers", "slurm", "warn_drop_share"}
    return settings.model_dump(mode="json", exclude_none=True, exclude=elsewhere)
