"""How a section of the recipe is declared, read and refused.

Decides: sections are frozen pydantic models that forbid unknown keys; sizes may be written "25M"; an error names the
file, the line where it can, the key and the nearest right name. Costs: pydantic's import, no torch.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from danlu.errors import RecipeError

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMBGT]?)", re.IGNORECASE)
_SCALE = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "G": 10**9, "T": 10**12}


class Section(BaseModel):
    """Base of every section: frozen, and unknown keys are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def parse_size(value: Any) -> Any:
    """ "25M" -> 25000000; decimal units K, M, B or G, T; whole results only."""
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise ValueError(f'{value!r} is not a size; write a number or e.g. "64K", "25M", "2B"')
    amount = float(match[1]) * _SCALE[match[2].upper()]
    if amount != round(amount):
        raise ValueError(f"{value!r} is not a whole number")
    return round(amount)


Size = Annotated[int, BeforeValidator(parse_size)]
"""A whole number that may be written with a unit: "64K", "25M", "2B"."""


def nearest(name: str, known: Sequence[str]) -> str:
    """The hint of an error about a name: the closest known one, else all of them."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(known))}"


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RecipeError(f"there is no recipe {path}; `danlu init` writes one") from None
    except IsADirectoryError:
        raise RecipeError(f"{path} is a directory; name a recipe file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path} is not valid TOML: {error}") from error


def apply_settings(tables: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Applies `section.key=value` texts over the recipe; a value is TOML, else taken as a string."""
    for setting in settings:
        key, sign, text = setting.partition("=")
        if not sign or not key.strip():
            raise RecipeError(f"--set {setting!r}: write section.key=value, e.g. --set train.tokens=2M")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        *path, last = key.strip().split(".")
        table = tables
        for name in path:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise RecipeError(f"--set {setting!r}: {name} is not a table")
        table[last] = value
    return tables


def find_line(text: str, path: Sequence[str | int]) -> int | None:
    """The line of a key in TOML source, by its table header and name; None where it cannot be told."""
    names = [part for part in path if isinstance(part, str)]
    nth = next((part for part in path if isinstance(part, int)), 0)
    table, seen = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?", line)
        if header:
            table = header[1]
            seen = seen + 1 if table == ".".join(names[:-1]) else 0
            if table == ".".join(names):
                return number
        key = re.match(r"\s*([\w.\-\"]+)\s*=", line)
        if not key:
            continue
        full = f"{table}.{key[1]}" if table else key[1]
        if full == ".".join(names) and (seen == 0 or seen == nth + 1 or line.startswith(" ")):
            return number
    return None


def refuse(error: ValidationError, model: type[BaseModel], path: Path | None, text: str) -> RecipeError:
    """pydantic's findings as one paragraph in the recipe's own terms."""
    found = []
    for item in error.errors(include_url=False):
        location = [part for part in item["loc"] if isinstance(part, (str, int))]
        key = ".".join(str(part) for part in location)
        if item["type"] == "extra_forbidden":
            known = keys_at(model, location[:-1])
            what = f"unknown key {key!r}; {nearest(str(location[-1]), known)}"
        else:
            message = item["msg"].removeprefix("Value error, ")
            what = f"{key}: {message}" if key else message
        line = find_line(text, location)
        found.append(f"{path}, line {line}: {what}" if path and line else f"{path}: {what}" if path else what)
    return RecipeError("\n".join(found))


def keys_at(model: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    """The keys that a table of the recipe may have."""
    for part in path:
        if isinstance(part, int) or part not in model.model_fields:
            continue
        annotation = model.model_fields[part].annotation
        models = [arg for arg in _flatten(annotation) if isinstance(arg, type) and issubclass(arg, BaseModel)]
        if models:
            model = models[0]
    return list(model.model_fields)


def _flatten(annotation: Any) -> list[Any]:
    args = getattr(annotation, "__args__", ())
    return [annotation, *(inner for arg in args for inner in _flatten(arg))]


def differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> list[str]:
    """What changed between two nested settings, as "key: old -> new" lines."""
    lines: list[str] = []
    for key in sorted({*old, *new}):
        name, before, after = f"{prefix}{key}", old.get(key), new.get(key)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            lines += differences(before, after, f"{name}.")
        elif before != after:
            lines.append(f"{name}: {before!r} -> {after!r}")
    return lines
