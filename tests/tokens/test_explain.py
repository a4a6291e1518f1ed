"""What is explained is what is shown, to the token, in every stage."""

from collections import Counter

import numpy as np
import pytest

from danlu.mixture.stages import PlannedStage
from danlu.records import PAD_DOCUMENT
from danlu.tokens import index
from danlu.tokens.explain import describe_packing, explain_mixture, warn_orders

DOMAINS = {"code": [33, 5, 18, 40] * 12, "prose": [9, 21] * 14}


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(index, "GROUP_TOKENS", 200)
    monkeypatch.setattr(index, "GROUP_SAMPLES", 4)
    monkeypatch.setattr(index, "ORDERED_GROUP_SAMPLES", 4)


def stages(**changes):
    return (
        PlannedStage(25, 16, "best_fit", True, True, {"code": 0.5, "prose": 0.5}),
        PlannedStage(31, 32, "chunk", True, True, {"code": 0.9, "prose": 0.1}),
        PlannedStage(9, 32, "best_fit", True, True, {"prose": 1.0}),
        PlannedStage(17, 16, "none", True, True, {"code": 0.3, "prose": 0.7}, **changes),
    )


def test_rows_are_what_is_shown(make_batches, open_stages, tmp_path):
    make_batches(DOMAINS)
    batches = open_stages(tmp_path, stages(), 64)
    rows = explain_mixture(batches, 64)
    first, all_tokens = 0, Counter()
    for number, stage in enumerate(stages(), 1):
        samples = [s for n in range(first, first + stage.steps) for s in batches.step(n).samples]
        first += stage.steps
        here = {row.domain: row for row in rows if row.stage == number}
        assert set(here) == set(stage.weights)
        for domain, row in here.items():
            mine = [sample for sample in samples if sample.domain == domain]
            tokens = sum(int((sample.documents != PAD_DOCUMENT).sum()) for sample in mine)
            all_tokens[domain] += tokens
            assert (row.samples, row.tokens) == (len(mine), tokens)
            assert row.total_epochs == pytest.approx(all_tokens[domain] / sum(DOMAINS[domain]))
            assert row.epochs == pytest.approx(tokens / sum(DOMAINS[domain]))
            assert (row.first_token, row.until_token) == ((first - stage.steps) * 64, first * 64)
            assert row.unique_tokens == sum(DOMAINS[domain])
            assert row.repeat_value <= row.total_epochs
        assert sum(row.share for row in here.values()) == pytest.approx(1)


def test_an_order_that_ends_in_mid_epoch_is_said(make_batches, open_stages, tmp_path):
    batches = make_batches(DOMAINS)
    assert warn_orders(batches) == []
    ranks = {
        (name, "-tokens"): np.argsort(-batches.documents[name].lengths, kind="stable") for name in DOMAINS
    }
    opened = open_stages(tmp_path, stages(order_by={"code": "-tokens"}), 64, ranks=ranks)
    (said,) = warn_orders(opened)
    assert "stage 4 reads 'code' in the order of -tokens and ends in mid-epoch" in said
    assert said.endswith("of its tokens with the smallest tokens")


def test_an_order_of_one_group_is_none_and_said(make_batches, open_stages, tmp_path, monkeypatch):
    batches = make_batches(DOMAINS)
    ranks = {("prose", "tokens"): np.argsort(batches.documents["prose"].lengths, kind="stable")}
    monkeypatch.setattr(index, "ORDERED_GROUP_SAMPLES", 1000)
    opened = open_stages(tmp_path, stages(order_by={"prose": "tokens"}), 64, ranks=ranks)
    (said,) = warn_orders(opened)
    assert said.endswith("has too little text for it: all samples are one group, which is shuffled")


def test_what_packing_did_is_said_of_every_domain(make_batches, tmp_path):
    batches = make_batches({"prose": [8, 8, 20, 3], "code": [16]})
    (_, code), (kind, prose) = describe_packing(batches)
    assert code == (
        "code: 1 samples of 16 tokens, 100.00% filled (0 tokens of padding; 1 samples at least), "
        "0 of 1 documents cut, 0 tokens dropped"
    )
    assert kind == "best_fit"
    assert "prose: 3 samples of 16 tokens, 81.25% filled (9 tokens of padding; 3 samples" in prose
    assert "1 of 4 documents cut, 0 tokens dropped" in prose
