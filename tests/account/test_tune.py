"""Thresholds tried on stored measures decide as a build with them would, and what cannot be tried is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.account.funnel import Count
from danlu.account.step import Step
from danlu.account.tune import Tuned, change_steps, try_again
from danlu.errors import MismatchError, UsageError
from small_ledger import REASONS, TEXTS, Loud, Same, Visible, Wordy, measures_of, steps_of, write_small_corpus

SIZES = {ident: len(text.encode()) for ident, text in TEXTS}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus")
    write_small_corpus(path)
    return path


def rebuilt(steps: list[Step]) -> dict[str, str]:
    """What the rules would say, one document after the other; duplicates as they were."""
    said = {}
    for ident, text in TEXTS:
        characters, *rest = measures_of(text)
        values = {"visible": (characters,), "wordy": rest[:2], "loud": rest[2:], "same": ()}
        reasons = (step.reason(values[step.name]) for step in steps)
        before = REASONS[ident] if REASONS[ident] == "same.duplicate" else ""
        said[ident] = next(filter(None, reasons), before)
    return said


def counted(reasons: dict[str, str]) -> dict[str, Count]:
    counts: dict[str, Count] = {}
    for ident, reason in reasons.items():
        counts[reason] = counts.get(reason, Count()) + Count(1, SIZES[ident])
    return counts


def ids(samples: dict[str, list]) -> dict[str, set[str]]:
    return {reason: {sample.id for sample in found} for reason, found in samples.items()}


def tried(corpus: Path, *settings) -> Tuned:
    return try_again(corpus, steps_of(), steps_of(*settings))


def test_a_lower_threshold_keeps_more(corpus: Path):
    tuned = tried(corpus, Wordy(min_words=2))
    assert tuned.changes == ("wordy.min_words: 3 -> 2",)
    assert tuned.then == counted(REASONS)
    # "A B" has words enough now, and comes to the next rule of the same step.
    assert tuned.now == counted(REASONS | {"a-1": "", "a-4": "wordy.short_words"})
    assert ids(tuned.kept_examples) == {"wordy.few_words": {"a-1"}}
    assert tuned.newly_kept == {"wordy.few_words": Count(1, SIZES["a-1"])}
    assert not tuned.newly_dropped
    assert not tuned.unmeasured


def test_a_higher_threshold_drops_more_and_shows_the_texts(corpus: Path):
    tuned = tried(corpus, Wordy(min_words=5))
    assert tuned.newly_dropped == {"wordy.few_words": Count(2, SIZES["a-0"] + SIZES["b-2"])}
    shown = tuned.dropped_examples["wordy.few_words"]
    assert {sample.excerpt for sample in shown} == {"one two three four", "four words are enough"}
    # Who was dropped later is dropped earlier now.
    assert "loud.upper" not in tuned.now
    assert "same.duplicate" not in tuned.now
    assert list(tuned.now)[-1] == ""


def test_what_was_never_measured_is_said(corpus: Path):
    tuned = tried(corpus, Visible(min_characters=0))
    assert tuned.newly_kept == {"visible.blank": Count(1, 3)}
    assert tuned.unmeasured == 1


def test_steps_behind_decide_for_the_first_time(corpus: Path):
    tuned = tried(corpus, Wordy(min_words=2, min_mean_length=0.5))
    # "A B" is let through by the words and stopped by the case.
    assert tuned.now == counted(REASONS | {"a-1": "", "a-4": "loud.upper", "b-0": ""})


def test_nothing_changed_changes_nothing(corpus: Path):
    tuned = tried(corpus)
    assert tuned.then == tuned.now == counted(REASONS)
    assert not tuned.changes


@given(
    least=st.integers(0, 10),
    most=st.integers(0, 10),
    length=st.floats(0, 5),
    upper=st.floats(0, 1),
    characters=st.integers(0, 3),
)
def test_as_a_build_would(corpus: Path, least: int, most: int, length: float, upper: float, characters: int):
    settings = (
        Visible(min_characters=characters),
        Wordy(min_words=least, max_words=most, min_mean_length=length),
        Loud(max_upper_share=upper),
    )
    tuned = try_again(corpus, steps_of(), steps_of(*settings))
    assert tuned.now == counted(rebuilt(steps_of(*settings)))


def test_keys_that_need_the_texts_are_refused(corpus: Path):
    with pytest.raises(UsageError, match=r"wordy\.lower changes what is measured"):
        tried(corpus, Wordy(lower=True))
    with pytest.raises(UsageError, match=r"same\.keep: deduplication compares texts"):
        tried(corpus, Same(keep="longest"))


def test_other_steps_are_refused(corpus: Path):
    with pytest.raises(
        MismatchError, match="the steps visible, wordy, loud, same, the recipe has visible, wordy"
    ):
        try_again(corpus, steps_of(), steps_of()[:2])
    other = Step("loud", Loud(), steps_of()[1].module)
    with pytest.raises(MismatchError, match=r"has no 'loud\.mean_length'"):
        try_again(corpus, [other], [other])


def test_changes_are_named_step_key_value():
    changed = change_steps(steps_of(), ["wordy.min_words=5", "corpus.step.loud.max_upper_share=0.25"])
    assert changed == steps_of(Wordy(min_words=5), Loud(max_upper_share=0.25))


@pytest.mark.parametrize(
    ("setting", "match"),
    [
        ("wordi.min_words=5", "did you mean 'wordy'"),
        ("wordy.min_word=5", r"--set wordy: .*unknown key 'min_word'; did you mean 'min_words'"),
        ("wordy.min_words=many", "min_words"),
        ("wordy=5", r"write STEP\.KEY=VALUE"),
    ],
)
def test_a_wrong_change_is_refused(setting: str, match: str):
    with pytest.raises(UsageError, match=match):
        change_steps(steps_of(), [setting])


def test_json(corpus: Path):
    plain = tried(corpus, Wordy(min_words=2)).to_json()
    assert plain["now"][""] == {"documents": 4, "bytes": sum(SIZES[i] for i in ("a-0", "a-1", "b-2", "b-3"))}
    assert plain["kept_examples"]["wordy.few_words"][0]["id"] == "a-1"
