"""The commands that ask about a corpus: other thresholds, one document, the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from danlu.cli.main import execute
from small_copies import EQUAL, write_run_with_copies
from small_curated import write_small_run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_small_run(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert execute(list(arguments)) == 0
    return capsys.readouterr().out


@pytest.mark.usefixtures("home")
def test_tune_says_then_and_now(capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(capsys, "corpus", "tune", "small", "--set", "length.min_characters=5")
    lines = text.splitlines()
    assert lines[0] == "length.min_characters: 12 -> 5"
    assert " ".join(lines[3].split()) == "length.too_short 2 1 -1 8 2 -6"
    assert " ".join(lines[5].split()) == "kept 1 2 +1 39 45 +6"
    assert "  length.too_short: 1 documents, 6 bytes" in lines
    assert "    short (a.txt): Words." in lines
    assert lines[-1].startswith("Bytes are those of the texts as read. Deduplication is not done again")


@pytest.mark.usefixtures("home")
def test_tune_says_what_would_go(capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(capsys, "corpus", "tune", "runs/small", "--set", "repetition.max_character_share=0.1")
    assert "newly dropped, by why:\n  repetition.one_character: 1 documents" in text
    assert "    long (a.txt): A line of words. Another line" in text


@pytest.mark.usefixtures("home")
def test_tune_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    value = json.loads(
        answer(capsys, "corpus", "tune", "small", "--set", "length.min_characters=5", "--json")
    )
    assert value["newly_kept"] == {"length.too_short": {"documents": 1, "bytes": 6}}


@pytest.mark.usefixtures("home")
def test_why_tells_a_story(capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(capsys, "corpus", "why", "small", "tiny")
    assert "length: dropped it: length.too_short" in text
    assert "at least 12 (min_characters)  <- too_short" in text
    (story,) = json.loads(answer(capsys, "corpus", "why", "small", "2", "--json"))
    assert story["row"]["id"] == "tiny"


@pytest.fixture(scope="module")
def with_copies(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_run_with_copies(tmp_path_factory.mktemp("home")).directory)


def test_clusters_are_shown(with_copies: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(capsys, "corpus", "clusters", with_copies, "--largest", "1", "--members", "2")
    heads = [line.split(" (")[0] for line in text.splitlines() if line[:1].isalpha()]
    assert heads == ["id: 1 copy", "exact: 4 copies", "minhash: 6 copies"]
    assert "    similarity 1.000 to the one that stays\n  and 2 more\n" in text


def test_clusters_of_a_step_as_json(with_copies: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(answer(capsys, "corpus", "clusters", with_copies, "--step", "exact", "--json"))
    assert [(one["copies"], one["survivor"]["id"]) for one in found] == [(4, "import"), (1, "strings-3")]
    said = answer(capsys, "corpus", "clusters", with_copies, "--step", "normalize")
    assert said == "No document was dropped as a copy of another by normalize.\n"


def test_why_lists_the_copies(with_copies: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(capsys, "corpus", "why", with_copies, "import")
    assert "copies  4 other documents were dropped because this one stays\n        import-1 (number" in text
    (story,) = json.loads(answer(capsys, "corpus", "why", with_copies, "import", "--json"))
    assert [copy["row"]["id"] for copy in story["first_copies"]] == EQUAL


def test_report_writes_the_page(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(answer(capsys, "corpus", "report", "small").strip())
    assert path == Path("runs/small/corpus.html")
    assert (home / path).is_file()


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("tune", "small"), 2, "nothing is different"),
        (("tune", "small", "--set", "lenght.min_characters=5"), 2, "did you mean 'length'"),
        (("tune", "small", "--set", "exact.ignore_white_space=false"), 2, "deduplication compares texts"),
        (("tune", "large"), 1, "there is no recipe or run 'large'"),
        (("clusters", "small", "--step", "lenght"), 2, "did you mean 'length'"),
        (("clusters", "small", "--largest", "0"), 2, "--largest"),
        (("why", "small", "nobody"), 1, "no document of"),
        (("report", "large"), 1, "there is no run 'large'"),
    ],
)
def test_what_cannot_be_answered(
    arguments: tuple[str, ...], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["corpus", *arguments]) == code
    assert said in capsys.readouterr().err
