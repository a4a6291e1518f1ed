"""Documents that are too short to teach anything, or too long to be one text.

Decides: by characters (code points) without the white space around the text. Costs: nothing measurable.
"""

from __future__ import annotations

from collections.abc import Sequence

from danlu.quality.settings import Length
from danlu.words.text import Measured, Text

MEASURES = ("characters",)


def measure(text: Text, settings: Length) -> Measured:  # noqa: ARG001
    """The length without surrounding white space."""
    return Measured(text, (float(len(text.text.strip())),))


def decide(values: Sequence[float], settings: Length) -> str:
    """Dropped outside [min_characters, max_characters]."""
    (characters,) = values
    if characters < settings.min_characters:
        return "too_short"
    return "too_long" if characters > settings.max_characters else ""
