"""`danlu tokenizer measure` on files, a run, and what it refuses."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

import house
from danlu.cli.main import execute
from small_tokenizers import TEXT, train


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A tokenizer, and texts of two domains."""
    place = tmp_path_factory.mktemp("cli")
    train(place / "mine", [TEXT], vocab_size=500)
    (place / "web.txt").write_text("The furnace is lit, and it burns slowly through the whole night.\n" * 9)
    rows = [{"text": TEXT[:2000], "domain": "code", "lang": "py-3"}, {"text": "丹炉炼字，一字千金。" * 20}]
    (place / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return place


def test_table_and_page(place, capsys, monkeypatch):
    monkeypatch.chdir(place)
    command = ["tokenizer", "measure", "mine", "mine/tokenizer.json", "--text", "web=web.txt"]
    assert execute([*command, "--text", "rows.jsonl", "--page", "page.html"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split() == [
        *("tokenizer", "vocabulary", "bytes/token", "tokens/word", "unknown", "lossless", "MB/s"),
        *("encoded", "by"),
    ]
    for part in ("mine/tokenizer.json", "characters (baseline)", "words (baseline)", "by domain", "100.0%"):
        assert part in out
    assert "page.html shows them" in out
    page = (place / "page.html").read_text()
    # In all, and by domain and language: as bars and in the tables.
    for baseline in ("characters (baseline)", "words (baseline)"):
        assert page.count(baseline) >= 2 * 3
        assert f"{baseline}, " in page


def test_json_has_domains_and_languages(place, capsys, monkeypatch):
    monkeypatch.chdir(place)
    assert (
        execute(["tokenizer", "measure", "mine", "--json", "--text", "rows.jsonl", "--text", "w=web.txt"])
        == 0
    )
    mine, *baselines = json.loads(capsys.readouterr().out)
    assert set(mine["domains"]) == {"code", "rows.jsonl", "w"}
    assert "py" in mine["languages"]
    assert mine["total"]["lossless_share"] == 1.0
    assert [one["total"]["encode_mb_per_second"] for one in baselines] == [None, None]
    assert mine["encoder"] in ("fastokens", "tokenizers")
    assert [one["encoder"] for one in baselines] == [None, None]


RECIPE = """
name = "brief"
[corpus]
validation_share = 0.5
[[corpus.source]]
domain = "prose"
paths = ["lines.txt"]
document = "line"
[tokenizer]
vocab_size = 270
[train]
steps = 1
"""


LINES = "".join(
    f"Line {i} of the furnace, which burns through the whole of night {i}.\n" * 2 for i in range(300)
)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A run that has a corpus and a tokenizer, by a recipe; in the current directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lines.txt").write_text(LINES)
    (tmp_path / "r.toml").write_text(RECIPE)
    assert execute(["tokenizer", "train", "r.toml"]) == 0
    capsys.readouterr()
    return tmp_path / "runs" / "brief"


def test_a_run_that_has_only_a_tokenizer(run, capsys):
    """Measured by its recipe or its name, on what it holds out, of which no more is read than asked."""
    for most, texts in (("10M", range(100, 500)), ("200", range(3, 5))):
        found = []
        for name in ("r.toml", "brief", "runs/brief"):
            assert execute(["tokenizer", "measure", name, "--json", "--bytes", most]) == 0
            found.append(json.loads(capsys.readouterr().out)[0]["total"]["texts"])
        assert len(set(found)) == 1
        assert found[0] in texts
    shutil.rmtree(run / "tokenizer")
    assert execute(["tokenizer", "measure", "r.toml"]) == 1
    assert "`danlu tokenizer train r.toml`" in capsys.readouterr().err


def test_a_run_without_a_corpus_needs_texts(run, capsys):
    shutil.rmtree(run / "corpus")
    assert execute(["tokenizer", "measure", "r.toml"]) == 2
    assert "--text" in capsys.readouterr().err
    assert execute(["tokenizer", "measure", "r.toml", "--text", "lines.txt"]) == 0


def test_every_example_works(run, capsys):
    """Those of the guide and of the help; what a shell would expand in them is quoted."""
    assert execute(["tokenizer", "measure", "--help"]) == 0
    helped = " ".join(capsys.readouterr().out.split())
    guide = (house.ROOT / "docs" / "tokenizers.md").read_text(encoding="utf-8")
    examples = [helped.partition("Example: ")[2], *re.findall("^danlu tokenizer measure .*", guide, re.M)]
    assert len(examples) > 2
    assert "*" not in re.sub("'[^']*'", "", " ".join(examples))
    made = train(run.parent / "made", [TEXT], vocab_size=600, kind="sentencepiece_bpe").path
    for example in examples:
        words = shlex.split(example)[1:]
        for word in words:
            file = Path(word.partition("=")[2].replace("*", "one") or word)
            file.parent.mkdir(parents=True, exist_ok=True)
            if "*" in word:
                file.write_text(TEXT[:500])
            elif file.suffix in (".json", ".model"):
                shutil.copy(made.with_suffix(file.suffix), file)
            elif word in ("my-run", "bilingual") and not Path("runs", word).exists():
                shutil.copytree(run, run.with_name(word))
        assert execute(words) == 0, example


def test_no_more_than_asked_is_read(place, capsys, monkeypatch):
    monkeypatch.chdir(place)
    command = ["tokenizer", "measure", "mine", "--json", "--text", "web.txt", "--document", "line"]
    assert execute([*command, "--bytes", "100"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["total"]["texts"] == 2


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["mine"], 2, "--text"),
        (["none.json", "--text", "web.txt"], 1, "no tokenizer none.json"),
        (["none", "--text", "web.txt"], 1, "no tokenizer, recipe or run"),
        (["web.txt", "--text", "web.txt"], 1, "not a readable tokenizer.json"),
        (["mine", "--text", "nothing*.txt"], 1, "--text nothing*.txt: no file matches"),
        (["mine", "web.txt", "--text", "web.txt"], 1, "quote the glob: --text '*.txt'"),
        (["mine", "--text", "rows.jsonl", "--document", "line"], 2, "--document line has no effect"),
        (["mine", "--document", "line"], 2, "without --text"),
        (["mine", "--bytes", "0", "--text", "web.txt"], 2, "--bytes 0"),
        (["mine", "--page", ".", "--text", "web.txt"], 2, "ends in .html"),
        (["mine", "--page", "page.txt", "--text", "web.txt"], 2, "ends in .html"),
        (["mine", "--page", "web.txt/page.html", "--text", "web.txt"], 2, "folder is a file"),
    ],
)
def test_refusals(place, capsys, monkeypatch, arguments, code, said):
    monkeypatch.chdir(place)
    assert execute(["tokenizer", "measure", *arguments]) == code
    out, err = capsys.readouterr()
    assert said in err
    assert "corpus.source" not in err
    # Nothing was measured, or written.
    assert not out
    assert not (place / "page.txt").exists()
