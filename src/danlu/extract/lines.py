"""Lines of the user's files of examples, names, words and addresses: UTF-8, plain or compressed, read one at a time.

Guarantees: a file that is missing, is not whole, is not UTF-8 or has an endless line is refused by name; nothing is
guessed. Costs: memory one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from danlu.errors import InputError
from danlu.extract.packed import BrokenStreamError, decompress
from danlu.formats.settings import COMPRESSIONS

MOST_LINE_BYTES = 100_000_000
_CHUNK_BYTES = 1 << 20


def without_compression(path: Path) -> Path:
    """The name of what is in a compressed file."""
    return path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a file with their ends, without a byte order mark. Raises InputError, naming the file and line."""
    number = 0
    try:
        for number, line in enumerate(_byte_lines(path), 1):
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except BrokenStreamError as error:
        raise InputError(f"{path} is {error.reason} ({error.detail}): bring a whole one") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, line {number}: not UTF-8 ({error.reason}); convert the file") from error


def _byte_lines(path: Path) -> Iterator[bytes]:
    codec = COMPRESSIONS.get(path.suffix.lower())
    with path.open("rb") as file:
        read = decompress(file.read, codec, str(path)) if codec else file.read
        rest = b""
        while chunk := read(_CHUNK_BYTES):
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line + b"\n"
            if len(rest) > MOST_LINE_BYTES:
                raise InputError(f"{path}: a line is longer than {MOST_LINE_BYTES} bytes")
        if rest:
            yield rest
