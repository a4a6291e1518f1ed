"""Personal data: the planted table by kind, what is found in texts that have little, speed, and adversarial texts.

The table is that of the tests. Of the texts each kind's items are counted by megabyte, with some of them shown in
their line, since nobody has labelled them: what is no personal data there is a mistake. A labelled file (JSON lines
with `query` and `gold`, 1 for texts with sensitive content) is counted by label. The speed is of one process.
Telephone numbers are looked for with the package phonenumbers too, where it is installed, in the same texts.

Run:  python benchmarks/pii.py TEXTS.jsonl ... [--labelled FILE] [--show 8] [--peer-megabytes 1]
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from machine import machine

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "pii"))
from planted_table import LISTS, read_table, score_table

from danlu.pii.find import find
from danlu.pii.names import load_names
from danlu.pii.settings import KINDS
from danlu.pii.view import Item
from danlu.words.text import Text

AROUND = 25
SEED = 1
ADVERSARIAL = (
    "a@",
    "1-",
    "7",
    ":",
    "://a:",
    "4111 ",
    "key=",
    "+",
    " ",
    "-----BEGIN PRIVATE KEY-----",
    "A123456(4)",
)


def open_text(path: Path) -> IO[str]:
    """A file, packed by gzip or not."""
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of JSON lines."""
    with open_text(path) as file:
        yield from map(json.loads, file)


def print_table() -> None:
    """Precision and recall by kind on the planted table."""
    with tempfile.TemporaryDirectory() as folder:
        for code, text in LISTS.items():
            (Path(folder) / code).write_text(text, encoding="utf-8")
        names = load_names({code: str(Path(folder) / code) for code in LISTS}, "")
        table = read_table()
        scores, mistakes = score_table(
            table, lambda text: {tuple(item) for item in find(Text(text), KINDS, names)}
        )
    print(f"planted table, {len(table)} sentences")
    for kind, score in sorted(scores.items()):
        planted = score.right + score.missed
        print(f"  {kind:16}{planted:5} planted  precision {score.precision:.3f}  recall {score.recall:.3f}")
    print("\n".join(mistakes))


def print_texts(path: Path, show: int, peer_megabytes: float) -> None:
    """What is found in a file's texts, how fast, and some of it."""
    texts = [row["text"] for row in read_rows(path)]
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6
    find(Text("warm up 1"), KINDS)
    start = time.process_time()
    found = [(text, item) for text in texts for item in find(Text(text), KINDS)]
    seconds = time.process_time() - start
    print(f"\n{path.name}: {size:.1f} MB, {size / seconds:.1f} MB/s")
    draw = random.Random(SEED)
    for kind, count in Counter(item.kind for _, item in found).most_common():
        print(f"  {kind:16}{count:6}  {count / size:8.2f} a MB")
        some = [pair for pair in found if pair[1].kind == kind]
        for text, item in draw.sample(some, min(show, len(some))):
            print(f"      {in_its_line(text, item)}")
    if find_spec("phonenumbers") and peer_megabytes:
        print_phone_peer(texts, peer_megabytes)


def in_its_line(text: str, item: Item) -> str:
    """An item with what stands around it."""
    before, after = text[max(0, item.start - AROUND) : item.start], text[item.end : item.end + AROUND]
    return (
        f"{before}⟦{text[item.start : item.end]}⟧{after}".replace("\n", "⏎")
        .encode("utf-8", "replace")
        .decode()
    )


def print_phone_peer(texts: list[str], megabytes: float) -> None:
    """The telephone numbers that phonenumbers takes for valid ones, beside ours, in the first megabytes."""
    import phonenumbers

    some, size = [], 0
    for text in texts:
        some.append(text)
        size += len(text.encode("utf-8", "surrogatepass"))
        if size > megabytes * 1e6:
            break
    start, theirs = time.process_time(), []
    for text in some:
        theirs += [(text, match.start, match.end) for match in phonenumbers.PhoneNumberMatcher(text, "US")]
    seconds = time.process_time() - start
    ours = {(text, item.start, item.end) for text in some for item in find(Text(text), ["phone"])}
    print(
        f"  phonenumbers (US, valid): {len(theirs)} in {size / 1e6:.1f} MB, {size / 1e6 / seconds:.2f} MB/s; ours"
    )
    print(f"  {len(ours)}, {sum(one in ours for one in theirs)} the same")
    for text, begin, end in theirs[:8]:
        if (text, begin, end) not in ours:
            print(f"      theirs alone: {in_its_line(text, Item(begin, end, 'phone'))}")


def print_labelled(path: Path) -> None:
    """In how many texts of each label something is found, and what."""
    texts: Counter[tuple[int, bool]] = Counter()
    kinds: Counter[tuple[int, str]] = Counter()
    for row in read_rows(path):
        items = find(Text(row["query"]), KINDS)
        texts[row["gold"], bool(items)] += 1
        kinds.update((row["gold"], item.kind) for item in items)
    print(f"\n{path.name}")
    for label in sorted({label for label, _ in texts}):
        all_kinds = {kind: count for (one, kind), count in kinds.items() if one == label}
        print(
            f"  label {label}: {texts[label, True] + texts[label, False]} texts, {texts[label, True]} with {all_kinds}"
        )


def print_adversarial() -> None:
    """Seconds for a megabyte of one thing over and over, and how often those for a sixteenth."""
    print("\n1 MB of the same, seconds, times those of 1/16 MB")
    for unit in ADVERSARIAL:
        whole = unit * ((1 << 20) // len(unit))
        seconds = []
        for text in (whole[: 1 << 16], whole):
            start = time.process_time()
            find(Text(text), KINDS)
            seconds.append(time.process_time() - start)
        print(f"  {unit!r:32}{seconds[1]:7.2f}  x{seconds[1] / seconds[0]:.0f}")


def main() -> None:
    """Prints all tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", nargs="*", type=Path, help="JSON lines with `text`, .gz or not")
    parser.add_argument("--labelled", type=Path)
    parser.add_argument("--show", type=int, default=8, help="items of each kind that are shown")
    parser.add_argument("--peer-megabytes", type=float, default=1.0, help="0: without phonenumbers")
    options = parser.parse_args()
    print(machine())
    print_table()
    for path in options.texts:
        print_texts(path, options.show, options.peer_megabytes)
    if options.labelled:
        print_labelled(options.labelled)
    print_adversarial()


if __name__ == "__main__":
    main()
