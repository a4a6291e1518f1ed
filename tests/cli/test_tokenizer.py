"""`danlu tokenizer measure` on files, a run, and what it refuses."""

import json

import pytest

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
        *("tokenizer", "vocabulary", "bytes/token", "tokens/word", "unknown", "lossless", "MB/s")
    ]
    for part in ("mine/tokenizer.json", "characters (baseline)", "words (baseline)", "by domain", "100.0%"):
        assert part in out
    assert "page.html shows them" in out
    assert "<svg" in (place / "page.html").read_text()


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
        (["none", "--text", "web.txt"], 1, "no tokenizer or run"),
        (["web.txt", "--text", "web.txt"], 1, "not a readable tokenizer.json"),
        (["mine", "--text", "nothing*.txt"], 1, "nothing*.txt"),
    ],
)
def test_refusals(place, capsys, monkeypatch, arguments, code, said):
    monkeypatch.chdir(place)
    assert execute(["tokenizer", "measure", *arguments]) == code
    assert said in capsys.readouterr().err
