"""What is explained is what is shown."""

from collections import Counter

from danlu.tokens.explain import explain_mixture

DOMAINS = {"code": [33, 5, 18, 40] * 12, "prose": [9, 21] * 14}


def test_mixture_rows(make_batches):
    batches = make_batches(DOMAINS, weights={"code": 0.5, "prose": 0.5}, max_epochs=8.0)
    total = 300
    rows = {row.domain: row for row in explain_mixture(batches, total)}
    shown = Counter(sample.domain for sample in batches.batch(0, total).samples)
    for domain, row in rows.items():
        assert row.samples == shown[domain]
        assert abs(row.share - 0.5) < 0.01
        assert row.epochs == shown[domain] / batches.order.samples_of(domain)
        assert row.unique_tokens == sum(DOMAINS[domain])
        assert row.documents == len(DOMAINS[domain])


def test_nothing_shown_yet(make_batches):
    assert [row.tokens for row in explain_mixture(make_batches(DOMAINS), 0)] == [0, 0]
