"""Which run is meant, and where does it live? A run is a recipe, the folder of its text, and runs/NAME.

Guarantees: one process at a time works in a run directory; the resolved recipe and the folder that its paths are
relative to are saved with the run, so that it can be taken up again by name alone. No torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from danlu.errors import MissingError, UsageError
from danlu.files import lock, read_json, restore_directories, write_bytes, write_json
from danlu.log import say
from danlu.recipe import Recipe, dump_toml, load
from danlu.tokens.blocked import block_from_the_start
from danlu.toml import missing_recipe
from danlu.workflow.training import refuse_another_training, remove_training

RUNS = Path("runs")
"""Where runs live, under the current directory."""


@dataclass(frozen=True)
class Run:
    """A recipe at work."""

    recipe: Recipe
    base: Path
    """The folder that the recipe's paths are relative to."""
    directory: Path


def open_run(recipe: Recipe, base: Path, runs: Path = RUNS) -> Run:
    """The run of a recipe; writes nothing."""
    return Run(recipe, base.absolute(), runs / recipe.name)


def load_run(directory: Path, settings: Sequence[str] = ()) -> Run:
    """The run of a run directory, from the resolved recipe saved there; `settings` apply over it."""
    recipe = load(directory / "recipe.toml", settings)
    return Run(recipe, Path(read_json(directory / "run.json")["base"]), directory)


def find_run(name_or_path: str, runs: Path = RUNS, wanted: str = "run") -> Path:
    """The directory of a run named by its directory or its name; a missing one lists what exists."""
    for directory in (Path(name_or_path), runs / name_or_path):
        if is_run(directory):
            return directory
    if Path(name_or_path).is_file():
        raise UsageError(f"{name_or_path} is a file; name a run, e.g. {RUNS / Path(name_or_path).stem}")
    raise MissingError(f"there is no {wanted} {name_or_path!r}; {_existing(runs)}")


def is_run(directory: Path) -> bool:
    """Whether danlu has worked in this directory."""
    return (directory / "run.json").is_file() and (directory / "recipe.toml").is_file()


def resolve(recipe_or_run: str, settings: Sequence[str] = (), runs: Path = RUNS) -> Run:
    """The run that the user means by a recipe file, a run directory or a run's name."""
    path = Path(recipe_or_run)
    if path.is_file():
        return open_run(load(path, settings), path.parent, runs)
    if path.suffix == ".toml" and not path.exists():
        raise missing_recipe(path)
    if path.is_dir() and not is_run(path) and not is_run(runs / recipe_or_run):
        raise UsageError(
            f"{path} is a folder without a run in it. `danlu run {path}` makes a recipe of its text and goes; "
            f"otherwise name a recipe file"
        )
    return load_run(find_run(recipe_or_run, runs, "recipe or run"), settings)


@contextmanager
def hold(run: Run, fresh: bool = False, save: bool = True) -> Iterator[None]:
    """Owns the run directory for the block and claims it; with `fresh` the training in it is removed before.

    Without `save` the recipe of the run stays as it is: for a look at what other settings would give.
    """
    with lock(run.directory):
        restore_directories(run.directory)
        if fresh:
            clear(run)
        if save:
            claim(run)
        else:
            refuse_another_training(run.recipe, run.directory)
        yield


def claim(run: Run) -> None:
    """Saves the recipe with the run; a training of another recipe in there is refused before anything is touched."""
    refuse_another_training(run.recipe, run.directory)
    write_bytes(run.directory / "recipe.toml", dump_toml(run.recipe).encode())
    write_json(run.directory / "run.json", {"base": str(run.base)})


def clear(run: Run) -> None:
    """Removes the run's training and what follows from it, and says so; text, tokenizer and shards stay."""
    for name in remove_training(run.directory):
        say(f"--fresh: removed {run.directory / name}")
    block_from_the_start(run.directory)


def _existing(runs: Path) -> str:
    names = sorted(path.name for path in runs.glob("*") if is_run(path)) if runs.is_dir() else []
    return (
        f"{runs}/ has: {', '.join(names)}" if names else f"{runs}/ has none yet; `danlu run RECIPE` makes one"
    )
