"""The recipes in examples/ build a corpus of small real text, and each of their steps drops what it is there for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest

import house
from chinese_texts import CHINESE
from danlu.account.ledger import Row, find_rows, read_ledger
from danlu.cli.main import execute
from danlu.corpus.settings import Step, name_of
from danlu.dedup.settings import SharedStep
from danlu.read.store import list_parts, read_part
from danlu.recipe import load
from example_texts import (
    CHINESE_REASONS,
    PAGE_REASONS,
    SITE,
    write_crawl,
    write_every_step,
    write_two_languages,
)

EXAMPLES = sorted((house.ROOT / "examples").glob("*.toml"))
HELD_OUT = "corpus.validation_share=0.25"
"""Of a few dozen documents; a crawl has enough with less."""


def build(name: str, write: Callable[[Path], None], place: Path) -> Path:
    """The corpus that the example makes of the texts."""
    recipe = place / f"{name}.toml"
    recipe.write_bytes((house.ROOT / "examples" / recipe.name).read_bytes())
    write(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert execute(["corpus", "build", recipe.name, "--set", HELD_OUT]) == 0
    return place / "runs" / name / "corpus"


def rows_of(corpus: Path) -> Iterator[dict[str, object]]:
    for batch in read_ledger(
        corpus, ["id", "number", "url", "domain", "language", "splitter", "reason", "match"]
    ):
        yield from batch.to_pylist()


def row(corpus: Path, key: str | int) -> Row:
    (found,) = find_rows(corpus, key)
    return found


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("english-web", write_crawl, tmp_path_factory.mktemp("web"))


@pytest.fixture(scope="module")
def two_languages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("chinese-and-english", write_two_languages, tmp_path_factory.mktemp("two"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_is_a_recipe_of_its_name(path: Path) -> None:
    assert load(path).name == path.stem


def test_every_example_is_built_here() -> None:
    assert [path.stem for path in EXAMPLES] == ["chinese-and-english", "english-web", "every-step"]


def test_each_step_of_the_web_recipe_drops_its_page(web: Path) -> None:
    reasons = {row["url"]: row["reason"] for row in rows_of(web)}
    assert {name: reasons[f"{SITE}{name}"] for name in PAGE_REASONS} == PAGE_REASONS
    steps = [step.use for step in load(house.ROOT / "examples" / "english-web.toml").corpus.step]
    shown = {reason.partition(".")[0] for reason in PAGE_REASONS.values() if reason}
    assert shown == set(steps) - {"normalize"}


def test_real_pages_are_kept_and_split_as_spacy_does(web: Path) -> None:
    kept = [row for row in rows_of(web) if not row["reason"]]
    assert len(kept) > 3 + 5
    assert {(row["language"], row["splitter"]) for row in kept} == {("en", "spacy")}


def test_a_copy_names_the_page_that_stays(web: Path) -> None:
    copies = {row["url"]: row["match"] for row in rows_of(web) if row["reason"] and row["match"] != -1}
    for copy, original in (("salt-mirror", "salt"), ("tides-edited", "tides")):
        assert row(web, copies[f"{SITE}{copy}"]).url == f"{SITE}{original}"


def test_chinese_goes_by_its_own_rules(two_languages: Path) -> None:
    chinese = {row["id"]: row for row in rows_of(two_languages) if row["domain"] == "chinese"}
    assert {name: chinese[name]["reason"] for name in CHINESE_REASONS} == CHINESE_REASONS
    pages = [chinese[f"page-{number}"] for number in range(len(CHINESE))]
    assert {(row["reason"], row["language"], row["splitter"]) for row in pages} == {("", "zh", "characters")}


def test_english_goes_by_gophers_rules(two_languages: Path) -> None:
    english = [row for row in rows_of(two_languages) if row["domain"] == "english"]
    assert {row["splitter"] for row in english if not row["reason"]} == {"plain"}
    assert sum(not row["reason"] for row in english) > 4 + 5
    assert not [row["reason"] for row in english if str(row["reason"]).startswith("cjk")]


def test_the_template_makes_the_text(two_languages: Path) -> None:
    parts = [
        part for split in ("train", "validation") for part in list_parts(two_languages, split, "chinese")
    ]
    texts = {document.id: document.text for part in parts for document in read_part(part)}
    assert texts["page-0"].startswith(f"{CHINESE[0]['title']}\n\n{CHINESE[0]['text'][:20]}")


def test_every_step_stands_in_one_recipe_and_sees_a_text(tmp_path: Path) -> None:
    steps = load(house.ROOT / "examples" / "every-step.toml").corpus.step
    assert {type(step) for step in steps} == set(get_args(get_args(Step)[0]))
    corpus = build("every-step", write_every_step, tmp_path)
    rows = [row for batch in read_ledger(corpus) for row in batch.to_pylist()]
    measured = {
        column.partition(".")[0] for row in rows for column, value in row.items() if value is not None
    }
    silent = {name_of(step) for step in steps if not isinstance(step, SharedStep)} - measured
    assert not silent
    assert {row["domain"] for row in rows if not row["reason"]} == {"english", "chinese", "code"}
    reasons = {row["reason"].partition(".")[0] for row in rows if row["reason"]}
    assert {"cjk", "code", "decontaminate", "exact", "minhash"} <= reasons
    texts = " ".join(
        document.text
        for split in ("train", "validation")
        for part in list_parts(corpus, split, "english")
        for document in read_part(part)
    )
    assert "mara@" not in texts
