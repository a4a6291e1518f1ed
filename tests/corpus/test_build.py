"""The whole way: sources to parts, funnel and account; invariants of the split; bad input; full disk."""

import errno
import io
import json
import os
from pathlib import Path

import pytest
import zstandard

from danlu.corpus.build import build_corpus
from danlu.corpus.funnel import Count, from_json
from danlu.corpus.settings import CorpusSettings
from danlu.corpus.split import TRAIN, split_of
from danlu.errors import DanluError, InputError
from danlu.read.store import list_domains, list_parts, read_part

SHARE = 0.2


def sentence(number):
    return f"Text number {number} says that {number * 7919} is not {number * 104729}, which is true enough.\n"


@pytest.fixture
def base(tmp_path):
    folder = tmp_path / "text"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:03d}.txt").write_text(sentence(number))
    (folder / "short.txt").write_text("too short")
    (folder / "zz-copy.txt").write_text(sentence(5).replace(" ", "\n"))
    lines = [json.dumps({"text": sentence(1000 + n), "id": f"j{n}"}) for n in range(40)]
    (folder / "a.jsonl").write_text("\n".join([*lines, "{broken", lines[0]]))
    return folder


def settings(**change):
    sources = [{"domain": "prose", "paths": ["*.txt"]}, {"domain": "json", "paths": ["*.jsonl"]}]
    return CorpusSettings(**{"validation_share": SHARE, "source": sources, **change})


def documents(corpus, split, domain=None):
    return [
        document
        for name in ([domain] if domain else list_domains(corpus, split))
        for part in list_parts(corpus, split, name)
        for document in read_part(part)
    ]


def lines_of(path):
    text = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(path.read_bytes())).read().decode()
    return [json.loads(line) for line in text.splitlines()]


def test_every_document_is_kept_or_accounted_for(base, tmp_path):
    corpus = tmp_path / "run" / "corpus"
    funnel = build_corpus(settings(), base, corpus)
    kept = documents(corpus, "train") + documents(corpus, "validation")
    assert funnel.total_read().documents == 83
    assert funnel.total_kept().documents == len(kept) == 80
    assert {reason: count.documents for reason, count in funnel.total_dropped().items()} == {
        "id.repeated": 1,
        "length.too_short": 1,
        "exact.duplicate": 1,
    }
    assert funnel.damaged == {"malformed_json": 1}
    assert from_json(json.loads((corpus / "funnel.json").read_text())) == funnel
    dropped = lines_of(corpus / "dropped.jsonl.zst")
    assert {(row["source"], row["step"], row["reason"]) for row in dropped} == {
        ("a.jsonl", "id", "id.repeated"),
        ("short.txt", "length", "length.too_short"),
        ("005.txt", "exact", "exact.duplicate"),  # zz-copy.txt is held out
    }
    damaged = lines_of(corpus / "damaged.jsonl.zst")
    assert [(row["reason"], row["line"]) for row in damaged] == [("malformed_json", 41)]
    assert [path.name for path in corpus.parent.iterdir()] == ["corpus"]


