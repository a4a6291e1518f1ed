"""How a section of the recipe is declared, and how what is wrong in it is said.

Decides: sections are frozen pydantic models that forbid unknown keys and non-finite numbers; sizes may be written
"25M"; `--set` goes over the recipe; an error names the file and line (or the `--set`), the key and the nearest right
name. Costs: pydantic's import, no torch; only an error pays for finding its line.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypeGuard, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from danlu.errors import RecipeError
from danlu.toml import find_line

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMBGT]?)", re.IGNORECASE)
_CALLS = ("use", "name", "domain")
"""The keys that say what one of several tables is called."""
_SCALE = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "G": 10**9, "T": 10**12}


class Section(BaseModel):
    """Base of every section: frozen, and unknown keys are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def is_changed(self, key: str) -> bool:
        """Whether a value is not the default; a resolved recipe names every key, so that naming says nothing."""
        return bool(getattr(self, key) != type(self).model_fields[key].get_default(call_default_factory=True))

    @model_validator(mode="before")
    @classmethod
    def _truth_is_no_number(cls, value: Any) -> Any:
        for name, item in value.items() if isinstance(value, dict) else ():
            field = cls.model_fields.get(name)
            if isinstance(item, bool) and field and bool not in _flatten(field.annotation):
                raise ValueError(f"{name} is not a switch: true and false have no meaning for it")
        return value


def parse_size(value: Any) -> Any:
    """ "25M" -> 25000000; decimal units K, M, B or G, T; whole results only."""
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise ValueError(f'{value!r} is not a size; write a number or e.g. "64K", "25M", "2B"')
    amount = Decimal(match[1]) * _SCALE[match[2].upper()]
    if amount != int(amount):
        raise ValueError(f"{value!r} is not a whole number")
    return int(amount)


Size = Annotated[int, BeforeValidator(parse_size)]
"""A whole number that may be written with a unit: "64K", "25M", "2B"."""


def nearest(name: str, known: Sequence[str]) -> str:
    """The hint of an error about a name: the closest known one, else all of them."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(known))}"


def apply_settings(tables: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Applies `section.key=value` texts over the recipe, in order; a value is TOML, else taken as a string.

    Of tables in a list the one that is called so is meant: `corpus.step.length.min_characters=50`.
    """
    for setting in settings:
        key, sign, text = setting.partition("=")
        if not sign or not key.strip() or not setting.isprintable():
            raise RecipeError(f"--set {setting!r}: write section.key=value, e.g. --set train.tokens=2M")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text.strip()
        *path, last = key.strip().split(".")
        table: Any = tables
        for name in path:
            table = _named(table, name, setting) if isinstance(table, list) else table.setdefault(name, {})
            if not isinstance(table, (dict, list)):
                raise RecipeError(f"--set {setting!r}: {name} is not a table; change it in the recipe file")
        if isinstance(table, list):
            raise RecipeError(
                f"--set {setting!r}: name one of the tables, e.g. corpus.step.length.min_characters=50"
            )
        table[last] = value
    return tables


def _named(tables: list[Any], name: str, setting: str) -> dict[str, Any]:
    """The one of several tables that is called by its step, domain or name."""
    known = [table for table in tables if isinstance(table, dict)]
    found = [table for table in known if name in (table.get(call) for call in _CALLS)]
    if len(found) != 1:
        names = dict.fromkeys(str(table[call]) for table in known for call in _CALLS if call in table)
        why = (
            f"several tables are called {name!r}"
            if found
            else f"none is called {name!r}; {nearest(name, list(names))}"
        )
        raise RecipeError(f"--set {setting!r}: {why}; change it in the recipe file")
    return found[0]


