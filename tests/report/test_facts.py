"""The shared numbers of the report."""

from danlu.report.facts import Facts, median_speed, newest_by_domain, peak_memory, tally_text


def test_newest_evaluation_of_each_domain():
    rows = [{"step": 0, "domain": "b"}, {"step": 0, "domain": "a"}, {"step": 5, "domain": "b"}]
    assert newest_by_domain(Facts("r", evaluations=rows)) == [rows[1], rows[2]]


def test_speed_is_the_median_and_memory_the_peak():
    metrics = [{"tokens_per_second": speed} for speed in (10.0, None, 1000.0, 1100.0)]
    facts = Facts("r", metrics=metrics, events=[{"kind": "finished", "peak_memory_bytes": 7}])
    assert median_speed(facts) == 1000.0
    assert peak_memory(facts) == 7
    assert median_speed(Facts("r")) is None
    assert peak_memory(Facts("r")) is None


def test_the_sentence_under_the_title():
    assert tally_text(Facts("r")) == "This run has not trained yet."
    row = {"step": 1200, "tokens": 2_000_000, "seconds": 75.0}
    assert tally_text(Facts("r", metrics=[row])) == "Step 1,200, 2M tokens, 1 min 15 s of training."
