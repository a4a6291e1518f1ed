"""Random staged runs over shards whose ids say which document and place they are, and what every run must obey."""

from __future__ import annotations

import functools
import itertools
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import strategies as st

from danlu.mixture.stages import PlannedStage
from danlu.records import IGNORE_INDEX, PAD_DOCUMENT, Batch, Document, Piece
from danlu.shards.documents import DomainDocuments, open_documents
from danlu.shards.shard import ShardHeader, write_shard
from danlu.tokens import index
from danlu.tokens.batches import Batches, open_batches

BATCH_TOKENS = 48
LENGTHS = (8, 12, 16, 24, 48)
"""Every one divides the batch: 6, 4, 3, 2 and 1 rows a step."""
GROUP_TOKENS = 120
PACKINGS = ("best_fit", "chunk", "greedy", "none")
VOCAB, BOS, EOS, PAD = 1 << 31, 0, 1, 2
CODEC = SimpleNamespace(sha256="a" * 64, vocab_size=VOCAB, bos_id=BOS, eos_id=EOS, pad_id=PAD)
SIXTY = tuple(np.random.default_rng(1).integers(2, 70, 60).tolist())
THIRTY = tuple(np.random.default_rng(2).integers(2, 40, 30).tolist())
NAMES = ("ash", "bay", "cedar", "date", "elm")
ROOT = tempfile.TemporaryDirectory(prefix="danlu-stages-")
_NUMBERS = itertools.count()