@dataclass(frozen=True)
class Origin:
    """Where a recipe came from: its file, the text of it, and the `--set` settings over it."""

    path: Path | None = None
    text: str = ""
    settings: tuple[str, ...] = ()

    def place(self, key: Sequence[str | int], finding: str = "") -> str:
        """Where a key was given, to begin an error with: "FILE, line N: ", "--set KEY=VALUE: ", or nothing.

        A finding about a whole table is about those of its keys that it names.
        """
        names = ".".join(part for part in key if isinstance(part, str))
        line = find_line(self.text, key)
        named = re.findall(r"\w+", finding)
        for setting in reversed(self.settings):
            name = setting.partition("=")[0].strip()
            is_within = name.startswith(f"{names}.")
            if f"{names}.".startswith(f"{name}.") or (
                is_within and (line is None or name.rpartition(".")[2] in named)
            ):
                return f"--set {setting}: "
        if self.path is None:
            return ""
        return f"{self.path}, line {line}: " if line else f"{self.path}: "


def refuse(error: ValidationError, model: type[BaseModel], origin: Origin) -> RecipeError:
    """pydantic's findings as one paragraph in the recipe's own terms, one line a key."""
    found: dict[str, str] = {}
    for item in error.errors(include_url=False):
        key, table = _in_recipe(model, item["loc"])
        name, what = spell(key), _explain(item, key, model, table)
        # A union reports every branch that failed: they are one finding about one key.
        if name in found:
            found[name] += f", or: {what}"
        else:
            found[name] = origin.place(key, what) + (f"{name}: {what}" if name else what)
    return RecipeError("\n".join(found.values()))


def spell(key: Sequence[str | int]) -> str:
    """A key's path as a user reads it: corpus.source[1].domain."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).removeprefix(".")


def _explain(item: Any, key: Sequence[str | int], model: type[BaseModel], table: Sequence[str]) -> str:
    """What is wrong with one key and what to write instead."""
    context = item.get("ctx", {})
    match item["type"]:
        case "extra_forbidden":
            return f"unknown key {key[-1]!r}; {_nearest_key(str(key[-1]), model, table)}"
        case "missing":
            return "is missing"
        case "union_tag_invalid":
            known = re.findall(r"'([^']*)'", context["expected_tags"])
            return f"use = {context['tag']!r} is not known; {nearest(context['tag'], known)}"
        case "union_tag_not_found":
            return 'use is missing; it says what the step does, e.g. use = "length"'
        case "value_error":
            return str(item["msg"]).removeprefix("Value error, ")
    message = str(item["msg"])
    return f"{message[0].lower()}{message[1:]}, not {item['input']!r}"


def _nearest_key(name: str, model: type[BaseModel], table: Sequence[str]) -> str:
    """A near name in the same table, else the same name in another one, else what the table knows."""
    homes = [path for path in key_paths(model) if path.endswith(f".{name}")]
    if homes and not difflib.get_close_matches(name, table, n=1, cutoff=0.8):
        return f"did you mean {' or '.join(homes)}?"
    return nearest(name, table)


def choices(model: type[BaseModel], key: Sequence[str]) -> list[str]:
    """The words that a key takes; `key` is its path without the numbers of arrays."""
    annotations: list[Any] = [model]
    for name in key:
        sections = [section for annotation in annotations for section in _models(annotation)]
        annotations = [
            section.model_fields[name].annotation for section in sections if name in section.model_fields
        ]
    parts = [part for annotation in annotations for part in _flatten(annotation)]
    return list(dict.fromkeys(part for part in parts if isinstance(part, str)))


def refuse_not_yet(
    tables: Mapping[str, Any], model: type[BaseModel], planned: Mapping[str, Sequence[str]], origin: Origin
) -> None:
    """Raises RecipeError for a word that a key will take one day, naming those that it takes now.

    `planned`: the dotted path of a key -> such words.
    """
    for name, words in planned.items():
        names = name.split(".")
        for key, value in find_values(tables, names):
            if isinstance(value, str) and value in words:
                supported = ", ".join(choices(model, names))
                raise RecipeError(
                    f"{origin.place(key)}{spell(key)} = {value!r} is not supported yet; supported: {supported}"
                )


def find_values(
    value: Any, names: Sequence[str], path: tuple[str | int, ...] = ()
) -> Iterator[tuple[Any, Any]]:
    """(path, value) of a key in nested tables and in every element of arrays of tables."""
    if not names:
        yield path, value
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from find_values(item, names, (*path, number))
    elif isinstance(value, dict) and names[0] in value:
        yield from find_values(value[names[0]], names[1:], (*path, names[0]))


def key_paths(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every key of a section and of those in it: train.tokens, corpus.source[].paths, corpus.step[exact].use, and with
    "*" for a name that the user chooses: mixture.slice.*.of.
    """
    for name, field in model.model_fields.items():
        sections = _models(field.annotation)
        if not sections:
            yield f"{prefix}{name}"
        for section in sections:
            array = f"[{_tag(section) or ''}]" if _holds(field.annotation, list) else ""
            named = ".*" if _holds(field.annotation, dict) else ""
            yield from key_paths(section, f"{prefix}{name}{array}{named}.")


