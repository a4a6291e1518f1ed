"""A trained run opened for questions."""

from pathlib import Path

import numpy as np
import pytest

from danlu.errors import MismatchError, MissingError
from danlu.train.limits import Limits
from danlu.train.loop import train
from danlu.train.session import open_session
from small_run import recipe_and_plan


def test_session_answers_for_the_step_that_is_asked(small: Path) -> None:
    recipe, plan = recipe_and_plan(small)
    train(recipe, small, plan, Limits(steps=12))
    session = open_session(recipe, small)
    assert (session.step, session.tokens) == (12, 12 * 512)
    earlier = open_session(recipe, small, 10)
    ids = [session.codec.bos_id, *session.codec.encode("def heap")]
    assert session.next_logits(ids).shape == (session.codec.vocab_size,)
    assert not np.array_equal(session.next_logits(ids), earlier.next_logits(ids))
    assert all(tensor.is_contiguous() for tensor in session.hf_tensors().values())
    with pytest.raises(MissingError, match="10, 12"):
        open_session(recipe, small, 11)


def test_swapped_tokenizer_is_refused(small: Path) -> None:
    recipe, plan = recipe_and_plan(small)
    train(recipe, small, plan, Limits(steps=1))
    path = small / "tokenizer" / "tokenizer.json"
    path.write_text(path.read_text() + "\n")
    with pytest.raises(MismatchError, match="not the tokenizer"):
        open_session(recipe, small)
