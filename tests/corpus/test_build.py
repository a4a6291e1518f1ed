"""The whole way: sources to parts, funnel and account; invariants of the split; bad input; full disk."""

import contextlib
import errno
import io
import json
import os
import random
import re
import signal
import threading
from itertools import islice
from pathlib import Path

import pytest
import zstandard

import fake_slurm
from danlu.account.funnel import Count, from_json
from danlu.account.ledger import find_rows, read_ledger
from danlu.account.tune import try_again
from danlu.corpus.build import build_corpus, clear_work, work_directory
from danlu.corpus.settings import CorpusSettings
from danlu.corpus.split import TRAIN, split_of, split_point
from danlu.errors import DanluError
from danlu.jobs import slurm
from danlu.read.store import list_domains, list_parts, read_part
from danlu.workflow.curation import account_steps
from killed import run_killed
from small_cluster import cluster, loopback

__all__ = ["cluster", "loopback"]

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


def ledger(corpus):
    return [row for batch in read_ledger(corpus) for row in batch.to_pylist()]


def files_of(corpus):
    """Every file of a corpus with its bytes."""
    return {
        str(path.relative_to(corpus)): path.read_bytes() for path in corpus.rglob("*.*") if path.is_file()
    }


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
    rows = ledger(corpus)
    assert len(rows) == 83
    assert {(row["source"], row["step"], row["reason"]) for row in rows if row["reason"]} == {
        ("a.jsonl", "id", "id.repeated"),
        ("short.txt", "length", "length.too_short"),
        ("005.txt", "exact", "exact.duplicate"),  # zz-copy.txt is held out
    }
    (copy,) = (row for row in rows if row["source"] == "005.txt")
    (stays,) = find_rows(corpus, copy["match"])
    assert (stays.source, stays.split, copy["excerpt"]) == ("zz-copy.txt", "validation", sentence(5))
    damaged = lines_of(corpus / "damaged.jsonl.zst")
    assert [(row["reason"], row["line"]) for row in damaged] == [("malformed_json", 41)]
    clear_work(corpus)
    assert [path.name for path in corpus.parent.iterdir()] == ["corpus"]


def test_every_byte_is_dropped_cut_or_kept(base, tmp_path):
    footer = "This line stands at the foot of many pages of ours, word for word.\n"
    for number in range(10):
        text = f"cafe\u0301 {number}\n{sentence(number)}{footer}no stop here\n"
        (base / f"{number:03d}.txt").write_text(text)
    steps = [
        *(
            {"use": "normalize"},
            {"use": "c4", "min_words_per_line": 0, "min_num_sentences": 1},
            {"use": "length"},
        ),
        *({"use": "boilerplate", "min_documents": 5}, {"use": "exact"}),
    ]
    funnel = build_corpus(settings(step=steps), base, tmp_path / "run" / "corpus")
    assert {"normalize", "c4", "boilerplate"} == set(funnel.total_cut())
    assert funnel.total_cut()["boilerplate"].bytes >= 10 * len(footer.strip())
    assert funnel.total_dropped()
    for flow in (flow for languages in funnel.languages.values() for flow in languages.values()):
        dropped, cut = (sum(counts.values(), Count()) for counts in (flow.dropped, flow.cut))
        assert flow.read.documents == dropped.documents + flow.kept.documents
        assert flow.read.bytes == dropped.bytes + cut.bytes + flow.kept.bytes


def test_the_same_input_gives_the_same_bytes(base, tmp_path):
    for name in ("one", "two"):
        build_corpus(settings(), base, tmp_path / name)
    files = files_of(tmp_path / "one")
    assert len(files) == 8
    assert files == files_of(tmp_path / "two")


def test_neither_workers_nor_interruptions_change_a_byte(base, tmp_path, monkeypatch):
    change = {"shard_bytes": 700, "step": [{"use": "normalize"}, {"use": "exact"}, {"use": "length"}]}
    build_corpus(settings(**change), base, tmp_path / "one")
    build_corpus(settings(**change, workers=2), base, tmp_path / "pool")
    assert len(list((tmp_path / "one" / "ledger").iterdir())) > 5
    assert files_of(tmp_path / "pool") == files_of(tmp_path / "one")
    # The disk is full at one place after another; each time the build goes on from where it stopped.
    real, calls = os.fsync, [0, 0]

    def full(descriptor):
        calls[0] += 1
        if calls[0] == calls[1]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    for attempt in range(1, 400):
        calls[:] = 0, 3 * attempt
        try:
            build_corpus(settings(**change), base, tmp_path / "cut")
            break
        except DanluError:
            assert not (tmp_path / "cut").exists()
    assert 3 < attempt < 399
    assert files_of(tmp_path / "cut") == files_of(tmp_path / "one")


