"""Questions about a built corpus are answered with the settings that it was built with."""

from dataclasses import replace
from pathlib import Path

import pytest

from danlu.account.funnel import Count
from danlu.errors import MissingError, UsageError
from danlu.recipe import parse
from danlu.workflow.curation import account_steps, built_settings, clusters, stories, tune, write_page
from danlu.workflow.run import Run
from small_copies import CHAIN, write_run_with_copies
from small_curated import TEXTS, recipe, write_small_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return write_small_run(tmp_path)


def test_the_steps_are_those_of_the_ledger(run: Run) -> None:
    length, repetition, exact = account_steps(built_settings(run).step)
    assert length.columns == ["length.characters"]
    assert repetition.measures
    assert (exact.name, exact.columns) == ("exact", [])


def test_a_threshold_is_tried(run: Run) -> None:
    tuned = tune(run, ["length.min_characters=5"])
    assert tuned.changes == ("length.min_characters: 12 -> 5",)
    assert tuned.newly_kept == {"length.too_short": Count(1, len(TEXTS["short"]))}


def test_the_recipe_as_it_is_by_now_is_tried(run: Run) -> None:
    changed = replace(run, recipe=parse(recipe(min_characters=2)))
    assert tune(changed, ()).changes == ("length.min_characters: 12 -> 2",)
    # The corpus is still the one that was built, and so is its page.
    assert built_settings(changed).step[0] == run.recipe.corpus.step[0]
    with pytest.raises(UsageError, match="nothing is different"):
        tune(run, ())


def test_another_splitter_is_refused(run: Run) -> None:
    tables = recipe()
    tables["corpus"]["words"] = "plain"
    with pytest.raises(UsageError, match=r"corpus\.words is 'plain' now and was 'auto'"):
        tune(replace(run, recipe=parse(tables)), ["length.min_characters=5"])


def test_a_story(run: Run) -> None:
    (story,) = stories(run, "one")
    assert story.row.reason == "repetition.one_character"
    assert story.findings[0].said == "kept it"
    assert stories(run, "long")[0].excerpt == TEXTS["long"]


def test_clusters_of_every_step_or_of_one(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = write_run_with_copies(tmp_path_factory.mktemp("home"))
    assert list(dict.fromkeys(one.step for one in clusters(run, None, 10, 5))) == ["id", "exact", "minhash"]
    (found,) = clusters(run, "minhash", 1, 2)
    assert (found.step, found.copies, len(found.members)) == ("minhash", len(CHAIN), 2)
    with pytest.raises(UsageError, match="did you mean 'minhash'"):
        clusters(run, "minhashes", 1, 2)


def test_the_page(run: Run) -> None:
    text = write_page(run).read_text(encoding="utf-8")
    assert "1 of 4 documents kept" in text
    assert "min_characters = 12" in text


def test_without_a_corpus(run: Run) -> None:
    (run.directory / "corpus" / "manifest.json").unlink()
    with pytest.raises(MissingError, match="danlu corpus build"):
        write_page(run)
