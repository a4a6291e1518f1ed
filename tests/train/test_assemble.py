"""A trainer is a function of recipe, seed and run directory."""

from pathlib import Path

import pytest
import torch

from danlu.attention import reference, sdpa
from danlu.errors import MissingError, RecipeError
from danlu.train.assemble import assemble, build, resolve_device
from small_run import recipe_and_plan


def test_first_weights_are_a_function_of_the_seed(prepared: Path) -> None:
    recipe, plan = recipe_and_plan(prepared)
    one, two = build(recipe, prepared, plan), build(recipe, prepared, plan)
    other = build(recipe.model_copy(update={"seed": 8}), prepared, plan)
    a, b, c = (dict(t.network.named_parameters())["embedding.weight"] for t in (one, two, other))
    assert a.equal(b)
    assert not a.equal(c)
    assert all(parameter.isfinite().all() for parameter in one.network.parameters())


def test_missing_tokenizer_is_an_error(small: Path) -> None:
    recipe, plan = recipe_and_plan(small)
    (small / "tokenizer" / "tokenizer.json").unlink()
    with pytest.raises(MissingError, match=r"tokenizer\.json"):
        assemble(recipe, small, plan)


def test_missing_shards_are_an_error(small: Path) -> None:
    recipe, plan = recipe_and_plan(small)
    (small / "tokens" / "train").rename(small / "tokens" / "elsewhere")
    with pytest.raises(MissingError, match="tokens"):
        assemble(recipe, small, plan)


def test_the_recipe_names_the_attention(prepared: Path) -> None:
    recipe, plan = recipe_and_plan(prepared)
    model = recipe.model.model_copy(update={"attention": "reference"})
    slow = build(recipe.model_copy(update={"model": model}), prepared, plan)
    fast = build(recipe, prepared, plan)
    assert slow.network.layers[0].attention.attend is reference.attend
    assert fast.network.layers[0].attention.attend is sdpa.attend


def test_device_that_is_not_there_is_refused(prepared: Path) -> None:
    recipe = recipe_and_plan(prepared)[0]
    train = recipe.train.model_copy(update={"device": "cuda"})
    if not torch.cuda.is_available():
        with pytest.raises(RecipeError, match="no GPU"):
            resolve_device(recipe.model_copy(update={"train": train}))
    assert resolve_device(recipe).type in ("cpu", "cuda")
