"""`danlu`: the commands, and the one place where an error becomes a paragraph and an exit code.

Guarantees: 0 done, 1 failed, 2 bad usage or recipe, 75 stopped and resumable, 130 interrupted; a traceback only with
--debug. Costs: no command imports torch before it needs it, so `danlu --help` answers at once.
"""

from __future__ import annotations

import sys
import traceback
from typing import Annotated

import typer

from danlu.cli import (
    corpus,
    inspect,
    plan,
    results,
    run,
    start,
    tokenizer,
    tokens,
    train,
)
from danlu.errors import DanluError
from danlu.log import visible

app = typer.Typer(
    name="danlu",
    help="From raw text to a verified base language model: one command line, one recipe file.",
    epilog="First time here: danlu demo. With your own text: danlu run FOLDER",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def _common(
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback with an error.")] = False,
) -> None:
    """From raw text to a verified base language model: one command line, one recipe file."""


for _commands in (start, run, corpus, tokenizer, tokens, plan, train, results, inspect):
    _commands.register(app)


def main() -> None:
    """The entry point of the script."""
    sys.exit(execute(sys.argv[1:]))


def execute(arguments: list[str]) -> int:
    """Carries out a command line and returns its exit code. --debug may stand anywhere before `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    debug = "--debug" in arguments[:end]
    arguments = [a for a in arguments[:end] if a != "--debug"] + arguments[end:]
    try:
        app(arguments, prog_name="danlu")
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except DanluError as error:
        return _report(str(error), error.exit_code, debug)
    except Exception as error:
        text = f"unexpected {type(error).__name__}: {error}. This is a bug of danlu"
        return _report(text if debug else f"{text}; the same command with --debug shows where", 1, debug)
    return 0


def _report(text: str, exit_code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print(f"danlu: {visible(text, lines=True)}", file=sys.stderr)
    return exit_code
