"""A run's shards as a folder for another trainer: pairs of every domain, with the tokenizer that wrote their ids.

Decides which folder may be written into: a new or empty one, or an earlier export with the same tokenizer, all of whose
files are known by the cards beside the pairs. Guarantees: nothing of a refused folder is touched; a folder holds the
pairs of one tokenizer and, once the export is done, of one run; an export that was cut off goes on with the same
command. Costs: those of the pairs; the folder is listed, and cards are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from danlu.errors import DamagedError, UsageError
from danlu.files import TEMPORARY, disk_errors, read_json, sha256_file, write_bytes
from danlu.log import say
from danlu.shards.documents import SPLITS
from danlu.shards.megatron import CARD, FORMAT, NAMES, Card, beside, export_pairs
from danlu.tokenizer.codec import Codec

TOKENIZER = "tokenizer.json"
_ENDINGS = ("idx", "bin", NAMES, CARD)
"""Of the files of a pair, in the order in which they are removed: without the card the others are not known."""


def export_tokens(tokens: Path, tokenizer: Path, folder: Path) -> list[tuple[Path, Card]]:
    """Every domain of a run's tokens/ as FOLDER/<split>/<domain>.bin and .idx, and FOLDER/tokenizer.json.

    An earlier export of the same tokenizer is replaced, and its pairs of domains that are gone are removed. Raises
    UsageError for a folder with anything else in it, or that cannot be made.
    """
    codec = Codec.load(tokenizer)
    with _usable(folder):
        cards = _cards(folder)
        _refuse_foreign(folder, cards)
        _refuse_another_tokenizer(folder, cards, codec)
        folder.mkdir(parents=True, exist_ok=True)
    _remove_temporaries(folder)
    write_bytes(folder / TOKENIZER, tokenizer.read_bytes())
    written = export_pairs(tokens, codec, folder)
    kept = {prefix for prefix, _ in written}
    for prefix in cards:
        if prefix not in kept:
            say(f"  {prefix} is removed: the run has no such domain now")
            _remove_pair(prefix)
    return written


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    """What the system says of a folder that cannot be listed or made."""
    try:
        with disk_errors(folder):
            yield
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise UsageError(f"{folder} cannot be a folder to export to: {why}; name another one") from error


def _cards(folder: Path) -> dict[Path, Card]:
    """The pairs of a folder that danlu wrote, whole or not: prefix -> card."""
    found = {}
    for split in SPLITS:
        for path in sorted((folder / split).glob(f"*.{CARD}")):
            prefix = path.with_name(path.name.removesuffix(f".{CARD}"))
            card = _read_card(path)
            if card is not None and card.domain == prefix.name and card.format == FORMAT:
                found[prefix] = card
    return found


def _read_card(path: Path) -> Card | None:
    try:
        return Card(**read_json(path))
    except (DamagedError, TypeError):
        return None


def _refuse_foreign(folder: Path, cards: dict[Path, Card]) -> None:
    """Anything that an export did not write is the user's own."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder to export to")
    known = {folder / TOKENIZER, *(beside(prefix, ending) for prefix in cards for ending in _ENDINGS)}
    for path in _entries(folder):
        if path not in known and not _is_temporary(path):
            raise UsageError(
                f"{folder} holds {path.relative_to(folder)}, which is not of an earlier export of tokens; "
                f"name an empty or new folder"
            )


def _refuse_another_tokenizer(folder: Path, cards: dict[Path, Card], codec: Codec) -> None:
    found = {beside(prefix, CARD): card.tokenizer_sha256 for prefix, card in cards.items()}
    if (folder / TOKENIZER).is_file():
        found[folder / TOKENIZER] = sha256_file(folder / TOKENIZER)
    for path, sha256 in found.items():
        if sha256 != codec.sha256:
            raise UsageError(
                f"{folder} has the tokenizer {sha256[:12]} (SHA-256, of {path.relative_to(folder)}), this run has "
                f"{codec.sha256[:12]}: their ids would be mixed. Name an empty or new folder, or remove that one first"
            )


def _entries(folder: Path) -> Iterator[Path]:
    """What lies in a folder and in its splits; nothing deeper, so that a wrong folder is refused at once."""
    for path in sorted(folder.iterdir()):
        if path.name in SPLITS and path.is_dir():
            yield from sorted(path.iterdir())
        else:
            yield path


def _is_temporary(path: Path) -> bool:
    """Whether a kill left it while a file of an export was written."""
    name = path.name.removeprefix(TEMPORARY)
    ours = name == TOKENIZER or name.endswith(tuple(f".{ending}" for ending in _ENDINGS))
    return ours and name != path.name and path.is_file()


def _remove_temporaries(folder: Path) -> None:
    for path in _entries(folder):
        if _is_temporary(path):
            path.unlink()


def _remove_pair(prefix: Path) -> None:
    for ending in _ENDINGS:
        beside(prefix, ending).unlink(missing_ok=True)
    if not any(prefix.parent.iterdir()):
        prefix.parent.rmdir()
