"""A small tokenizer for the tests of this folder."""

import ast
import inspect

import pytest

from danlu.tokenizer.codec import Codec
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.train import train_tokenizer


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A tokenizer of 400 tokens, trained on a module of the standard library."""
    directory = tmp_path_factory.mktemp("tokenizer")
    return train_tokenizer(
        TokenizerSettings(vocab_size=400), lambda: iter([inspect.getsource(ast)]), directory
    )


@pytest.fixture(scope="session")
def codec(trained):
    return Codec.load(trained.path)