def test_the_same_input_gives_the_same_bytes(base, tmp_path):
    for name in ("one", "two"):
        build_corpus(settings(), base, tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*"))
    assert len(files) == 7
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_the_validation_set_does_not_change_when_a_later_file_is_added(base, tmp_path):
    build_corpus(settings(), base, tmp_path / "before")
    before = documents(tmp_path / "before", "validation")
    (base / "zzz-later.txt").write_text("A later file, which is long enough to be kept by every step.")
    with (base / "a.jsonl").open("a") as file:
        file.writelines("\n" + json.dumps({"text": sentence(9000 + n), "id": f"later{n}"}) for n in range(30))
    build_corpus(settings(), base, tmp_path / "after")
    after = documents(tmp_path / "after", "validation")
    assert len(after) > len(before) > 5
    assert [document for document in after if not document.id.startswith("later")] == before


@pytest.mark.parametrize("domain", ["prose", "json"])
def test_a_copy_that_comes_first_takes_nothing_out_of_validation(base, tmp_path, domain):
    build_corpus(settings(), base, tmp_path / "before")
    before = documents(tmp_path / "before", "validation")
    held_out = [row for row in before if row.domain == domain][-1]
    names = (f"!{number}.txt" for number in range(99))
    name = next(name for name in names if split_of(name, SHARE) == TRAIN)
    (base / name).write_text(held_out.text + " ")
    funnel = build_corpus(settings(), base, tmp_path / "after")
    assert documents(tmp_path / "after", "validation") == before
    assert name not in {row.source for row in documents(tmp_path / "after", "train")}
    dropped = lines_of(tmp_path / "after" / "dropped.jsonl.zst")
    assert [row["reason"] for row in dropped if row["source"] == name] == ["exact.duplicate"]
    assert funnel.total_read() == funnel.total_kept() + sum(funnel.total_dropped().values(), Count())


def test_an_id_is_repeated_in_any_source_of_its_domain_but_not_of_another(base, tmp_path):
    (base / "b.jsonl").write_text(json.dumps({"text": sentence(2000), "id": "j0"}))
    one = [{"domain": "json", "paths": [name]} for name in ("a.jsonl", "b.jsonl")]
    funnel = build_corpus(settings(source=one), base, tmp_path / "one")
    assert funnel.total_dropped()["id.repeated"].documents == 2
    two = [{**one[0]}, {**one[1], "domain": "other"}]
    funnel = build_corpus(settings(source=two, validation_share=0), base, tmp_path / "two")
    assert funnel.total_dropped()["id.repeated"].documents == 1


def test_no_group_is_on_both_sides(base, tmp_path):
    build_corpus(settings(), base, tmp_path / "corpus")
    sides = [
        {row.group for row in documents(tmp_path / "corpus", split)} for split in ("train", "validation")
    ]
    assert sides[0]
    assert sides[1]
    assert not sides[0] & sides[1]


def test_nul_and_control_characters_do_not_reach_the_corpus(base, tmp_path):
    (base / "000.txt").write_bytes(b"NUL\0 and bell\a in a text that is long enough to stay.\r\nEnd.")
    build_corpus(settings(validation_share=0), base, tmp_path / "corpus")
    (document,) = [row for row in documents(tmp_path / "corpus", "train") if row.source == "000.txt"]
    assert document.text == "NUL and bell in a text that is long enough to stay.\nEnd."


def failing_build(base, directory, message, **change):
    """Builds over an older corpus, which must survive."""
    directory.mkdir()
    (directory / "old").write_text("old")
    with pytest.raises(DanluError, match=message) as caught:
        build_corpus(settings(**change), base, directory)
    assert [path.name for path in directory.iterdir()] == ["old"]
    assert not list(directory.parent.glob(".tmp-*"))
    return caught.value


def test_an_empty_corpus_says_what_dropped_it(base, tmp_path):
    steps = [{"use": "length", "min_characters": 1000}]
    message = (
        r"the corpus is empty: 83 documents read; dropped 82 by length.too_short, 1 by .*1 malformed_json"
    )
    assert isinstance(failing_build(base, tmp_path / "corpus", message, step=steps), InputError)


def test_empty_files_are_an_empty_corpus(tmp_path):
    (tmp_path / "a.txt").write_text("")
    source = [{"domain": "prose", "paths": ["*.txt"]}]
    failing_build(tmp_path, tmp_path / "corpus", "the corpus is empty: 0 documents read", source=source)


def test_an_empty_validation_split_names_the_share(base, tmp_path):
    failing_build(base, tmp_path / "corpus", r"set it to at least 0\.\d+", validation_share=0.0001)


@pytest.mark.parametrize("calls_before", [0, 1, 3, 5])
def test_a_full_disk_leaves_the_old_corpus(base, tmp_path, monkeypatch, calls_before):
    real, calls = os.fsync, [0]

    def full(descriptor):
        calls[0] += 1
        if calls[0] > calls_before:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    failing_build(base, tmp_path / "corpus", "No space left on device")


def test_a_source_that_may_not_be_read_is_named(base, tmp_path, monkeypatch):
    real = Path.open

    def locked(path, *rest, **named):
        if path.name == "007.txt":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(path, *rest, **named)

    monkeypatch.setattr(Path, "open", locked)
    failing_build(base, tmp_path / "corpus", "007.txt cannot be read: Permission denied")


def test_a_new_corpus_takes_the_place_of_the_old_one(base, tmp_path):
    corpus = tmp_path / "corpus"
    build_corpus(settings(), base, corpus)
    build_corpus(settings(source=[{"domain": "json", "paths": ["*.jsonl"]}]), base, corpus)
    assert list_domains(corpus, "train") == ["json"]
