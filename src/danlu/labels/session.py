"""One labeller's sitting: a document is shown, a key labels it, and the next one comes.

Decides: k and d say keep and drop, 0 to 5 are points; s shows it again another time, u takes the last label back, also
one of an earlier sitting, q ends. Nothing is shown that might sway: not why a document was dropped, nor what others
said. Guarantees: a label is on the disk before the next document is shown; the same command goes on where it ended.
Costs: none that a person could notice.
"""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from danlu.errors import UsageError
from danlu.labels.sample import Drawn
from danlu.labels.settings import Scale
from danlu.labels.store import VALUES, Label, Value, add_label, read_labels, standing
from danlu.labels.terminal import END, MORE, Console, wrap
from danlu.log import visible

_CHROME_ROWS = 4
"""Rows of a page that are not text."""
_SKIP, _UNDO, _QUIT = "s", "u", "q"


@dataclass(frozen=True, slots=True)
class Sitting:
    """Who labels what on which scale, where the labels go, and a clock (UTC)."""

    path: Path
    scale: Scale
    who: str
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Tally:
    """What was done in a sitting, and what is left."""

    labelled: int
    """Documents with a label of this sitting that stands."""
    done: int
    """Documents of the draw that this labeller has labelled in all."""
    total: int
    torn: int
    """Lines of the file that an earlier crash tore: so many labels are lost."""


def name_of_labeller(given: str | None) -> str:
    """The name that labels carry. Raises UsageError where none is given and this user has none."""
    if given is not None:
        if not given.strip() or given.startswith("endpoint:") or visible(given) != given:
            raise UsageError(f"--name {visible(given)!r} is no name of a person; say one, e.g. --name mara")
        return given.strip()
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise UsageError("this user has no name here; say who labels, e.g. --name mara") from None


def label_documents(documents: Sequence[Drawn], sitting: Sitting, console: Console) -> Tally:
    """Asks for the labels that are missing until all are given, the labeller quits, or no more keys come."""
    stored = read_labels(sitting.path)
    own = standing(stored.labels, sitting.scale).get(sitting.who, {})
    places = {document.text_hash: place for place, document in enumerate(documents)}
    history = [places[key] for key in own if key in places]
    waiting = [place for place in range(len(documents)) if documents[place].text_hash not in own]
    done, fresh = set(history), set[int]()
    while waiting:
        place = waiting[0]
        key = _ask(documents[place], sitting.scale, console, f"{len(done) + 1} of {len(documents)}")
        if key in (_QUIT, END):
            break
        if key == _UNDO:
            if not history:
                console.write("There is nothing to take back.\n")
                continue
            console.write("undo\n")
            last = history.pop()
            if last in done:
                add_label(sitting.path, _label(documents[last], None, sitting))
            done.discard(last)
            fresh.discard(last)
            waiting = [last, *(other for other in waiting if other != last)]
            continue
        waiting.pop(0)
        history.append(place)
        if key != _SKIP:
            value = keys_of(sitting.scale)[key]
            add_label(sitting.path, _label(documents[place], value, sitting))
            done.add(place)
            fresh.add(place)
            console.write(f"{value}\n")
        else:
            console.write("skipped\n")
    return Tally(len(fresh), len(done), len(documents), stored.torn)


def keys_of(scale: Scale) -> dict[str, Value]:
    """The key of each label: the first letter or digit of it."""
    return {str(value)[0]: value for value in VALUES[scale]}


def _ask(document: Drawn, scale: Scale, console: Console, place: str) -> str:
    """Shows a document page by page until a key says what to do with it; returns that key."""
    # A key that was held down, or meant for the last one, would label what nobody has seen.
    console.forget_keys()
    console.write("\n".join(_heading(document, console.columns, place)) + "\n")
    lines = wrap(document.text, console.columns)
    known = {*keys_of(scale), _SKIP, _UNDO, _QUIT, END}
    # One line is read ahead, so that the last page does not promise more.
    rows, following = console.rows - _CHROME_ROWS, next(lines, None)
    while True:
        page = [] if following is None else [following, *islice(lines, rows - 1)]
        following = next(lines, None)
        console.write("".join(f"{line}\n" for line in page) + _prompt(scale, following is not None))
        while (key := console.key()) not in known:
            if key == MORE and following is not None:
                break
        if key in known:
            return key
        console.write("\n")


def _heading(document: Drawn, columns: int, place: str) -> Iterator[str]:
    """A rule with where the document is from; nothing of why it was kept or dropped."""
    about = visible(f" {place}: {document.domain}, {document.source}, {document.id} ")
    part = "" if document.whole else " (the beginning)"
    size = f"{len(document.text):,} characters{part} "
    yield ""
    yield f"--{about}"[: columns - 1].ljust(columns - 1, "-")
    yield f"{size}"[: columns - 1]


def _prompt(scale: Scale, more: bool) -> str:
    choices = "k keep, d drop" if scale == "keep" else "0-5"
    return f"[{choices}, s skip, u undo, q quit{', space more' if more else ''}] "


def _label(document: Drawn, value: Value | None, sitting: Sitting) -> Label:
    when = sitting.now().isoformat(timespec="seconds")
    return Label(
        *(document.number, document.id, document.domain, document.text_hash, value, sitting.who, when),
        scale=sitting.scale,
    )
