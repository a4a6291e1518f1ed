"""What the first stages say about the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from danlu.account.funnel import Count, Flow, Funnel
from danlu.errors import UsageError
from danlu.shards.build import DomainTokens, TokensReport
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
