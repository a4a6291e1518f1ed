"""Documents that are too short to teach anything, or too long to be one text.

Decides: by characters (code points) without the white space around the text. Costs: nothing measurable.
"""

from __future__ import annotations

from danlu.quality.settings import Length
from danlu.quality.verdict import Dropped, Kept, Verdict


def check_length(text: str, settings: Length) -> Verdict:
    """Dropped outside [min_characters, max_characters]."""
    characters = len(text.strip())
    if characters < settings.min_characters:
        return Dropped("length.too_short")
    if characters > settings.max_characters:
        return Dropped("length.too_long")
    return Kept(text)
