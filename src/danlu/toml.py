"""TOML in and out: the tables of a file, the line that a key stands on, and tables as text again.

Guarantees: what is written reads back equal (tested by round trip); a file that cannot be read is named with the
reason. Costs: reading is the standard library's; finding a line is quadratic in the lines, and only errors pay it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from danlu.errors import MissingError, RecipeError

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def read_text(path: Path) -> str:
    """The source of a TOML file, without a byte order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise missing_recipe(path) from None
    except IsADirectoryError:
        raise RecipeError(f"{path} is a directory; name a recipe file") from None
    except UnicodeDecodeError as error:
        raise RecipeError(
            f"{path} is not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from None
    except OSError as error:
        raise RecipeError(f"cannot read {path}: {error.strerror}") from None


def missing_recipe(path: Path) -> MissingError:
    """The error for a recipe that is not there."""
    return MissingError(f"there is no recipe {path}; `danlu init {path}` writes one to start from")


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """The tables of TOML source; `path` is for the error only."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{path} is not valid TOML: {error}") from None


def find_line(text: str, path: Sequence[str | int]) -> int | None:
    """The line of TOML source that brings a key into being, else the innermost table around it; None without either.

    Parses ever longer heads of the text, so that arrays of tables, dotted and quoted keys, and strings over several
    lines are seen as TOML sees them. Quadratic in the lines, and paid by an error only.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    found: list[int] = []
    statement = 1
    for stop in range(1, len(lines) + 1):
        try:
            tables = tomllib.loads("\n".join(lines[:stop]))
        except tomllib.TOMLDecodeError:
            continue  # within a value of several lines
        found += [statement] * (_depth(tables, path) - len(found))
        if len(found) == len(path):
            break
        statement = stop + 1
    return found[-1] if found else None


def _depth(value: Any, path: Sequence[str | int]) -> int:
    """How many parts of the path exist in nested tables and arrays."""
    for depth, part in enumerate(path):
        known = range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ()
        if part not in known:
            return depth
        value = value[part]
    return len(path)


def write_toml(tables: Mapping[str, Any]) -> str:
    """Nested tables as TOML text: values first, then `[tables]` and `[[arrays of tables]]`, in the given order."""
    return "\n".join(_lines(tables, "")).lstrip("\n") + "\n"


def _lines(table: Mapping[str, Any], prefix: str) -> list[str]:
    lines: list[str] = []
    later: list[str] = []
    for key, value in table.items():
        name = f"{prefix}{_key(key)}"
        if isinstance(value, Mapping) and value:
            later += ["", f"[{name}]", *_lines(value, f"{name}.")]
        elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            for item in value:
                later += ["", f"[[{name}]]", *_lines(item, f"{name}.")]
        else:
            lines.append(f"{_key(key)} = {_value(value)}")
    return lines + later


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            # JSON's escapes are TOML's; TOML also forbids a bare DEL.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            inner = ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items())
            return f"{{ {inner} }}" if inner else "{}"
        case list() | tuple():
            return f"[{', '.join(_value(item) for item in value)}]"
    raise TypeError(f"TOML has no {type(value).__name__}")
