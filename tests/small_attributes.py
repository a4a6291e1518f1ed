"""A ledger by arithmetic beside the small shards: document n of "prose" has known measures, some have none."""

from __future__ import annotations

import math
from pathlib import Path

from danlu.account.ledger import Row, ledger_path
from danlu.account.writing import new_ledger

COLUMNS = ("perplexity.bucket", "gopher_quality.words")
LENGTHS = [5, 2, 9, 3, 30, 4, 7, 12, 6, 8]
LANGUAGES = ("en", "zh", "")


def bucket_of(number: int) -> float:
    """0, 1, 2 in turn; every fourth document was not measured."""
    return math.nan if number % 4 == 3 else float(number % 3)


def words_of(number: int) -> float:
    """Falling with the number, in pairs of equal ones."""
    return float(50 - number // 2)


def rows_of(domain: str, split: str, documents: int) -> list[Row]:
    """A row for each, and between them others of the same id that were dropped or are of another domain or split."""
    rows = []
    for n in range(documents):
        values = (bucket_of(n), words_of(n))
        told = {"language": LANGUAGES[n % 3], "values": values}
        place = (f"{domain}-{n}", domain, f"{domain}.txt", n, n + 1, n)
        rows.append(Row(2 * n, *place, split, kept_bytes=n, **told))
        other = {"values": (9.0, 9.0), "language": "xx"}
        if n % 2:
            rows.append(Row(2 * n + 1, *place, split, step="id", reason="id.repeated", **other))
        else:
            elsewhere = (f"{domain}-{n}", "other", "other.txt", n, n + 1, n)
            rows.append(Row(2 * n + 1, *elsewhere, split, kept_bytes=n, **other))
    return rows


def write_attributes(
    corpus: Path, rows: list[Row], columns: tuple[str, ...] = COLUMNS, parts: int = 2
) -> Path:
    """A ledger of these rows in several parts."""
    for part in range(parts):
        path = ledger_path(corpus, part)
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_ledger(path, columns) as writer:
            for row in rows[part::parts]:
                writer.add(row)
    return corpus
