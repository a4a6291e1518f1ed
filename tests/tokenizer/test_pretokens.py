"""Cuts change no token, and nothing that the trainer reads is long."""

import ast
import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.tokenizer.pretokens import LONGEST_RUN, cut_safely, make_pretokenizer, training_pieces

TEXTS = st.text(alphabet=st.sampled_from("ab 1_'s\n\n\r\t.(é好\u2028\x00"), max_size=120)


@pytest.mark.parametrize("name", ["gpt2", "llama3"])
@given(text=TEXTS, characters=st.integers(1, 9))
def test_safe_cuts_change_nothing(name, text, characters):
    pretokenizer = make_pretokenizer(name)
    pieces = cut_safely(text, characters)
    assert "".join(pieces) == text
    whole = [token for token, _ in pretokenizer.pre_tokenize_str(text)]
    assert [token for piece in pieces for token, _ in pretokenizer.pre_tokenize_str(piece)] == whole


def test_patterns_split_numbers_as_published():
    def split(name):
        return [token for token, _ in make_pretokenizer(name).pre_tokenize_str("12345 it's")]

    assert split("gpt2") == ["12345", "Ġit", "'s"]
    assert split("llama3") == ["123", "45", "Ġit", "'s"]


def test_llama3_regex_is_a_partition_of_real_text():
    tokens = make_pretokenizer("llama3").pre_tokenize_str(inspect.getsource(ast))
    assert [span[0] for _, span in tokens[1:]] == [span[1] for _, span in tokens[:-1]]


@given(text=TEXTS)
def test_training_pieces_keep_all_text(text):
    assert "".join(training_pieces(text * 3, 7)) == text * 3


@pytest.mark.parametrize("text", ["x" * 100_000, " " * 100_000, "好" * 5000, "a b" + "\n" * 3000 + "c"])
def test_long_runs_are_cut(text):
    pieces = list(training_pieces(text, 65_536))
    assert "".join(pieces) == text
    for piece in pieces:
        for run in piece.replace("\n", " ").split(" "):
            assert len(run) <= LONGEST_RUN
        assert len(piece) <= 2 * LONGEST_RUN + 3
