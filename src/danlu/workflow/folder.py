"""`danlu run FOLDER`: a recipe for a folder of text as it is. A subfolder is a domain; sizes follow from the text.

Decides: vocabulary, network, length and batch by simple rules of how much text there is and how many cores will work
on it; each rule's reason stands as a comment beside the number that it gave. Guarantee: the recipe is written once,
to runs/NAME/folder.toml, and is the user's from then on; it is reused, never rewritten. Costs: one listing.
"""

from __future__ import annotations

import glob
import json
import math
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from danlu.config import apply_settings
from danlu.corpus.split import share_above, split_point
from danlu.errors import InputError, MismatchError, UsageError
from danlu.files import write_bytes
from danlu.formats.settings import COMPRESSIONS, FORMATS, MARKED_UP, WHOLE, Family, format_of, formats_in
from danlu.log import human_bytes, say
from danlu.plan.sizes import Sizes, choose_sizes
from danlu.recipe import Recipe, load, parse
from danlu.workflow.run import RUNS, Run, is_run, open_run, resolve

PLAIN = formats_in(Family.PLAIN)
_PACKED_RATIO = 3
"""Typical bytes of text in a byte of compressed text."""
_MARKUP_RATIO = 1 / 3
"""Typical bytes of text in a byte of what is marked up."""
_FEW_FILES = 20
_MOST_HELD_OUT = 0.2
_PROMPT_WORDS = 4
_PROMPT = "The"
"""Where no plain text lies open to take the first words of."""


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
    def plain(self) -> tuple[str, ...]:
        """The files of plain text; a record of the others is a document of its own, and is held out by itself."""
        return tuple(name for name in self.files if format_of(name) in PLAIN)

    @property
    def document(self) -> str:
        """One document a file of plain text; a paragraph, where few files are all there is or a large share of them
        would have to be held out.
        """
        if len(self.plain) < _FEW_FILES or share_above(min(map(split_point, self.plain))) > _MOST_HELD_OUT:
            return "blank_line"
        return "file"

    @property
    def first_share(self) -> float:
        """The validation share from which on a whole file of the domain is held out; 0 where none has to be."""
        whole = self.plain if self.document == "file" else ()
        whole += tuple(name for name in self.files if format_of(name) in WHOLE)
        return share_above(min(map(split_point, whole))) if whole and len(whole) == len(self.files) else 0.0


def resolve_folder(target: str, settings: Sequence[str] = (), runs: Path = RUNS, write: bool = True) -> Run:
    """The run of a folder of text, by the recipe that is made of it once; anything else is left to `resolve`."""
    if not target.strip():
        raise UsageError("the name of the recipe or folder is empty; for the current folder write .")
    folder = Path(target)
    if not folder.is_dir() or is_run(folder):
        return resolve(target, settings, runs)
    folder = folder.resolve()
    given = [text.split("=", 1)[1].strip() for text in settings if text.startswith("name=")]
    name = given[-1] if given else _name(folder.name)
    path = runs / name / "folder.toml"
    domains = find_domains(folder, runs)
    if path.exists():
        recipe = load(path, settings)
        _check_same_folder(recipe, path, folder, domains)
        say(f"recipe: {path}, as it was made of {folder}")
    elif write:
        write_bytes(path, recipe_of_folder(folder, name, domains, runs).encode())
        recipe = load(path, settings)
        say(f"recipe: wrote {path}; it is yours to edit, and the same command uses it again")
    else:
        recipe = parse(apply_settings(tomllib.loads(recipe_of_folder(folder, name, domains, runs)), settings))
    return open_run(recipe, folder, runs)


