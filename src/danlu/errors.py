"""Every error that danlu raises on purpose, and the exit code that each one means.

The message of each is one short paragraph: what happened, where (file, line or key), what to do about it.
The command line prints it without a traceback (`--debug` shows one). A launcher reads the exit code:
0 done, 1 failed, 2 bad usage or recipe, 75 stopped and resumable (type the same command again), 130 interrupted with
Ctrl-C before the training: what was done stays, and the same command goes on.

    DanluError 1
    ├── UsageError 2      the command line cannot be carried out as typed
    ├── RecipeError 2     the recipe asks for something unknown, contradictory or impossible
    ├── InputError 1      the text, or a file named by the user, cannot be used
    ├── MissingError 1    a step, file or run that was asked for does not exist; says what does
    ├── DamagedError 1    a file of ours is not what its manifest says
    ├── MismatchError 1   two parts that must agree (tokenizer and shards, run and recipe) do not
    ├── BusyError 1       another live process owns the run directory
    ├── DivergedError 1   the training produced a non-finite number
    └── Stopped 75        asked to stop; everything is saved
"""


class DanluError(Exception):
    """Base of all: catch this to show a clean message."""

    exit_code = 1


class UsageError(DanluError):
    """The command line cannot be carried out as typed."""

    exit_code = 2


class RecipeError(DanluError):
    """The recipe asks for something unknown, contradictory or impossible."""

    exit_code = 2


class InputError(DanluError):
    """The text, or a file named by the user, cannot be used."""


class MissingError(DanluError):
    """A step, file or run that was asked for does not exist; the message lists what does."""


class DamagedError(DanluError):
    """A file of ours is not what its manifest or format says."""


class MismatchError(DanluError):
    """Two parts that must agree do not; the message names which."""


class BusyError(DanluError):
    """Another live process owns the run directory."""


class DivergedError(DanluError):
    """The training produced a number that is not finite."""


class Stopped(DanluError):  # noqa: N818 - not a failure: a state that the same command ends
    """Asked to stop; everything is saved and the same command goes on."""

    exit_code = 75