@pytest.fixture(autouse=True, scope="module")
def small_groups() -> Iterator[None]:
    """Groups of a few samples, so that a domain has several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "GROUP_TOKENS", GROUP_TOKENS)
        patch.setattr(index, "GROUP_SAMPLES", 2)
        patch.setattr(index, "ORDERED_GROUP_SAMPLES", 2)
        yield


def new_directory() -> Path:
    """An empty directory of its own, removed with the process."""
    path = Path(ROOT.name) / str(next(_NUMBERS))
    path.mkdir()
    return path


@functools.lru_cache(maxsize=256)
def domain_of(name: str, lengths: tuple[int, ...]) -> DomainDocuments:
    """Documents of the given token lengths in two shards; the token at place p of the n-th written is its own id."""
    directory = new_directory() / name
    header = ShardHeader(name, CODEC.sha256, VOCAB, BOS, EOS, "-")
    for s in range(min(2, len(lengths))):
        numbers = range(s, len(lengths), 2)
        documents = [Document(f"{name}-{n}", "x" * n, f"{name}.txt", name, "g", n, n + 1) for n in numbers]
        ids = [ids_of(name, n, lengths[n]) for n in numbers]
        write_shard(directory / f"shard-{s:05d}.safetensors", header, documents, ids)
    return open_documents(directory)


def ids_of(name: str, number: int, length: int) -> np.ndarray:
    inner = 16 + np.arange(1, length - 1) + 1024 * (number + 65536 * NAMES.index(name))
    return np.concatenate([[BOS], inner, [EOS]]).astype(np.uint32)


@functools.lru_cache(maxsize=2048)
def tokens_of(documents: DomainDocuments, number: int) -> np.ndarray:
    """The tokens that were written of the document with this number, not read from the shards."""
    written = int(str(documents.provenance(number)["id"]).split("-")[1])
    return ids_of(documents.domain, written, int(documents.lengths[number])).astype(np.int64)


@dataclass(frozen=True)
class Run:
    """What open_batches is given."""

    sizes: Mapping[str, tuple[int, ...]]
    stages: tuple[PlannedStage, ...]
    seed: int = 1
    blocked: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """Domain -> document number -> the first step that does not show it."""

    @property
    def domains(self) -> dict[str, DomainDocuments]:
        return {name: domain_of(name, lengths) for name, lengths in self.sizes.items()}

    @property
    def ranks(self) -> dict[tuple[str, str], np.ndarray]:
        """A fixed permutation for every order that a stage asks for."""
        asked = {item for stage in self.stages for item in stage.order_by.items()}
        return {(name, by): wanted_order(by, len(self.sizes[name])) for name, by in sorted(asked)}

    def open(self, directory: Path | None = None) -> Batches:
        """In a new directory if none is given, so that nothing stored before is read."""
        return open_batches(
            self.domains,
            directory or new_directory(),
            CODEC,
            self.stages,
            batch_tokens=BATCH_TOKENS,
            seed=self.seed,
            ranks=self.ranks,
            blocked=self.blocked,
        )

    @property
    def steps(self) -> int:
        return sum(stage.steps for stage in self.stages)

    def stage_of(self, step: int) -> PlannedStage:
        ends = itertools.accumulate(stage.steps for stage in self.stages)
        return next(stage for stage, end in zip(self.stages, ends, strict=True) if step < end)

    def first_sample(self, step: int) -> int:
        """How many samples the steps before `step` took."""
        return sum(BATCH_TOKENS // self.stage_of(earlier).sequence_length for earlier in range(step))


def wanted_order(attribute: str, count: int) -> np.ndarray:
    """Document numbers in the order of an attribute; "-x" is x backwards."""
    order = np.random.default_rng(ord(attribute[-1])).permutation(count).astype(np.int64)
    return order[::-1].copy() if attribute.startswith("-") else order


def stage(
    steps: int, length: int, weights: Mapping[str, float], packing: str = "best_fit", **changes: object
) -> PlannedStage:
    """A stage with the usual masks; weights are brought to sum 1."""
    total = sum(weights.values())
    values: dict[str, object] = {
        "steps": steps,
        "sequence_length": length,
        "packing": packing,
        "document_mask": True,
        "reset_positions": True,
        "weights": {name: weight / total for name, weight in weights.items()},
        "order_by": {},
    }
    return PlannedStage(**{**values, **changes})  # type: ignore[arg-type]


class Shown:
    """How often every token of every document was shown."""

    def __init__(self, domains: Mapping[str, DomainDocuments]) -> None:
        self.firsts = {name: np.cumsum(d.lengths) - d.lengths for name, d in domains.items()}
        self.lengths = {name: d.lengths for name, d in domains.items()}
        self.counts = {name: np.zeros(d.tokens, dtype=np.int64) for name, d in domains.items()}

    def add(self, pieces: Sequence[Piece]) -> None:
        """One sample's; afterwards no token may be two ahead of another of its domain."""
        assert pieces, "a sample without a piece"
        assert len({piece.domain for piece in pieces}) == 1, f"two domains in one sample: {pieces}"
        counts = self.counts[pieces[0].domain]
        for piece in pieces:
            assert piece.length >= 1
            assert (
                0 <= piece.start <= piece.start + piece.length <= self.lengths[piece.domain][piece.document]
            )
            first = int(self.firsts[piece.domain][piece.document]) + piece.start
            counts[first : first + piece.length] += 1
        least, most = counts.min(), counts.max()
        assert most - least <= 1, (
            f"{pieces}: {(counts == most).sum()} tokens shown {most} times while {(counts == least).sum()} were "
            f"shown {least} times"
        )

    def unshown(self, name: str) -> list[int]:
        """Lengths of the runs of tokens, within a document, that this epoch has not shown; none where none is open."""
        counts, runs = self.counts[name], []
        if counts.min() == counts.max():
            return []
        for first, length in zip(self.firsts[name], self.lengths[name], strict=True):
            open_ = np.concatenate([[0], counts[first : first + length] == counts.min(), [0]]).astype(np.int8)
            edges = np.flatnonzero(np.diff(open_))
            runs += (edges[1::2] - edges[::2]).tolist()
        return runs


def pieces_by_domain(run: Run, first: int = 0, stop: int | None = None) -> dict[str, list[tuple[Piece, ...]]]:
    """Each domain's samples in the order shown, from the steps first..stop-1."""
    batches = run.open()
    found: dict[str, list[tuple[Piece, ...]]] = {name: [] for name in run.sizes}
    for step in range(first, run.steps if stop is None else stop):
        for sample in batches.step(step).samples:
            found[sample.domain].append(sample.pieces)
    return found


ARRAYS = ("inputs", "labels", "positions", "documents")


def same(one: Batch, two: Batch) -> bool:
    pieces = [sample.pieces for sample in one.samples] == [sample.pieces for sample in two.samples]
    return pieces and all(np.array_equal(getattr(one, name), getattr(two, name)) for name in ARRAYS)


