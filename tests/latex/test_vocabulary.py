"""The vocabulary is whole: signs that are known, no name with two meanings, nothing structural left open."""

from itertools import combinations

from danlu.latex.vocabulary import load_vocabulary

WORDS = load_vocabulary()


def test_arguments_are_spelled_with_known_signs():
    specs = {**WORDS.arguments, **WORDS.environment_arguments}
    assert not {name: spec for name, spec in specs.items() if set(spec) - set("odkcbr")}


def test_no_command_has_two_meanings():
    tables = {
        "text": set(WORDS.text),
        "accents": set(WORDS.accents),
        "headings": set(WORDS.headings),
        **{name: set(WORDS.groups[name]) for name in ("run_in", "citations", "references", "dimensions")},
    }
    for (one, names), (other, others) in combinations(tables.items(), 2):
        assert not names & others, f"{one} and {other}"


def test_what_text_hangs_on_is_fixed_and_known():
    assert {"section", "cite", "ref", "title", "item", "caption"} <= WORDS.fixed <= WORDS.known


def test_it_is_read_once():
    assert load_vocabulary() is WORDS
