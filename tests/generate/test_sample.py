"""Continuation: reproducible, never half a character, never BOS or padding, ends at the end of a text."""

import numpy as np
import pytest

from danlu.errors import DivergedError
from danlu.generate.sample import draw, generate, stream


class Bytes:
    """A tokenizer whose ids are 3 + byte."""

    bos_id, eos_id, pad_id = 0, 1, 2

    def encode(self, text: str) -> list[int]:
        return [3 + byte for byte in text.encode()]

    def decode(self, ids) -> str:
        return bytes(i - 3 for i in ids if i >= 3).decode("utf-8", "replace")


class Gpt2Bytes(Bytes):
    bos_id = pad_id = 1


def script(text: bytes, prompt_length: int, end: bool = False):
    """Logits that spell a text after a prompt."""

    def next_logits(ids: list[int]) -> np.ndarray:
        at = len(ids) - 1 - prompt_length
        logits = np.zeros(259, dtype=np.float32)
        if at < len(text):
            logits[3 + text[at]] = 50
        elif end:
            logits[1] = 50
        return logits

    return next_logits


def test_greedy_takes_the_likeliest_and_stops_at_the_end():
    spelled = script(b"world", len("hello "), end=True)
    assert generate(spelled, Bytes(), "hello ", 100, temperature=0.0) == "world"
    assert generate(spelled, Bytes(), "hello ", 3, temperature=0.0) == "wor"
    assert generate(spelled, Bytes(), "hello ", 0, temperature=0.0) == ""


def test_an_end_that_is_also_the_beginning_still_ends():
    assert generate(script(b"ab", 0, end=True), Gpt2Bytes(), "", 100, temperature=0.0) == "ab"


def test_the_network_sees_bos_prompt_and_what_was_drawn():
    seen = []

    def next_logits(ids):
        seen.append(list(ids))
        return script(b"xy", 1)(ids)

    generate(next_logits, Bytes(), "p", 2, temperature=0.0)
    assert seen == [[0, 3 + ord("p")], [0, 3 + ord("p"), 3 + ord("x")]]


def test_bos_and_padding_are_never_drawn():
    logits = np.full(259, -5.0)
    logits[[0, 2]] = 50.0
    text = generate(lambda ids: logits, Bytes(), "", 200, seed=3)
    assert text
    assert (logits[[0, 2]] == 50.0).all()


def test_pieces_are_whole_characters():
    text = "aé中👩‍🔬z"
    data = text.encode()
    pieces = list(stream(script(data, 0), Bytes(), "", len(data), temperature=0.0))
    assert "".join(pieces) == text
    assert pieces == list(text)


def test_bytes_that_are_no_character_are_shown_at_last():
    data = b"a\xff\xfeb\xe4\xb8"
    pieces = list(stream(script(data, 0), Bytes(), "", len(data), temperature=0.0))
    assert "".join(pieces) == data.decode("utf-8", "replace")
    assert pieces[-1] == "\ufffd"


def test_same_seed_same_text_other_seed_other_text():
    def even(ids):
        return np.zeros(259)

    first = generate(even, Bytes(), "p", 20, seed=1)
    assert generate(even, Bytes(), "p", 20, seed=1) == first
    assert generate(even, Bytes(), "p", 20, seed=2) != first
    assert first.startswith(generate(even, Bytes(), "p", 5, seed=1).rstrip("\ufffd"))


def test_frequencies_follow_the_softmax():
    logits = np.log(np.array([0.1, 0.2, 0.7]))
    drawn = np.bincount([draw(logits, 1.0, seed, 0) for seed in range(1500)], minlength=3) / 1500
    np.testing.assert_allclose(drawn, [0.1, 0.2, 0.7], atol=0.04)
    sharp = np.bincount([draw(logits, 0.5, seed, 0) for seed in range(1500)], minlength=3) / 1500
    np.testing.assert_allclose(sharp, np.array([0.01, 0.04, 0.49]) / 0.54, atol=0.04)


@pytest.mark.parametrize("bad", [[0.0, np.nan], [0.0, np.inf], [-np.inf, -np.inf]])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_that_are_not_finite_are_an_error(bad, temperature):
    with pytest.raises(DivergedError, match="not finite at token 4"):
        draw(np.array(bad), temperature, 1, 4)
