"""What the first stages say about the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from danlu.account.funnel import Count, Flow, Funnel
from danlu.errors import UsageError
from danlu.recipe import parse
from danlu.shards.build import DomainTokens, TokensReport
from danlu.shards.documents import open_documents
from danlu.shards.megatron import export_pairs
from danlu.tokenizer.codec import Codec
from danlu.workflow.run import Run, hold, open_run
from danlu.workflow.stages import through
from danlu.workflow.texts import describe_funnel, describe_tokens, read_texts


def test_the_funnel_is_told_with_every_reason() -> None:
    funnel = Funnel(
        steps=("length",),
        read={"prose": Count(1200, 5_000_000)},
        dropped={"prose": {"length.too_short": Count(200, 1000)}},
        damaged={"truncated": 3},
        kept={"train": {"prose": Count(990, 4_000_000)}, "validation": {"prose": Count(10, 50_000)}},
    )
    text = describe_funnel(funnel)
    for part in (
        "1,000 of 1,200",
        "4.05 MB",
        "10 (50 kB)",
        "length drops 200 of 1,200 (16.7%): 200 too_short",
    ):
        assert part in text
    assert "3 truncated" in text


@pytest.mark.parametrize("document", ["section", ""])
def test_documents_that_files_do_not_have_are_refused(tmp_path: Path, document: str) -> None:
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(UsageError, match=r"--document .*does not fit .*a\.txt: .*separator"):
        list(read_texts([str(tmp_path / "a.txt")], document))


def test_a_step_that_drops_much_is_warned_of() -> None:
    funnel = Funnel(
        ("length",), {"a": Count(4, 9)}, {"a": {"length.too_short": Count(3, 5)}}, {}, {"train": {}}
    )
    assert describe_funnel(funnel).count("warning: length drops 75% of the 4 documents that reach it") == 1
    assert "warning" not in describe_funnel(funnel, 0.8)


def test_what_is_cut_is_told_by_step() -> None:
    flow = Flow(
        Count(3, 90), {"c4.policy": Count(1, 30)}, Count(2, 45), {"c4": Count(1, 20), "nfc": Count(2, -5)}
    )
    funnel = Funnel(
        ("nfc", "c4"),
        {"a": Count(3, 90)},
        {"a": dict(flow.dropped)},
        {},
        {"train": {"a": Count(2, 45)}},
        {"a": {"": flow}},
    )
    text = describe_funnel(funnel)
    assert "  nfc adds 5 bytes to 2 that stay\n" in text
    assert text.endswith("  c4 drops 1 of 3 (33.3%): 1 policy; cuts 20 bytes out of 1 that stay")


def test_changes_that_cancel_out_are_no_cut() -> None:
    flow = Flow(Count(2, 9), {}, Count(2, 9), {"nfc": Count(2, 0)})
    funnel = Funnel(
        ("nfc",), {"a": Count(2, 9)}, {"a": {}}, {}, {"train": {"a": Count(2, 9)}}, {"a": {"": flow}}
    )
    assert describe_funnel(funnel).endswith("\n  nfc changes 2 that stay at the same length in all")


def test_a_clean_funnel_is_one_line() -> None:
    kept = {"train": {"a": Count(1, 5)}, "validation": {}}
    assert describe_funnel(Funnel((), {"a": Count(1, 5)}, {}, {}, kept)).count("\n") == 0


def test_tokens_are_told_by_split() -> None:
    rows = [DomainTokens(**_row(split, tokens)) for split, tokens in (("train", 5000), ("validation", 70))]
    assert describe_tokens(TokensReport(tuple(rows))) == "  5K training tokens, 70 held out for validation"


def _row(split: str, tokens: int) -> dict:
    values = dict.fromkeys(DomainTokens.__dataclass_fields__, 0)
    return {**values, "split": split, "domain": "a", "tokens": tokens}


def _repositories(folder: Path) -> None:
    for repository in ("one", "two"):
        (folder / "repos" / repository / "deep").mkdir(parents=True)
        for name in ("b.py", "a.py", "deep/c.py"):
            (folder / "repos" / repository / name).write_text(f"# {repository} {name}\n" + "x = 1\n" * 5)
    (folder / "repos" / "alone.py").write_text("# in no folder\n" + "y = 2\n" * 9)


def _run(folder: Path, **tables: object) -> Run:
    source = {"domain": "code", "paths": ["repos/**/*.py"], "format": "txt"}
    corpus = {"validation_share": 0.0, "source": [source], "step": [], "workers": 1}
    train = {"steps": 2, "sequence_length": 32, "batch_tokens": 64}
    return open_run(parse({"name": "x", "corpus": corpus, "train": train, **tables}), folder, folder / "runs")


def test_files_of_a_repository_are_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _repositories(tmp_path)
    run = _run(tmp_path, name="joined", tokenizer={"vocab_size": 300}, tokens={"join": {"code": "folder"}})
    with hold(run):
        through(run, "tokens")
    assert "train/code: 6 documents joined into 2; 1 have no folder" in capsys.readouterr().err
    codec = Codec.load(run.directory / "tokenizer" / "tokenizer.json")
    found = open_documents(run.directory / "tokens" / "train" / "code", codec)
    places = {str(found.provenance(n)["id"]): n for n in range(len(found))}
    text = codec.decode(found.tokens_of(places["joined:repos/one"], 0, 10**6).tolist())
    names = ("a.py", "b.py", "deep/c.py")
    assert text == "\n\n".join((tmp_path / "repos" / "one" / name).read_text() for name in names)
    assert found.byte_counts[places["joined:repos/one"]] == len(text)


def test_exported_tokens_are_a_domain_of_another_run(tmp_path: Path) -> None:
    _repositories(tmp_path)
    first = _run(tmp_path, name="first", tokenizer={"vocab_size": 300})
    with hold(first):
        through(first, "tokens")
    path = first.directory / "tokenizer" / "tokenizer.json"
    codec = Codec.load(path)
    export_pairs(first.directory / "tokens", codec, tmp_path / "given")
    second = _run(
        tmp_path,
        name="second",
        tokenizer={"path": str(path)},
        tokens={"megatron": {"books": "given/train/code"}},
        mixture={"weights": {"code": 0.5, "books": 0.5}},
    )
    with hold(second):
        through(second, "tokens")
    one = open_documents(first.directory / "tokens" / "train" / "code", codec)
    two = open_documents(second.directory / "tokens" / "train" / "books", codec)
    assert len(one) == len(two) == 7
    for number in range(len(one)):
        assert one.provenance(number) == two.provenance(number)
        assert one.tokens_of(number, 0, 10**6).tolist() == two.tokens_of(number, 0, 10**6).tolist()
    assert one.byte_counts.tolist() == two.byte_counts.tolist()