def find_domains(folder: Path, runs: Path = RUNS) -> list[Domain]:
    """The domains of a folder: its subfolders with text in them, and the files at its top; what runs wrote is none."""
    found: dict[str, list[Path]] = {}
    other: Counter[str] = Counter()
    for path in sorted(_files(folder, runs)):
        parts = path.relative_to(folder).parts
        if _suffix(path):
            found.setdefault(parts[0] if len(parts) > 1 else "", []).append(path)
        else:
            other[path.suffix or "without extension"] += 1
    kinds = ", ".join(
        f"{count} {kind}" for kind, count in sorted(other.items(), key=lambda item: (-item[1], item[0]))
    )
    if not found:
        raise InputError(
            f"{folder} has no text that danlu reads ({', '.join(FORMATS)}, also with {', '.join(COMPRESSIONS)}); "
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


def recipe_of_folder(
    folder: Path, name: str, domains: Sequence[Domain] | None = None, runs: Path = RUNS
) -> str:
    """The text of a recipe for the folder, with the reason of every choice."""
    domains = find_domains(folder, runs) if domains is None else domains
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
        lines += _sources(folder, domain, runs)
    lines += _sizes(sizes)
    lines += [
        "",
        "[monitor]",
        f"samples = [{_quoted(_prompt(folder, domains))}]  # continued to watch it learn",
    ]
    return "\n".join(lines) + "\n"


def _sources(folder: Path, domain: Domain, runs: Path) -> Iterator[str]:
    """The domain's plain text as one source and its records and pages as another: what a document is differs."""
    place = folder / domain.place
    starts = list(_globs(place, runs)) if domain.place else [f"{glob.escape(str(place))}/*"]
    about = f"{len(domain.files)} file(s), about {human_bytes(domain.text_bytes)}"
    for plain in (True, False):
        suffixes = [suffix for suffix in domain.suffixes if (format_of(f"text{suffix}") in PLAIN) is plain]
        if not suffixes:
            continue
        yield from ("", "[[corpus.source]]", f'domain = "{domain.name}"  # {about}')
        yield f"paths = [{', '.join(_quoted(start + suffix) for start in starts for suffix in suffixes)}]"
        if plain and domain.document == "blank_line":
            yield 'document = "blank_line"  # each paragraph: few files, and some text must be held out'
        elif plain:
            yield 'document = "file"  # each file'


def _prompt(folder: Path, domains: Sequence[Domain]) -> str:
    """The first words of the first plain text."""
    for name in (name for domain in domains for name in domain.plain):
        if Path(name).suffix.lower() not in COMPRESSIONS:
            with (folder / name).open(encoding="utf-8", errors="ignore") as file:
                words = [word for word in file.read(2000).split() if word.isprintable()]
            if any(word[:1].isalpha() for word in words):
                return " ".join(words[:_PROMPT_WORDS])[:80]
    return _PROMPT


def _files(folder: Path, runs: Path) -> Iterator[Path]:
    """All files below a folder but hidden ones and those of runs."""
    for path in folder.iterdir():
        if path.name.startswith("."):
            continue
        if path.is_file():
            yield path
        elif path.is_dir() and not path.is_symlink() and not _is_ours(path, runs):
            yield from _files(path, runs)


def _globs(folder: Path, runs: Path) -> Iterator[str]:
    """Globs, but for the suffix, of the files below a folder; where a run lies in it, of its other folders."""
    start = glob.escape(str(folder))
    below = [Path(place, name) for place, names, _ in os.walk(folder) for name in names]
    if not any(_is_ours(path, runs) for path in below):
        yield f"{start}/**/*"
        return
    yield f"{start}/*"
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.name.startswith(".") and not _is_ours(path, runs):
            yield from _globs(path, runs)


def _is_ours(folder: Path, runs: Path) -> bool:
    """Whether a folder holds what danlu wrote: a run, or the folder of this place's runs."""
    return is_run(folder) or folder.resolve() == runs.resolve()


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
    patterns = [Path(pattern).parts for source in recipe.corpus.source for pattern in source.paths]
    for domain in domains:
        new = [name for name in domain.files if not any(_matches((folder / name).parts, p) for p in patterns)]
        if new:
            kinds = ", ".join(sorted({f"*{_suffix(Path(name))}" for name in new}))
            say(
                f"note: {path} does not read {len(new)} file(s) ({kinds}) of {domain.place or 'the top'}: "
                f"add a source, or delete it"
            )


def _matches(path: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a path matches a glob, part by part; ** is any number of folders."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_matches(path[skipped:], pattern[1:]) for skipped in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and _matches(path[1:], pattern[1:])


def _domain(folder: Path, name: str, place: str, paths: Sequence[Path]) -> Domain:
    names = tuple(path.relative_to(folder).as_posix() for path in paths)
    suffixes = tuple(sorted({_suffix(path) for path in paths}))
    text_bytes = sum(map(_text_bytes, paths))
    if text_bytes == 0:
        raise InputError(f"the text files in {folder / place} are all empty")
    return Domain(name, place, suffixes, names, text_bytes)


def _text_bytes(path: Path) -> int:
    """About how much text a file holds."""
    ratio = _PACKED_RATIO if path.suffix.lower() in COMPRESSIONS else 1.0
    if format_of(path.name) in MARKED_UP:
        ratio *= _MARKUP_RATIO
    return math.ceil(path.stat().st_size * ratio)


def _suffix(path: Path) -> str:
    """The readable extension of a file, with its compression; "" if danlu does not read it."""
    packed = path.suffix if path.suffix.lower() in COMPRESSIONS else ""
    return Path(path.name.removesuffix(packed)).suffix + packed if format_of(path.name) else ""


def _least_share(text_bytes: int) -> float:
    """Enough text for a steady measurement, about a megabyte, but neither none nor a tenth."""
    return min(0.05, max(0.005, 1e6 / text_bytes))


def _name(text: str) -> str:
    return re.sub(r"[^\w.\-]+", "-", text).strip("-.") or "text"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
