"""Steps run in the order of the recipe."""

from danlu.corpus.steps import Place, make_steps
from danlu.dedup.settings import Exact
from danlu.quality.settings import Length, Normalize, Repetition
from danlu.quality.verdict import Dropped, Kept

TRAINED, HELD_OUT = "train", "validation"


def test_each_setting_becomes_its_step_in_order():
    steps = make_steps([Exact(), Repetition(), Length(min_characters=3), Normalize()], set())
    assert [name for name, _ in steps] == ["exact", "repetition", "length", "normalize"]
    verdicts = [step("ab", Place(0, TRAINED)) for _, step in steps]
    assert verdicts == [Kept("ab"), Kept("ab"), Dropped("length.too_short"), Kept("ab")]


def test_the_first_of_equal_texts_is_kept_and_each_build_starts_afresh():
    for split in (TRAINED, HELD_OUT):
        superseded = set()
        ((_, step),) = make_steps([Exact()], superseded)
        assert [step(text, Place(n, split)) for n, text in enumerate(["a b", "c", "a\nb"])] == [
            Kept("a b"),
            Kept("c"),
            Dropped("exact.duplicate"),
        ]
        assert not superseded


def test_a_held_out_text_supersedes_its_copy_in_training_and_is_never_superseded():
    superseded = set()
    ((_, step),) = make_steps([Exact()], superseded)
    places = [Place(0, TRAINED), Place(1, TRAINED), Place(2, HELD_OUT), Place(3, TRAINED), Place(4, HELD_OUT)]
    verdicts = [step("same", place) for place in places]
    assert [isinstance(verdict, Kept) for verdict in verdicts] == [True, False, True, False, False]
    assert superseded == {0}
