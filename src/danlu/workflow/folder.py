"""`danlu run FOLDER`: a recipe for a folder of text as it is. A subfolder is a domain; sizes follow from the text.

Decides: vocabulary, network, length and batch by simple rules of how much text there is and how many cores will work
on it; each rule's reason stands as a comment beside the number that it gave. Guarantee: the recipe is written once,
to runs/NAME/folder.toml, and is the user's from then on; it is reused, never rewritten. Costs: one listing.
"""

from __future__ import annotations

import glob
import json
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from danlu.config import apply_settings
from danlu.corpus.split import share_above, split_point
from danlu.errors import InputError, MismatchError
from danlu.files import write_bytes
from danlu.log import human_bytes, say
from danlu.plan.sizes import Sizes, choose_sizes
from danlu.recipe import Recipe, load, parse
from danlu.workflow.run import RUNS, Run, is_run, open_run, resolve

PLAIN = (".txt", ".md")
READABLE = (*PLAIN, ".jsonl", ".parquet")
_PACKED = (".gz", ".zst")
_PACKED_RATIO = 3
"""Typical bytes of text in a byte of compressed text."""
_FEW_FILES = 20


@dataclass(frozen=True)
class Domain:
    """The readable files of one domain: where they lie under the folder, and how many bytes of text they may hold."""

    name: str
    place: str
    """The subfolder, or "" for the files at the top."""
    suffixes: tuple[str, ...]
    files: tuple[str, ...]
    text_bytes: int

    @property
    def document(self) -> str:
        """One document a file; where a few files are all there is, a paragraph, so that the text can be split."""
        plain = all(suffix.startswith(PLAIN) for suffix in self.suffixes)
        return "blank_line" if plain and len(self.files) < _FEW_FILES else "file"

    @property
    def first_share(self) -> float:
        """The validation share from which on a whole file of the domain is held out."""
        return share_above(min(map(split_point, self.files))) if self.document == "file" else 0.0


def resolve_folder(target: str, settings: Sequence[str] = (), runs: Path = RUNS, write: bool = True) -> Run:
    """The run of a folder of text, by the recipe that is made of it once; anything else is left to `resolve`."""
    folder = Path(target)
    if not folder.is_dir() or is_run(folder):
        return resolve(target, settings, runs)
    folder = folder.resolve()
    given = [text.split("=", 1)[1].strip() for text in settings if text.startswith("name=")]
    name = given[-1] if given else _name(folder.name)
    path = runs / name / "folder.toml"
    domains = find_domains(folder)
    if path.exists():
        recipe = load(path, settings)
        _check_same_folder(recipe, path, folder, domains)
        say(f"recipe: {path}, as it was made of {folder}")
    elif write:
        write_bytes(path, recipe_of_folder(folder, name, domains).encode())
        recipe = load(path, settings)
        say(f"recipe: wrote {path}; it is yours to edit, and the same command uses it again")
    else:
        recipe = parse(apply_settings(tomllib.loads(recipe_of_folder(folder, name, domains)), settings))
    return open_run(recipe, folder, runs)


def find_domains(folder: Path) -> list[Domain]:
    """The domains of a folder: its subfolders with text in them, and the files at its top."""
    found: dict[str, list[Path]] = {}
    other: Counter[str] = Counter()
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if any(part.startswith(".") for part in parts) or not path.is_file():
            continue
        if _suffix(path):
            found.setdefault(parts[0] if len(parts) > 1 else "", []).append(path)
        else:
            other[path.suffix or "without extension"] += 1
    kinds = ", ".join(
        f"{count} {kind}" for kind, count in sorted(other.items(), key=lambda item: (-item[1], item[0]))
    )
    if not found:
        raise InputError(
            f"{folder} has no text that danlu reads ({', '.join(READABLE)}, also as .gz or .zst); "
            + (f"it has: {kinds}" if kinds else "it has no file at all")
        )
    if other:
        say(f"note: not read in {folder}: {kinds}")
    top = _name(folder.name)
    domains: list[Domain] = []
    for place, paths in found.items():
        name = _name(place) if place else (top if top not in map(_name, found) else "main")
        taken = {domain.name for domain in domains}
        if name in taken:
            raise InputError(f"two folders in {folder} would both be the domain {name!r}; rename one of them")
        domains.append(_domain(folder, name, place, paths))
    return domains


