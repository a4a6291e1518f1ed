"""spaCy's blank English, the reference of the exact splitter."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest

PIECES = [
    *(
        "hello",
        "World",
        "foo",
        "AB",
        "U.S",
        "e.g",
        "don't",
        "cannot",
        "Mt.",
        "a.m.",
        "10a.m.",
        "he's",
        "x",
        "C",
        "K",
    ),
    *("5", "10", "5km", "3m²", "US$", "C$", "A$", "$", "€", "%", "°C.", "km/h", "اكواب", "0.0", "4.5"),
    *(
        ":)",
        ":-(",
        "):",
        "<3",
        "o.O",
        "(╯°□°）╯︵┻━┻",
        "><(((*>",
        "'s",
        "’S",
        "''",
        "—",
        "…",
        "……",
        "..",
        "...",
    ),
    *(
        "http://",
        "www.",
        "ab.com",
        ".co.uk",
        "user@",
        ":80",
        "/path",
        "?q=1",
        "10.0.0.1",
        "8.8.8.8",
        "172.16.1.1",
    ),
    *"+-*^.,~–—:<>=/'\"()[]{}_#&!?;@\\|`%é中。、ー１٣𠀀😀«»",
    *("\u0301", "\u200b", "\ufeff", "\x00", "\u01bb", "\u01c5", "\u3004"),
]
SPACES = ["", "", "", "", "", "", " ", " ", "  ", "\n", " \n", "\r\n", "\t", "\u00a0", "\x1c", "\u2028"]


@pytest.fixture(scope="session")
def spacy_english() -> Any:
    """The pipeline with a sentencizer, as the published filters use it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import spacy

        pipeline = spacy.blank("en")
        pipeline.add_pipe("sentencizer")
    return pipeline


@pytest.fixture
def texts() -> Callable[..., list[str]]:
    """Makes texts of what the rules of English look at, the same ones for the same seed."""

    def make(count: int, longest: int, spaces: bool = True, seed: int = 0) -> list[str]:
        draw = random.Random(seed)
        gaps = SPACES if spaces else [""]
        return [
            "".join(draw.choice(PIECES) + draw.choice(gaps) for _ in range(draw.randint(1, longest)))
            for _ in range(count)
        ]

    return make