def _in_recipe(model: type[BaseModel], location: Sequence[str | int]) -> tuple[list[str | int], list[str]]:
    """pydantic's location as a path in the recipe, and the keys of the table that its last part stands in.

    pydantic adds what is not in the file: the tag of a discriminated union and the branch of a plain one.
    """
    path: list[str | int] = []
    known: list[str] = []
    annotation: Any = model
    for part in location:
        models = _models(annotation)
        fields = {name: field for section in models for name, field in section.model_fields.items()}
        if isinstance(part, int):
            path.append(part)
        elif part in fields:
            path, known = [*path, part], list(fields)
            annotation = fields[part].annotation
        elif tagged := [section for section in models if _tag(section) == part]:
            annotation = tagged[0]
        elif models or _holds(annotation, dict):
            path, known = [*path, part], list(fields)
    return path, known


def _tag(section: type[BaseModel]) -> str | None:
    """The value of `use` that chooses this section among several."""
    use = section.model_fields.get("use")
    return get_args(use.annotation)[0] if use else None


def _models(annotation: Any) -> list[type[BaseModel]]:
    return [part for part in _flatten(annotation) if isinstance(part, type) and issubclass(part, BaseModel)]


def _holds(annotation: Any, kind: type) -> bool:
    return any(getattr(part, "__origin__", part) is kind for part in _flatten(annotation))


def _flatten(annotation: Any) -> list[Any]:
    return [annotation, *(inner for arg in get_args(annotation) for inner in _flatten(arg))]


def differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> list[str]:
    """What changed between two nested settings, as "key: old -> new" lines; tables of a list by their names."""
    lines: list[str] = []
    for key in sorted({*old, *new}):
        name, before, after = f"{prefix}{key}", old.get(key), new.get(key)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            lines += differences(before, after, f"{name}.")
        elif before != after and _are_tables(before) and _are_tables(after):
            lines += _between_lists(before, after, name)
        elif before != after:
            lines.append(f"{name}: {before!r} -> {after!r}")
    return lines


def _are_tables(value: Any) -> TypeGuard[list[Mapping[str, Any]]]:
    return isinstance(value, list) and all(isinstance(item, Mapping) for item in value)


def _between_lists(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]], name: str
) -> list[str]:
    then, now = (
        [str(next((item[key] for key in _CALLS if key in item), place)) for place, item in enumerate(items)]
        for items in (old, new)
    )
    lines: list[str] = []
    for what, a, b, c, d in difflib.SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        if what == "equal":
            for before, after, call in zip(old[a:b], new[c:d], then[a:b], strict=True):
                lines += differences(before, after, f"{name}.{call}.")
            continue
        lines += [f"{name}: without {call} now" for call in then[a:b]]
        lines += [f"{name}: with {call} now" for call in now[c:d]]
    return lines
