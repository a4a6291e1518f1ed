"""A condition of the user's own over quality signals: what it does not hold for is dropped.

Decides: by `danlu.expressions` over the names of `signals.py` and `language`; only the signals that are named are
measured, and a text for which one of them has no meaning is kept. The language is stored as a number, so that the
condition can be judged again from stored measures. Costs: those of the signals that it names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from danlu.expressions import Condition, read_condition
from danlu.quality.settings import LANGUAGE, SIGNALS, Expression
from danlu.quality.signals import measure_signals
from danlu.words.text import Measured, Text

MEASURES: tuple[str, ...] = (*SIGNALS, LANGUAGE)
REMEASURE = frozenset({"keep"})
"""What `decide` reads too, but a change of which changes what is measured."""

_LANGUAGE_LETTERS = 3
"""A code of ISO 639; its bytes are a number that even a 32-bit float holds exactly."""


def measure(text: Text, settings: Expression) -> Measured:
    """The signals that the expression names, else not a number; the language as a number."""
    named = [name for name in read(settings.keep).names if name != LANGUAGE]
    found = dict(zip(named, measure_signals(text, named), strict=True))
    return Measured(text, (*(found.get(name, math.nan) for name in SIGNALS), number_of(text.language)))


def decide(values: Sequence[float], settings: Expression) -> str:
    """ "" where the condition holds, or may hold by what was not measured; else the settings' reason."""
    condition = read(settings.keep)
    measured = dict(zip(MEASURES, values, strict=True))
    named = {
        name: language_of(measured[name]) if name == LANGUAGE else measured[name] for name in condition.names
    }
    return settings.reason if condition.fails(named) else ""


@cache
def read(keep: str) -> Condition:
    """The condition, read once a process."""
    return read_condition(keep, SIGNALS, (LANGUAGE,))


def number_of(language: str) -> float:
    """The code's bytes as a number: "en" of "en" and of "en-GB"; 0 for an unknown language."""
    code = language.partition("-")[0].encode("utf-8", "replace")[:_LANGUAGE_LETTERS]
    return float(int.from_bytes(code, "big"))


def language_of(number: float) -> str:
    """The code again; "" of what is no code's number."""
    if not 0 <= number < 256**_LANGUAGE_LETTERS:
        return ""
    return int(number).to_bytes(_LANGUAGE_LETTERS, "big").lstrip(b"\0").decode("utf-8", "replace")
