"""Cuts change no token, and nothing that the trainer reads is long."""

import ast
import inspect
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from danlu.tokenizer.pretokens import (
    LONGEST_RUN,
    PATTERNS,
    allows_cuts,
    cut_safely,
    make_pretokenizer,
    make_word_splitter,
    training_pieces,
)

TEXTS = st.text(alphabet=st.sampled_from("ab 1_'s\n\n\r\t.(é好の，\\{$\u2028\x00"), max_size=120)


@pytest.mark.parametrize("byte_level", [True, False], ids=["bytes", "characters"])
@pytest.mark.parametrize("name", PATTERNS)
@given(text=TEXTS, characters=st.integers(1, 9))
def test_safe_cuts_change_nothing(name, byte_level, text, characters):
    pretokenizer = make_pretokenizer(name, byte_level)
    pieces = cut_safely(text, characters)
    assert "".join(pieces) == text
    whole = [token for token, _ in pretokenizer.pre_tokenize_str(text)]
    assert [token for piece in pieces for token, _ in pretokenizer.pre_tokenize_str(piece)] == whole


def test_patterns_split_numbers_as_published():
    def split(name):
        return [token for token, _ in make_pretokenizer(name).pre_tokenize_str("12345 it's")]

    assert split("gpt2") == ["12345", "Ġit", "'s"]
    assert split("llama3") == ["123", "45", "Ġit", "'s"]


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_is_a_partition_of_real_text(name):
    tokens = make_pretokenizer(name).pre_tokenize_str(inspect.getsource(ast) + "\\frac{1}{23}，你好World")
    assert [span[0] for _, span in tokens[1:]] == [span[1] for _, span in tokens[:-1]]


@pytest.mark.parametrize(
    ("name", "text", "parts"),
    [
        ("llama3", "x = 12345", ["x", " =", " ", "123", "45"]),
        ("digits", "x = 12345", ["x", " =", " ", "1", "2", "3", "4", "5"]),
        ("cjk", "用Python写，你好のテスト！ok", ["用", "Python", "写", "，", "你好", "のテスト", "！", "ok"]),
        ("llama3", "用Python写，你好", ["用Python写", "，你好"]),
        ("code", "if a:\n        b_c()\n\tx", ["if", " a", ":\n", "        ", "b", "_c", "()\n", "\t", "x"]),
        ("latex", "$\\alpha_{12}\\\\\\%", ["$", "\\alpha", "_", "{", "1", "2", "}", "\\\\", "\\%"]),
    ],
)
def test_what_a_pattern_is_for(name, text, parts):
    found = make_pretokenizer(name, byte_level=False).pre_tokenize_str(text)
    assert [part for part, _ in found] == parts


def test_words_of_wordpiece():
    found = make_word_splitter().pre_tokenize_str("It's 12 你好\tok")
    assert [part for part, _ in found] == ["It", "'", "s", "12", "你", "好", "ok"]


@pytest.mark.parametrize("name", PATTERNS)
def test_known_patterns_allow_cuts(name):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = make_pretokenizer(name, byte_level=False)
    description = json.loads(tokenizer.to_str())
    assert allows_cuts(description)
    description["pre_tokenizer"]["pattern"]["Regex"] += "|x"
    assert not allows_cuts(description)


@pytest.mark.parametrize(
    ("change", "allowed"),
    [
        ({}, True),
        ({"content": "b\n\\"}, False),
        ({"lstrip": True}, False),
        ({"special": True, "lstrip": True}, True),
    ],
    ids=["word", "line break", "space in front", "special"],
)
def test_added_tokens_that_may_lie_on_a_cut_forbid_it(change, allowed):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = make_pretokenizer("llama3", byte_level=False)
    token = {"content": "b", "special": False, "lstrip": False}
    description = json.loads(tokenizer.to_str()) | {"added_tokens": [token | change]}
    assert allows_cuts(description) == allowed


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
