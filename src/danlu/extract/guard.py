"""Pages and books extracted in a process of their own, so that one that crashes, hangs or eats memory is one damage.

Guarantees: the result depends on the page alone: a page counts as failed only where a fresh process fails too, and its
time is processor time. Costs: one process with the extractor loaded (0.1 s, 40 MB; trafilatura 1 s, 100 MB), started
with the first page; about 50 microseconds and two copies a page.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from types import TracebackType
from typing import Any

from danlu.errors import MissingError
from danlu.extract.html import Page

HTML = "danlu.extract.html"
_FEATURE = {"resiliparse": "HTML and WARC", "trafilatura": 'extractor = "trafilatura"'}


def _command(module: str, name: str) -> list[str]:
    # -P: nothing that lies in the current folder is imported.
    return [sys.executable, "-P", "-m", "danlu.extract.worker", module, name]


class ExtractionError(Exception):
    """A page from which nothing can be extracted; the message says why."""


class Extractor:
    """Extracts documents; a context manager, whose end ends the process.

    `name` is one of those that `module` knows, which worker.py describes.
    """

    def __init__(self, name: str, module: str = HTML) -> None:
        self._name, self._module = name, module
        self._process: subprocess.Popen[bytes] | None = None

    def extract(self, data: bytes, charset: str = "") -> Page:
        """The main text of a page; `charset` is what its server declares. Raises as `ask`."""
        return Page(**self.ask(data, charset))

    def ask(self, data: bytes, charset: str = "") -> dict[str, Any]:
        """What the module answers of a document.

        Raises ExtractionError where it cannot be read, MissingError where what reads it is not installed.
        """
        is_fresh = self._process is None
        try:
            return self._ask(data, charset)
        except ExtractionError:
            if is_fresh:
                raise
        # An old process may have leaked memory: the page is innocent until a new one fails.
        self.close()
        return self._ask(data, charset)

    def _ask(self, data: bytes, charset: str) -> dict[str, Any]:
        process = self._started()
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(json.dumps({"bytes": len(data), "charset": charset}).encode() + b"\n")
            process.stdin.write(data)
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = b""
        # A process that was killed while it answered leaves half a line.
        if not line.endswith(b"\n"):
            raise ExtractionError(self._why_ended())
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            # What an exception leaves behind in a parser is not worth trusting.
            self.close()
            raise ExtractionError(f"{self._name} raised {answer['error']}")
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                _command(self._module, self._name),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            self._check_start(self._process)
        return self._process

    def _check_start(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout
        line = process.stdout.readline()
        problem = json.loads(line).get("error") if line.endswith(b"\n") else "its process does not start"
        if problem:
            self.close()
            feature = _FEATURE.get(self._name, f'format = "{self._name}"')
            raise MissingError(f'{feature} cannot be read: {problem}; pip install "danlu[corpus]"')

    def _why_ended(self) -> str:
        assert self._process
        code = self._process.wait()
        self.close()
        if code == -signal.SIGPROF:
            return f"{self._name} took too long for it"
        ended = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"{self._name} crashed on it ({ended})"

    def close(self) -> None:
        """Ends the process, if there is one; the next page starts another."""
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def __enter__(self) -> Extractor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