def test_a_build_that_was_cut_off_reads_no_shard_twice(base, tmp_path, monkeypatch):
    from danlu.corpus import assemble, build, shard

    read = []
    real = shard.read_shard
    monkeypatch.setattr(shard, "read_shard", lambda it, *rest: (read.append(it.number), real(it, *rest))[1])
    monkeypatch.setattr(build, "assemble", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        build_corpus(settings(shard_bytes=700), base, tmp_path / "corpus")
    first = len(read)
    monkeypatch.setattr(build, "assemble", assemble.assemble)
    build_corpus(settings(shard_bytes=700), base, tmp_path / "corpus")
    assert first == len(read) == len(set(read)) > 5
    assert work_directory(tmp_path / "corpus").is_dir()


def test_the_size_of_shards_changes_no_document(base, tmp_path):
    for name, size in (("small", 500), ("large", "auto")):
        build_corpus(settings(shard_bytes=size), base, tmp_path / name)
    for split in ("train", "validation"):
        assert documents(tmp_path / "small", split) == documents(tmp_path / "large", split)


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
    name = next(name for name in names if split_of(split_point(name), SHARE) == TRAIN)
    (base / name).write_text(held_out.text + " ")
    funnel = build_corpus(settings(), base, tmp_path / "after")
    assert documents(tmp_path / "after", "validation") == before
    assert name not in {row.source for row in documents(tmp_path / "after", "train")}
    rows = ledger(tmp_path / "after")
    assert [row["reason"] for row in rows if row["source"] == name] == ["exact.duplicate"]
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
    with pytest.raises(DanluError, match=message):
        build_corpus(settings(**change), base, directory)
    assert [path.name for path in directory.iterdir()] == ["old"]


def test_an_empty_corpus_says_what_dropped_it(base, tmp_path):
    steps = [{"use": "length", "min_characters": 1000}]
    message = r"the corpus is empty: 83 documents read; dropped 83 by length.too_short; .*1 malformed_json.*"
    corpus = tmp_path / "corpus"
    funnel = build_corpus(settings(step=steps), base, corpus)
    assert re.fullmatch(message, funnel.problem)
    assert len(ledger(corpus)) == 83
    assert from_json(json.loads((corpus / "funnel.json").read_text())) == funnel


def test_empty_files_are_an_empty_corpus(tmp_path):
    (tmp_path / "a.txt").write_text("")
    source = [{"domain": "prose", "paths": ["*.txt"]}]
    funnel = build_corpus(settings(source=source), tmp_path, tmp_path / "corpus")
    assert funnel.problem.startswith("the corpus is empty: 0 documents read")


def test_an_empty_validation_split_names_the_share(base, tmp_path):
    funnel = build_corpus(settings(validation_share=0.0001), base, tmp_path / "corpus")
    assert re.search(r"set it to at least 0\.\d+", funnel.problem)
    assert funnel.total_kept("train").documents == 80


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


def test_decontamination_lists_what_it_found(base, tmp_path, capsys):
    (base / "quiz.jsonl.examples").mkdir()
    quiz = base / "quiz.jsonl.examples" / "quiz.jsonl"
    quiz.write_text(json.dumps({"question": sentence(7)}) + "\n" + json.dumps({"question": "Short?"}))
    steps = [{"use": "decontaminate", "against": ["quiz.jsonl.examples/*.jsonl"]}, {"use": "exact"}]
    build_corpus(settings(step=steps, validation_share=0), base, tmp_path / "corpus")
    (found,) = lines_of(tmp_path / "corpus" / "overlaps.jsonl.zst")
    (row,) = find_rows(tmp_path / "corpus", found["number"])
    assert (row.source, row.reason) == ("007.txt", "decontaminate.overlap")
    assert found["example"] == f"{quiz}:1"
    assert found["text"] in sentence(7)
    assert "of 2 examples; 1 are too short" in capsys.readouterr().err


def test_an_earlier_corpus_takes_its_texts_out_and_is_not_written(base, tmp_path):
    build_corpus(settings(validation_share=0), base, tmp_path / "earlier")
    (base / "new.txt").write_text("A new text that no earlier corpus has, long enough to stay in this one.")
    against = [str(tmp_path / "earlier" / "train" / "*" / "*.parquet")]
    steps = [{"use": "normalize"}, {"use": "exact", "against": against}]
    source = [{"domain": "prose", "paths": ["*.txt"]}]
    build_corpus(settings(source=source, step=steps, validation_share=0), base, tmp_path / "corpus")
    assert [row.source for row in documents(tmp_path / "corpus", "train")] == ["new.txt", "short.txt"]


CHANGE = {
    "shard_bytes": 3000,
    "validation_share": 0,
    "source": [{"domain": "all", "paths": ["*.txt", "*.jsonl"]}],
    "step": [{"use": "normalize"}, {"use": "exact"}, {"use": "minhash"}, {"use": "length"}],
}


@pytest.fixture
def whole(base, tmp_path):
    """The files of a corpus that was built in one process and without interruption."""
    build_corpus(settings(**CHANGE), base, tmp_path / "whole")
    return files_of(tmp_path / "whole")


@contextlib.contextmanager
def killing_one(work):
    """Kills one process that is in the midst of a shard, as soon as there is one; the shard is in the list."""
    killed, is_over = [], threading.Event()

    def kill():
        while not killed and not is_over.wait(0.002):
            begun = [path for path in work.glob("round-*/shard-*") if not (path / "done.json").exists()]
            killed.extend(islice(filter(kill_writer, begun), 1))

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield killed
    finally:
        is_over.set()
        killer.join()


def kill_writer(place):
    """Kills another process that has a file of a directory open; whether there was one."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            files = [str(link.readlink()) for link in (process / "fd").iterdir()]
            if any(name.startswith(f"{place}/") for name in files) and int(process.name) != os.getpid():
                os.kill(int(process.name), signal.SIGKILL)
                return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pool", "ray", "slurm"])
def test_every_engine_writes_the_same_bytes_though_a_worker_is_killed(
    base, tmp_path, whole, engine, request, monkeypatch, capsys
):
    if engine == "ray":
        request.getfixturevalue("cluster")
    elif engine == "slurm":
        fake_slurm.install(tmp_path, monkeypatch)
        monkeypatch.setattr(slurm, "_POLL_SECONDS", 0.0)
        monkeypatch.setattr(slurm, "_QUEUE_SECONDS", 0.0)
    with killing_one(tmp_path / "killed.work") as killed:
        build_corpus(settings(**CHANGE, engine=engine, workers=2), base, tmp_path / "killed")
    assert files_of(tmp_path / "killed") == whole
    assert len(list((tmp_path / "killed" / "ledger").iterdir())) > 2
    assert killed
    assert capsys.readouterr().err.count("it is tried again") == 1


KILLED = """
from danlu.corpus.build import build_corpus
from danlu.corpus.settings import CorpusSettings
settings = CorpusSettings.model_validate_json(sys.argv[1])
build_corpus(settings, Path(sys.argv[2]), Path(sys.argv[3]))
"""


@pytest.mark.slow
def test_killed_at_drawn_calls_of_the_system_the_same_bytes(base, tmp_path, whole):
    generator = random.Random(11)
    given = settings(**CHANGE).model_dump_json()
    kills = 0
    while kills < 40:
        calls = generator.choice([generator.randrange(1, 30), generator.randrange(30, 150)])
        if not run_killed(calls, KILLED, given, base, tmp_path / "cut"):
            break
        kills += 1
    assert 5 < kills < 40
    assert files_of(tmp_path / "cut") == whole


@pytest.mark.parametrize("sentences", [0, 1, 3])
def test_other_thresholds_are_tried_as_a_build_decides_where_nothing_is_left(tmp_path, sentences):
    texts = [
        "no stop\nno stop either",
        "One line here stays. It has two.",
        "A line stays here.\nbut this does not go on",
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": f"{text} "}) + "\n" for text in texts * 2))
    source = [{"domain": "prose", "paths": ["a.jsonl"]}]

    def built(name, least):
        steps = [{"use": "c4", "min_num_sentences": least}, {"use": "length", "min_characters": 3}]
        given = settings(source=source, step=steps, validation_share=0)
        return given, build_corpus(given, tmp_path, tmp_path / name / "corpus")

    (before, _), (after, funnel) = built("before", 1), built("after", sentences)
    then, now = (account_steps(given.step) for given in (before, after))
    tuned = try_again(tmp_path / "before" / "corpus", then, now)
    expected = {"": funnel.total_read().documents - sum(c.documents for c in funnel.total_dropped().values())}
    expected |= {reason: count.documents for reason, count in funnel.total_dropped().items()}
    assert {reason: count.documents for reason, count in tuned.now.items()} == {
        k: v for k, v in expected.items() if v
    }
