"""Curation beside its peers: the four English filters, MinHash, the whole road, also to tokens; two processes; memory.

One core for each measurement (taskset), the same documents, danlu and the peer in turn, each in a new process with one
thread; the median of the rounds counts. Ratios are of processor seconds, which a busy neighbour disturbs least; wall
seconds stand beside. Loading the peer's word tokenizer and compiling danlu's kernels is not timed, the latter is shown.
Both sides encode with one byte-level BPE that danlu trained before; opening it, danlu's checks included, is timed.
What two pinned busy loops do over one is measured at every line: two cores of a machine may be one.

The peers live in a virtual environment of their own
(`pip install "datatrove==0.10.1" spacy rensa orjson "xxhash<4" tokenizers`).
The documents come from make_corpus.py; the English ones are shuffled by a fixed seed and the first so many taken.

Run:  python benchmarks/corpus.py CORPUS.jsonl --peer PYTHON_OF_PEERS [--megabytes 8] [--rounds 3] [--only CASE ...]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from machine import busy_loop_gain, machine

HERE = Path(__file__).parent
SEED = 3
LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in LIBRARIES}
PROCESSES_TARGET = 0.9
VOCAB_SIZE = 16_384
Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """Two commands over the same documents; target: the least ratio.

    SAMPLE, FOLDER, WORK and TOKENIZER in them become paths.
    """

    name: str
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    target: float


CASES = (
    Case(
        "filters plain", ("filters", "SAMPLE", "plain", "early"), ("datatrove_filters", "SAMPLE", "early"), 40
    ),
    Case(
        "filters plain, all",
        ("filters", "SAMPLE", "plain", "all"),
        ("datatrove_filters", "SAMPLE", "all"),
        40,
    ),
    Case(
        "filters spacy", ("filters", "SAMPLE", "spacy", "early"), ("datatrove_filters", "SAMPLE", "early"), 9
    ),
    Case(
        "filters spacy, all", ("filters", "SAMPLE", "spacy", "all"), ("datatrove_filters", "SAMPLE", "all"), 9
    ),
    Case("minhash", ("minhash", "SAMPLE", "WORK"), ("datatrove_minhash", "SAMPLE", "WORK"), 60),
    Case("minhash, rensa", ("minhash", "SAMPLE", "WORK"), ("rensa_minhash", "SAMPLE"), 1),
    Case("road", ("road", "FOLDER", "WORK", "1", "early"), ("datatrove_road", "FOLDER", "WORK", "gzip"), 40),
    Case(
        "road, all", ("road", "FOLDER", "WORK", "1", "all"), ("datatrove_road", "FOLDER", "WORK", "gzip"), 40
    ),
    Case(
        "road, tokens",
        ("road", "FOLDER", "WORK", "1", "early", "TOKENIZER"),
        ("datatrove_road", "FOLDER", "WORK", "gzip", "TOKENIZER"),
        40,
    ),
)


def read_rows(path: Path) -> list[Row]:
    """All documents of the corpus."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def size_mb(rows: list[Row]) -> float:
    """UTF-8 bytes of all texts, in 10^6."""
    return sum(len(row["text"].encode("utf-8", "surrogatepass")) for row in rows) / 1e6


def english_sample(rows: list[Row], megabytes: float) -> list[Row]:
    """English documents in random order until their texts fill the megabytes."""
    english = [row for row in rows if row["language"] == "en"]
    random.Random(SEED).shuffle(english)
    taken: list[Row] = []
    room = megabytes * 1e6
    for row in english:
        room -= len(row["text"].encode("utf-8", "surrogatepass"))
        if room < 0:
            break
        taken.append(row)
    return taken


def multiplied(rows: list[Row], times: int) -> list[Row]:
    """The documents, and `times - 1` copies of each that are no duplicates: the words of every line shuffled."""
    chance = random.Random(SEED)
    more = list(rows)
    for copy in range(1, times):
        for row in rows:
            lines = [line.split(" ") for line in row["text"].split("\n")]
            for words in lines:
                chance.shuffle(words)
            text = "\n".join(" ".join(words) for words in lines)
            more.append({**row, "id": f"{row['id']}#{copy}", "text": text})
    return more


def write_rows(path: Path, rows: list[Row]) -> None:
    """Writes documents as jsonl."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def child(command: list[str], cores: list[int]) -> dict[str, Any]:
    """Runs a command on some cores with one thread a library; the JSON object of its last line."""
    pinned = ["taskset", "-c", ",".join(map(str, cores)), *command]
    done = subprocess.run(
        pinned, capture_output=True, text=True, check=False, env={**os.environ, **ONE_THREAD}
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


class Bench:
    """The sample on disk, and how each side is started."""

    def __init__(self, place: Path, peer: str, rows: list[Row], core: int) -> None:
        self.peer, self.core, self.megabytes = peer, core, size_mb(rows)
        self.place, self._rows = place, rows
        write_rows(place / "input" / "sample.jsonl", rows)

    def ours(self, arguments: tuple[str, ...]) -> dict[str, Any]:
        """danlu's measurement."""
        return child([sys.executable, str(HERE / "corpus_tasks.py"), *self._paths(arguments)], [self.core])

    def theirs(self, arguments: tuple[str, ...]) -> dict[str, Any]:
        """The peer's."""
        script, *rest = arguments
        return child(
            [self.peer, str(HERE / "peers" / f"{script}.py"), *self._paths(tuple(rest))], [self.core]
        )

    @cached_property
    def tokenizer(self) -> Path:
        """Byte-level BPE trained on the sample, which is not timed."""
        from danlu.tokenizer.settings import TokenizerSettings
        from danlu.tokenizer.train import train_tokenizer

        settings = TokenizerSettings(vocab_size=VOCAB_SIZE)
        return train_tokenizer(
            settings, lambda: (row["text"] for row in self._rows), self.place / "tokenizer"
        ).path

    def _paths(self, arguments: tuple[str, ...]) -> list[str]:
        work = self.place / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        known = {
            "SAMPLE": self.place / "input" / "sample.jsonl",
            "FOLDER": self.place / "input",
            "WORK": work,
        }
        if "TOKENIZER" in arguments:
            known["TOKENIZER"] = self.tokenizer
        return [str(known.get(argument, argument)) for argument in arguments]


