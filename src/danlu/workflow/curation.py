"""Questions about a corpus that is built: its page, other thresholds, one document's story, its copies.

Decides: the settings that a corpus was built with are those in its manifest, whatever the recipe says by now.
Costs: those of account/; no text is read but of the documents that are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from danlu.config import nearest
from danlu.corpus.settings import CorpusSettings, name_of
from danlu.corpus.settings import Step as RecipeStep
from danlu.errors import MissingError, UsageError
from danlu.toml import write_toml
from danlu.workflow.run import Run
from danlu.workflow.stage import Stage, read_manifest

if TYPE_CHECKING:
    from danlu.account.clusters import Cluster
    from danlu.account.step import Step
    from danlu.account.tune import Tuned
    from danlu.account.why import Story


def built_settings(run: Run) -> CorpusSettings:
    """What the corpus of a run was built with. Raises MissingError where there is none."""
    corpus = run.directory / "corpus"
    manifest = read_manifest(Stage("corpus", corpus, {}, {}))
    if manifest is None:
        raise MissingError(f"there is no corpus in {corpus}; `danlu corpus build` makes it")
    return CorpusSettings.model_validate(manifest["settings"])


def account_steps(steps: Sequence[RecipeStep]) -> list[Step]:
    """The steps of a recipe as the ledger knows them."""
    from danlu.account.step import Step
    from danlu.corpus.rounds import module_of
    from danlu.dedup.settings import SharedStep

    modules = (None if isinstance(step, SharedStep) else module_of(step) for step in steps)
    return [Step(name_of(step), step, module) for step, module in zip(steps, modules, strict=True)]


def write_page(run: Run) -> Path:
    """Writes corpus.html of a run whose corpus is built, and returns its path."""
    from danlu.report.corpus_page import write_corpus_page

    settings = built_settings(run)
    text = write_toml({"corpus": settings.model_dump(mode="json", exclude_none=True)})
    steps, share = account_steps(settings.step), run.recipe.corpus.warn_drop_share
    return write_corpus_page(run.directory, steps, text, share)


def tune(run: Run, changes: Sequence[str]) -> Tuned:
    """What the recipe's thresholds, with `STEP.KEY=VALUE` changes over them, would keep of the corpus of the run."""
    from danlu.account.tune import change_steps, try_again

    settings = built_settings(run)
    if run.recipe.corpus.words != settings.words:
        raise UsageError(
            f"corpus.words is {run.recipe.corpus.words!r} now and was {settings.words!r}, which changes every measure; "
            f"`danlu corpus build` measures again"
        )
    wanted = change_steps(account_steps(run.recipe.corpus.step), changes)
    tuned = try_again(run.directory / "corpus", account_steps(settings.step), wanted)
    if not tuned.changes:
        raise UsageError(
            "nothing is different from what the corpus was built with; say what to try, e.g. "
            "--set length.min_characters=50"
        )
    return tuned


def stories(run: Run, key: str) -> list[Story]:
    """The stories of the documents of an id or a number."""
    from danlu.account.why import tell

    return tell(run.directory / "corpus", account_steps(built_settings(run).step), key)


def clusters(run: Run, step: str | None, largest: int, members: int) -> list[Cluster]:
    """The largest clusters of copies that each step found, or one step. Raises UsageError where there is no such."""
    from danlu.account.clusters import largest_clusters
    from danlu.corpus.job import IDS

    names = [IDS, *map(name_of, built_settings(run).step)]
    if step is not None and step not in names:
        raise UsageError(f"--step {step}: the corpus was built without it; {nearest(step, names)}")
    return largest_clusters(run.directory / "corpus", names if step is None else [step], largest, members)
