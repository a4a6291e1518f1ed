"""What a model is asked about a document, and what counts as its answer.

Decides: the prompt holds {text} once, where the beginning of the document goes; an answer is its last line, which holds
a label of the scale alone, or behind a word and a colon ("Score: 3"). Anything else is no answer. Guarantee: the prompt
that labels came from lies beside them, under its hash. Costs: nothing.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from danlu.errors import InputError
from danlu.files import write_bytes
from danlu.labels.settings import Scale
from danlu.labels.store import VALUES, Value

_FIELD = "{text}"
_ANSWER = re.compile(r"(?:[A-Za-z][A-Za-z ]{0,40}: ?)?([A-Za-z]+|[0-9]+)\.?")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The words of a prompt, and the hash that labels name it by."""

    text: str
    digest: str


def read_prompt(path: Path | None, scale: Scale) -> Prompt:
    """The prompt of a file; None: ours for the scale. Raises InputError where it has no {text}, or more than one."""
    place = path or Path(__file__).with_name(f"prompt_{scale}.txt")
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the prompt {place} cannot be read: {error}") from error
    if text.count(_FIELD) != 1:
        raise InputError(
            f"the prompt {place} has {_FIELD} {text.count(_FIELD)} times; write it once, where the document goes"
        )
    return Prompt(text, hashlib.sha256(text.encode()).hexdigest()[:16])


def store_prompt(folder: Path, prompt: Prompt) -> Path:
    """Writes a prompt beside the labels, named by its hash; returns where."""
    path = folder / f"prompt-{prompt.digest}.txt"
    if not path.exists():
        write_bytes(path, prompt.text.encode())
    return path


def fill(prompt: Prompt, text: str, max_characters: int) -> str:
    """What is sent about a document; a lone surrogate becomes "?"."""
    # Split, not replaced: a text that holds {text} itself stays as it is.
    before, _, after = prompt.text.partition(_FIELD)
    return f"{before}{text[:max_characters]}{after}".encode("utf-8", "replace").decode()


def read_answer(answer: str, scale: Scale) -> Value | None:
    """The label that an answer gives; None where it cannot be read."""
    lines = [line.strip().strip("*`_ ") for line in answer.splitlines() if line.strip()]
    match = _ANSWER.fullmatch(lines[-1]) if lines else None
    if match is None:
        return None
    said = match[1].lower()
    return next((value for value in VALUES[scale] if str(value) == said), None)