def compare(bench: Bench, case: Case, rounds: int) -> dict[str, Any]:
    """Both sides in turn; medians, their ratio, and the line of the table."""
    gain = busy_loop_gain()
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(bench.ours(case.ours))
        theirs.append(bench.theirs(case.theirs))
    medians = {
        f"{side}_{what}": statistics.median(run[what] for run in runs)
        for side, runs in (("danlu", ours), ("peer", theirs))
        for what in ("cpu_s", "wall_s")
    }
    ratio = medians["peer_cpu_s"] / medians["danlu_cpu_s"]
    wall_ratio = medians["peer_wall_s"] / medians["danlu_wall_s"]
    print(
        f"{case.name:20}{bench.megabytes / medians['danlu_cpu_s']:8.2f} MB/s"
        f"{bench.megabytes / medians['peer_cpu_s']:8.3f} MB/s{ratio:8.1f}x{wall_ratio:8.1f}x"
        f"{case.target:6g}x {'met' if ratio >= case.target else 'not met':8}"
        f"{ours[0]['compile_s']:6.1f} s{gain:6.2f}   {theirs[0]['package']}",
        flush=True,
    )
    return {
        "case": case.name,
        **medians,
        "ratio": ratio,
        "wall_ratio": wall_ratio,
        "gain": gain,
        "ours": ours,
        "theirs": theirs,
    }


def compare_processes(rows: list[Row], place: Path, rounds: int) -> dict[str, Any]:
    """The road with one worker on one core and with two on two, against two busy loops in the same minute.

    Over four times the documents: each worker loads the compiled kernels, which takes it a second.
    """
    cores = sorted(os.sched_getaffinity(0))[:2]
    rows = multiplied(rows, 4)
    write_rows(place / "input" / "sample.jsonl", rows)
    gains, loops = [], []
    for _ in range(rounds):
        loops.append(busy_loop_gain(2.0))
        walls = []
        for workers in (1, 2):
            shutil.rmtree(place / "work", ignore_errors=True)
            task = [
                str(HERE / "corpus_tasks.py"),
                "road",
                str(place / "input"),
                str(place / "work"),
                str(workers),
                "all",
            ]
            walls.append(child([sys.executable, *task], cores[:workers])["wall_s"])
        gains.append(walls[0] / walls[1])
    share = statistics.median(gain / loop for gain, loop in zip(gains, loops, strict=True))
    print(
        f"two processes over one: {statistics.median(gains):.2f} times on {size_mb(rows):.0f} MB; two busy loops "
        f"{statistics.median(loops):.2f}; {share:.2f} of that (target {PROCESSES_TARGET})",
        flush=True,
    )
    return {"gains": gains, "loops": loops, "share": share}


def measure_memory(rows: list[Row], place: Path) -> dict[str, float]:
    """Peak memory of the road in one process over the documents and over four times as many."""
    peaks = {}
    for times in (1, 4):
        write_rows(place / "input" / "sample.jsonl", multiplied(rows, times))
        shutil.rmtree(place / "work", ignore_errors=True)
        task = [str(HERE / "corpus_tasks.py"), "road", str(place / "input"), str(place / "work"), "1", "all"]
        peaks[f"{times}x"] = child([sys.executable, *task], sorted(os.sched_getaffinity(0))[:1])["peak_mib"]
    print(
        f"peak memory: {peaks['1x']:.0f} MiB on {size_mb(rows):.0f} MB, {peaks['4x']:.0f} MiB on four times as much"
    )
    return peaks


def main() -> None:
    """Prints the table."""
    names = [case.name for case in CASES] + ["processes", "memory"]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--peer", required=True, help="the Python that has datatrove and rensa")
    parser.add_argument("--megabytes", type=float, default=8.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    rows = read_rows(options.corpus)
    sample = english_sample(rows, options.megabytes)
    print(
        f"{machine()}; {len(sample)} English documents, {size_mb(sample):.1f} MB, median of {options.rounds} rounds"
    )
    print(
        f"{'case':20}{'danlu':>13}{'peer':>13}{'cpu':>9}{'wall':>9}{'target':>15}{'compile':>9}{'loops':>7}"
    )
    report: dict[str, Any] = {"machine": machine(), "megabytes": size_mb(sample), "cases": []}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        bench = Bench(place / "sample", options.peer, sample, min(os.sched_getaffinity(0)))
        for case in CASES:
            if case.name in options.only:
                report["cases"].append(compare(bench, case, options.rounds))
        if "processes" in options.only:
            report["processes"] = compare_processes(rows, place / "all", options.rounds)
        if "memory" in options.only:
            report["memory_mib"] = measure_memory(rows, place / "all")
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
