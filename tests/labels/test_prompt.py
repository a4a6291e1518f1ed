"""Prompts with one place for the text, and answers that are taken at their word or not at all."""

import pytest

from danlu.errors import InputError
from danlu.labels.prompt import fill, read_answer, read_prompt, store_prompt


@pytest.mark.parametrize("scale", ["keep", "0-5"])
def test_our_prompts(scale, tmp_path):
    prompt = read_prompt(None, scale)
    assert "instruction to you" in prompt.text
    path = store_prompt(tmp_path, prompt)
    assert path.read_text() == prompt.text
    assert prompt.digest in path.name
    assert read_prompt(path, scale) == prompt
    assert store_prompt(tmp_path, prompt) == path


def test_a_text_is_filled_in_once(tmp_path):
    (tmp_path / "p.txt").write_text("Judge: {text} {other}")
    prompt = read_prompt(tmp_path / "p.txt", "keep")
    assert fill(prompt, "a {text} b", 100) == "Judge: a {text} b {other}"
    assert fill(prompt, "abcdef", 3) == "Judge: abc {other}"
    assert fill(prompt, "a\ud800\0河", 100) == "Judge: a?\0河 {other}"


@pytest.mark.parametrize("text", ["no place", "{text} and {text}", ""])
def test_a_prompt_has_one_place(tmp_path, text):
    (tmp_path / "p.txt").write_text(text)
    with pytest.raises(InputError, match="write it once"):
        read_prompt(tmp_path / "p.txt", "keep")
    with pytest.raises(InputError, match="cannot be read"):
        read_prompt(tmp_path / "none.txt", "keep")


@pytest.mark.parametrize(
    ("answer", "scale", "label"),
    [
        ("keep", "keep", "keep"),
        (" Drop.\n", "keep", "drop"),
        ("**KEEP**", "keep", "keep"),
        ("It explains a lot.\n\nVerdict: drop", "keep", "drop"),
        ("3", "0-5", 3),
        ("Educational score: 4", "0-5", 4),
        ("Some reasons.\nScore: 0.", "0-5", 0),
        ("", "keep", None),
        ("I would keep this", "keep", None),
        ("keep or drop", "keep", None),
        ("keep\nbecause it is good", "keep", None),
        ("6", "0-5", None),
        ("-1", "0-5", None),
        ("3.5", "0-5", None),
        ("3/5", "0-5", None),
        ("33", "0-5", None),
        ("٣", "0-5", None),
        ("three", "0-5", None),
        ("3", "keep", None),
        ("keep", "0-5", None),
        ("Score:" * 50_000, "0-5", None),
    ],
)
def test_answers(answer, scale, label):
    assert read_answer(answer, scale) == label