def recipe_of_folder(folder: Path, name: str, domains: Sequence[Domain] | None = None) -> str:
    """The text of a recipe for the folder, with the reason of every choice."""
    domains = find_domains(folder) if domains is None else domains
    total = sum(domain.text_bytes for domain in domains)
    sizes = choose_sizes(total, min(domain.text_bytes for domain in domains))
    share = max(_least_share(total), *(domain.first_share for domain in domains))
    lines = [
        f"# Made by `danlu run` of {folder}: about {human_bytes(total)} of text in {len(domains)} domain(s).",
        "# It is yours to edit: the same command uses this file again.",
        "",
        f'name = "{name}"',
        "",
        "[corpus]",
        f"validation_share = {round(share, 4)}  # so that every domain holds some text out to be measured on",
    ]
    for domain in domains:
        lines += _source(folder, domain)
    return "\n".join([*lines, *_sizes(sizes)]) + "\n"


def _source(folder: Path, domain: Domain) -> list[str]:
    place = f"{glob.escape(str(folder / domain.place))}/{'**/' if domain.place else ''}*"
    paths = [place + suffix for suffix in domain.suffixes]
    why = (
        "each paragraph: there are few files, and some text must be held out"
        if domain.document == "blank_line"
        else "each file"
    )
    return [
        "",
        "[[corpus.source]]",
        f'domain = "{domain.name}"  # {len(domain.files)} file(s), about {human_bytes(domain.text_bytes)}',
        f"paths = [{', '.join(map(_quoted, paths))}]",
        f'document = "{domain.document}"  # {why}',
    ]


def _sizes(sizes: Sizes) -> list[str]:
    rows = (
        ("tokenizer", "vocab_size", sizes.vocab_size),
        ("model", "size", sizes.model_size),
        ("train", "minutes", sizes.minutes),
        ("train", "sequence_length", sizes.sequence_length),
        ("train", "batch_tokens", sizes.batch_tokens),
        ("plan", "max_tokens", sizes.max_tokens),
        ("optimizer", "kind", '"muon"'),
        ("checkpoint", "every_minutes", 2),
    )
    lines, section = [], ""
    for table, key, value in rows:
        if table != section:
            lines += ["", f"[{table}]"]
            section = table
        lines.append(f"{key} = {value}  # {sizes.reasons[f'{table}.{key}']}")
    return lines


def _check_same_folder(recipe: Recipe, path: Path, folder: Path, domains: Sequence[Domain]) -> None:
    start = glob.escape(str(folder)) + "/"
    if not any(pattern.startswith(start) for source in recipe.corpus.source for pattern in source.paths):
        raise MismatchError(
            f"{path} was made of another folder than {folder}. Give this one its own run: "
            f"danlu run {folder} --set name=ANOTHER"
        )
    known = {source.domain for source in recipe.corpus.source}
    for domain in domains:
        if domain.name not in known:
            say(
                f"note: {path} does not read {domain.place or 'the files at the top'}: add a source, or delete it"
            )


def _domain(folder: Path, name: str, place: str, paths: Sequence[Path]) -> Domain:
    names = tuple(path.relative_to(folder).as_posix() for path in paths)
    suffixes = tuple(sorted({_suffix(path) for path in paths}))
    text_bytes = sum(path.stat().st_size * (_PACKED_RATIO if path.suffix in _PACKED else 1) for path in paths)
    if text_bytes == 0:
        raise InputError(f"the text files in {folder / place} are all empty")
    return Domain(name, place, suffixes, names, text_bytes)


def _suffix(path: Path) -> str:
    """The readable extension of a file, with its compression; "" if danlu does not read it."""
    packed = path.suffix if path.suffix in _PACKED else ""
    kind = Path(path.name.removesuffix(packed)).suffix
    return kind + packed if kind in READABLE else ""


def _least_share(text_bytes: int) -> float:
    """Enough text for a steady measurement, about a megabyte, but neither none nor a tenth."""
    return min(0.05, max(0.005, 1e6 / text_bytes))


def _name(text: str) -> str:
    return re.sub(r"[^\w.\-]+", "-", text).strip("-.") or "text"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