def batches_of(batches: Batches, run: Run) -> Iterator[tuple[int, PlannedStage, Batch]]:
    for step in range(run.steps):
        yield step, run.stage_of(step), batches.step(step)


def check_rows(batch: Batch, stage: PlannedStage, domains: Mapping[str, DomainDocuments]) -> None:
    """Arrays hold exactly what the pieces say, with the stage's length, mask and positions."""
    rows, length = BATCH_TOKENS // stage.sequence_length, stage.sequence_length
    for name in ARRAYS:
        assert getattr(batch, name).shape == (rows, length), name
    assert [sample.number for sample in batch.samples] == list(range(batch.first, batch.first + rows))
    for row, sample in enumerate(batch.samples):
        assert np.array_equal(batch.inputs[row], sample.inputs)
        assert np.array_equal(batch.labels[row], sample.labels)
        assert sample.domain in stage.weights
        assert stage.weights[sample.domain] > 0
        column = 0
        for nth, piece in enumerate(sample.pieces):
            assert piece.domain == sample.domain
            end, stop = column + piece.length, piece.start + piece.length
            assert end <= length
            whole = tokens_of(domains[piece.domain], piece.document)
            assert np.array_equal(sample.inputs[column:end], whole[piece.start : stop])
            if stage.document_mask:
                following = np.append(whole[1:], IGNORE_INDEX)[piece.start : stop]
                assert np.array_equal(sample.labels[column:end], following)
            expected = np.arange(piece.length) if stage.reset_positions else np.arange(column, end)
            assert np.array_equal(sample.positions[column:end], expected)
            assert (sample.documents[column:end] == (nth if stage.document_mask else 0)).all()
            column = end
        assert (sample.inputs[column:] == PAD).all()
        assert (sample.labels[column:] == IGNORE_INDEX).all()
        assert (sample.documents[column:] == PAD_DOCUMENT).all()


def check_run(run: Run) -> Shown:
    """Plays a run from its start to its end; every property of one stream is asserted on the way."""
    batches, domains = run.open(), run.domains
    shown = Shown(domains)
    for step, planned, batch in batches_of(batches, run):
        assert batch.first == run.first_sample(step)
        check_rows(batch, planned, domains)
        for sample in batch.samples:
            assert tuple(batches.pieces(sample.number)) == tuple(sample.pieces)
            shown.add(sample.pieces)
    return shown


# Random runs ---------------------------------------------------------------------------------------------------------

_SIZES = st.one_of(
    st.just((10,) * 10),
    st.integers(48, 200).map(lambda length: (length,)),
    st.lists(st.integers(2, 60), min_size=3, max_size=30).map(tuple),
    st.lists(st.integers(2, 9), min_size=10, max_size=40).map(tuple),
    st.lists(st.integers(40, 130), min_size=1, max_size=6).map(tuple),
).filter(lambda lengths: sum(lengths) >= max(LENGTHS))

_WEIGHT = st.one_of(st.integers(1, 20).map(float), st.sampled_from([0.01, 0.99]))


@st.composite
def stages_over(
    draw: st.DrawFn, names: Sequence[str], ordered: bool = True, most_steps: int = 12
) -> PlannedStage:
    """One stage over some of the domains."""
    read = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    mask = draw(st.booleans())
    by = draw(st.dictionaries(st.sampled_from(read), st.sampled_from(["x", "-x", "y"]))) if ordered else {}
    return stage(
        draw(st.integers(1, most_steps)),
        draw(st.sampled_from(LENGTHS)),
        {name: draw(_WEIGHT) for name in sorted(read)},
        draw(st.sampled_from(PACKINGS)),
        document_mask=mask,
        reset_positions=mask and draw(st.booleans()),
        order_by=by,
    )


@st.composite
def runs(draw: st.DrawFn, most_stages: int = 5, ordered: bool = True, most_domains: int = 3) -> Run:
    """A whole run: domains of every odd size, stages that differ in everything."""
    names = NAMES[: draw(st.integers(1, most_domains))]
    stages = draw(st.lists(stages_over(names, ordered), min_size=1, max_size=most_stages))
    return Run({name: draw(_SIZES) for name in names}, tuple(stages), draw(st.integers(0, 2**63 - 1)))
