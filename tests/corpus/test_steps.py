"""Steps run in the order of the recipe."""

from danlu.corpus.steps import make_steps
from danlu.dedup.settings import Exact
from danlu.quality.settings import Length, Normalize, Repetition
from danlu.quality.verdict import Dropped, Kept


def test_each_setting_becomes_its_step_in_order():
    steps = make_steps([Exact(), Repetition(), Length(min_characters=3), Normalize()])
    assert [name for name, _ in steps] == ["exact", "repetition", "length", "normalize"]
    verdicts = [step("ab") for _, step in steps]
    assert verdicts == [Kept("ab"), Kept("ab"), Dropped("length.too_short"), Kept("ab")]


def test_the_first_of_equal_texts_is_kept_and_each_build_starts_afresh():
    for _ in range(2):
        ((_, step),) = make_steps([Exact()])
        assert [step(text) for text in ("a b", "c", "a\nb")] == [
            Kept("a b"),
            Kept("c"),
            Dropped("exact.duplicate"),
        ]
