"""Every command explains itself with an example, and asking it to loads none of the heavy packages."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import house

pytestmark = pytest.mark.skipif(
    not (house.SOURCE / "cli" / "main.py").is_file(), reason="there is no command line yet"
)

HEAVY = ("torch", "pyarrow", "numba", "transformers", "tokenizers", "safetensors")

# One child process walks the whole tree of commands, so that what it loaded can be seen.
_WALK = """
import json, sys
from typer.main import get_command
from danlu.cli.main import app
loaded_by_import = [name for name in {heavy!r} if name in sys.modules]
helps = {{}}
def walk(command, path, parent=None):
    context = type(command).context_class(command, info_name=path.split()[-1], parent=parent)
    own = (command.help or "") + (command.epilog or "")
    helps[path] = [command.get_help(context) or "", own, hasattr(command, "commands")]
    for name, inner in getattr(command, "commands", {{}}).items():
        walk(inner, f"{{path}} {{name}}", context)
walk(get_command(app), "danlu")
loaded = [name for name in {heavy!r} if name in sys.modules]
json.dump([helps, loaded_by_import, loaded], sys.__stdout__)
"""


@pytest.fixture(scope="module")
def walked() -> tuple[dict[str, tuple[str, str, bool]], list[str], list[str]]:
    """(command -> (rendered help, its own text, is a group), loaded by the import, loaded by all the helps)."""
    script = _WALK.format(heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    helps, by_import, loaded = json.loads(done.stdout[done.stdout.index("[{") :])
    return helps, by_import, loaded


def test_every_command_has_help_with_an_example(walked: tuple) -> None:
    wrong = []
    for command, (_, text, group) in walked[0].items():
        if not text.strip():
            wrong.append(f"{command}: no help")
        elif not group and command not in " ".join(text.split()):
            wrong.append(f"{command}: no example: its help never shows `{command} ...`")
    assert not wrong, "\n".join(wrong)


def test_help_loads_nothing_heavy(walked: tuple) -> None:
    assert walked[1] == [], "by importing danlu.cli.main"
    assert walked[2] == [], "by --help"


def test_module_and_unknown_command() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "danlu", "--help"], capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0
    assert "demo" in shown.stdout
    refused = subprocess.run(
        [sys.executable, "-m", "danlu", "demoo"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
