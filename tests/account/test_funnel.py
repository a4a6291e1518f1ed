"""The funnel: totals, order, what reaches each step, languages, warnings, JSON, and the count of a ledger."""

import json
import math
from pathlib import Path

import pytest

from danlu.account.funnel import Count, Flow, Funnel, from_json, funnel_of, step_of, warnings
from danlu.account.ledger import Row, ledger_path
from danlu.account.writing import new_ledger
from danlu.errors import DamagedError, MissingError
from small_ledger import REASONS, TEXTS, write_small_corpus

FUNNEL = Funnel(
    steps=("normalize", "length"),
    read={"code": Count(10, 1000), "prose": Count(5, 500)},
    dropped={
        "code": {"length.too_short": Count(2, 20), "normalize.empty": Count(1, 1)},
        "prose": {"length.too_short": Count(1, 9)},
    },
    damaged={"malformed_json": 3},
    kept={"train": {"code": Count(6, 900), "prose": Count(4, 480)}, "validation": {"code": Count(1, 70)}},
    languages={
        "code": {
            "": Flow(
                Count(10, 1000),
                {"length.too_short": Count(2, 20), "normalize.empty": Count(1, 1)},
                Count(7, 970),
            )
        },
        "prose": {
            "en": Flow(Count(4, 400), {}, Count(4, 480)),
            "zh": Flow(Count(1, 100), {"length.too_short": Count(1, 9)}),
        },
    },
)


def test_totals():
    assert FUNNEL.total_read() == Count(15, 1500)
    assert list(FUNNEL.total_dropped().items()) == [
        ("normalize.empty", Count(1, 1)),
        ("length.too_short", Count(3, 29)),
    ]
    assert FUNNEL.total_kept() == Count(11, 1450)
    assert FUNNEL.total_kept("validation") == Count(1, 70)


def test_what_reaches_a_step_is_what_the_steps_before_it_left():
    assert FUNNEL.passed() == {
        "normalize": (Count(15, 1500), Count(1, 1)),
        "length": (Count(14, 1499), Count(3, 29)),
    }
    assert step_of("length.too_short") == "length"


def test_a_step_that_drops_much_is_named():
    assert warnings(FUNNEL) == []
    assert warnings(FUNNEL, 0.2) == ["length drops 21% of the 14 documents that reach it"]
    assert warnings(Funnel(("length",), {}, {}, {}, {}), 0.0) == []


def test_a_ledger_is_counted(tmp_path: Path):
    write_small_corpus(tmp_path)
    sizes = {ident: len(text.encode()) for ident, text in TEXTS}
    steps = ("visible", "wordy", "loud", "same")
    funnel = funnel_of(tmp_path, ["b", "a", "none"], steps, {"truncated": 1})
    assert list(funnel.read) == ["b", "a", "none"]
    assert funnel.read["none"] == Count()
    assert funnel.dropped["none"] == {}
    assert funnel.total_read() == Count(len(TEXTS), sum(sizes.values()))
    assert funnel.dropped["a"]["wordy.few_words"] == Count(2, sizes["a-1"] + sizes["a-4"])
    assert list(funnel.total_dropped()) == [
        *("visible.blank", "wordy.few_words", "wordy.many_words", "wordy.short_words"),
        *("loud.upper", "same.duplicate"),
    ]
    assert funnel.kept == {
        "train": {"a": Count(1, sizes["a-0"]), "b": Count(1, sizes["b-2"])},
        "validation": {"b": Count(1, sizes["b-3"])},
    }
    for domain in "ab":
        flow = funnel.languages[domain]["en"]
        assert flow.read == funnel.read[domain]
        assert flow.dropped == funnel.dropped[domain]
        assert flow.kept.documents == sum(ident[0] == domain and not why for ident, why in REASONS.items())
    assert from_json(json.loads(json.dumps(funnel.to_json()))) == funnel


def test_what_steps_cut_out_of_what_is_kept(tmp_path: Path):
    path = ledger_path(tmp_path, 0)
    path.parent.mkdir(parents=True)
    with new_ledger(path, ["c4.sentences", "c4.cut_bytes", "exact.cut_bytes"]) as ledger:
        place = {"domain": "a", "source": "a.txt", "start": 0, "end": 9, "split": "train"}
        cuts = ((7, 3.0, ""), (6, 4.0, ""), (0, 5.0, "c4.policy"), (10, math.nan, ""))
        for number, (kept, cut, reason) in enumerate(cuts):
            values = (1.0, cut, math.nan)
            ledger.add(
                Row(number, str(number), bytes=10, kept_bytes=kept, reason=reason, values=values, **place)
            )
    funnel = funnel_of(tmp_path, ["a"], ("c4", "exact", "length"), {})
    assert funnel.total_cut() == {"c4": Count(2, 7)}
    dropped, cut = (sum(counts.values(), Count()) for counts in (funnel.total_dropped(), funnel.total_cut()))
    assert funnel.total_read().bytes == dropped.bytes + cut.bytes + funnel.total_kept().bytes
    assert from_json(json.loads(json.dumps(funnel.to_json()))) == funnel


def test_tokens_follow_from_what_one_holds_in_each_domain():
    funnel = FUNNEL.in_tokens({"code": 2.0, "prose": 4.0})
    assert funnel.total_read().tokens == 1000 / 2 + 500 / 4
    assert funnel.total_dropped()["length.too_short"].tokens == 20 / 2 + 9 / 4
    assert funnel.passed()["length"][0].tokens == 625 - 1 / 2
    assert funnel.languages["prose"]["en"].kept.tokens == 120
    assert funnel.total_kept("validation").tokens == 35
    assert FUNNEL.in_tokens({"code": 2.0}).read["prose"].tokens == 250
    assert funnel.to_json() == FUNNEL.to_json()


def test_no_ledger_is_no_funnel(tmp_path: Path):
    with pytest.raises(MissingError):
        funnel_of(tmp_path, [], (), {})


def test_json_round_trip():
    assert from_json(json.loads(json.dumps(FUNNEL.to_json()))) == FUNNEL


@pytest.mark.parametrize("value", [None, [], {}, {**FUNNEL.to_json(), "read": {"code": 3}}])
def test_another_file_is_not_a_funnel(value):
    with pytest.raises(DamagedError, match="build the corpus again"):
        from_json(value)
