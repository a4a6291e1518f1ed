"""The plan of a run, printed and stored before it starts: size, cost, memory, speed, time, and why each
choice.

Guarantees: a stored plan fixes the tokens and the schedule, so that a resume on a busier machine changes
nothing; it reads back equal. Costs: arithmetic. No torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from danlu.errors import DamagedError, RecipeError
from danlu.files import read_json, write_json
from danlu.log import human, human_bytes, human_seconds
from danlu.mixture.stages import PlannedStage, cut_stages
from danlu.model.count import count_parameters, flops_per_token
from danlu.model.shape import Shape
from danlu.optim.schedule import resolve_warmup
from danlu.optim.settings import ScheduleSettings
from danlu.plan.machine import Machine
from danlu.plan.memory import MemoryEstimate, StepShape, estimate_memory
from danlu.plan.micro_batch import MicroBatch, choose_micro_batch
from danlu.plan.mixture import PlannedDomain
from danlu.train.settings import TrainSettings

_FORMAT = 2


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that danlu decided for the user: the recipe's key, the value, and the reason."""

    key: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class Given:
    """What other folders decided before the plan is made."""

    stages: tuple[PlannedStage, ...]
    """Of the whole run; their steps are its length."""
    asked: str
    """A digest of what the stages were planned from."""
    optimizer: str
    learning_rate: float
    schedule: ScheduleSettings
    activation_bytes: int
    """4 for fp32, 2 for bf16."""
    mixture: tuple[PlannedDomain, ...]
    choices: tuple[Choice, ...]
    process_bytes: int
    """What the process held before it had a network: interpreter, libraries, text index."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything foreseen about a run. Tokens count padding; times are in seconds, memory in bytes.

    Sequence length, micro-batch, accumulation and the FLOPs of a token are those of the first stage.
    """

    tokens: int
    steps: int
    sequence_length: int
    batch_tokens: int
    micro_batch: int
    accumulation: int
    learning_rate: float
    warmup_tokens: int
    parameters: int
    embedding_parameters: int
    flops_per_token: float
    total_flops: float
    memory: MemoryEstimate
    """Of tensors; `process_bytes` comes on top of it."""
    process_bytes: int
    tokens_per_second: float | None
    expected_seconds: float | None
    mixture: tuple[PlannedDomain, ...]
    choices: tuple[Choice, ...]
    machine: Machine
    stages: tuple[PlannedStage, ...]
    asked: str
    micro_batches: tuple[int, ...]
    """Sequences of one forward pass in each stage."""

    @property
    def longest(self) -> int:
        """The longest sequence of all stages."""
        return max(stage.sequence_length for stage in self.stages)

    def micro_batch_at(self, step: int) -> int:
        """Sequences of one forward pass in a global step, 0 at the start of the run."""
        for stage, sequences in zip(self.stages, self.micro_batches, strict=True):
            if step < stage.steps:
                return sequences
            step -= stage.steps
        return self.micro_batches[-1]

    def length_at(self, step: int) -> int:
        """The longest sequence that was trained on in the first `step` steps; that of the first stage before any."""
        stages = cut_stages(self.stages, max(step, 1))
        return max(stage.sequence_length for stage in stages)


def make_plan(shape: Shape, train: TrainSettings, machine: Machine, given: Given) -> Plan:
    """The plan of a run of `given.stages`. Raises RecipeError where nothing fits in memory."""
    stages = given.stages
    steps = sum(stage.steps for stage in stages)
    tokens = steps * train.batch_tokens

    def memory_of(stage: PlannedStage, sequences: int) -> MemoryEstimate:
        step = StepShape(
            sequence_length=stage.sequence_length,
            micro_batch=sequences,
            accumulates=sequences < train.batch_tokens // stage.sequence_length,
            optimizer=given.optimizer,
            document_mask=stage.document_mask,
            activation_bytes=given.activation_bytes,
        )
        return estimate_memory(shape, step)

    micros = [
        _micro_batch(train, stage, machine, lambda sequences, stage=stage: memory_of(stage, sequences).total)  # type: ignore[misc]
        for stage in stages
    ]
    counts = count_parameters(shape)
    flops = [float(flops_per_token(shape, stage.sequence_length)) for stage in stages]
    memories = [memory_of(stage, micro.sequences) for stage, micro in zip(stages, micros, strict=True)]
    return Plan(
        tokens=tokens,
        steps=steps,
        sequence_length=stages[0].sequence_length,
        batch_tokens=train.batch_tokens,
        micro_batch=micros[0].sequences,
        accumulation=micros[0].accumulation,
        learning_rate=given.learning_rate,
        warmup_tokens=resolve_warmup(given.schedule, tokens, train.batch_tokens),
        parameters=counts.total,
        embedding_parameters=counts.embedding,
        flops_per_token=flops[0],
        total_flops=sum(
            each * stage.steps * train.batch_tokens for each, stage in zip(flops, stages, strict=True)
        ),
        memory=max(memories, key=lambda memory: memory.total),
        process_bytes=given.process_bytes,
        tokens_per_second=None,
        expected_seconds=None,
        mixture=given.mixture,
        choices=(
            *given.choices,
            *_rounded(train),
            Choice("train.micro_batch", str(micros[0].sequences), micros[0].reason),
        ),
        machine=machine,
        stages=stages,
        asked=given.asked,
        micro_batches=tuple(micro.sequences for micro in micros),
    )


def whole_steps(tokens: int, batch_tokens: int) -> int:
    """The steps of a run of `tokens` tokens. Raises RecipeError for less than one."""
    if tokens < batch_tokens:
        raise RecipeError(
            f"the run has {tokens} tokens, less than one step of train.batch_tokens = {batch_tokens}; "
            f"raise train.tokens or lower train.batch_tokens"
        )
    return tokens // batch_tokens


def with_speed(plan: Plan, tokens_per_second: float) -> Plan:
    """The plan with its measured speed, and the time that follows for the steps alone.

    The speed is that of the first stage; longer sequences take as much more time as they take FLOPs.
    """
    seconds = plan.total_flops / plan.flops_per_token / tokens_per_second
    return replace(plan, tokens_per_second=tokens_per_second, expected_seconds=seconds)


def tokens_for_minutes(
    tokens_per_second: float,
    minutes: float,
    min_tokens: int | None,
    max_tokens: int | None,
    batch_tokens: int,
) -> int:
    """The length of a run given in minutes: whole steps, at least one, within the bounds.

    The lower bound is rounded up to whole steps and the upper one down; where no whole step lies between them
    the upper one wins, and below one step it is refused.
    """
    steps = round(tokens_per_second * minutes * 60 / batch_tokens)
    steps = max(steps, math.ceil((min_tokens or 0) / batch_tokens), 1)
    if max_tokens is not None:
        if max_tokens < batch_tokens:
            raise RecipeError(
                f"plan.max_tokens = {max_tokens} is less than one step of train.batch_tokens = {batch_tokens}; "
                f"raise it or lower train.batch_tokens"
            )
        steps = min(steps, max_tokens // batch_tokens)
    return steps * batch_tokens


def write_plan(path: Path, plan: Plan) -> None:
    """Stores a plan atomically."""
    write_json(path, {"format": _FORMAT, **asdict(plan)})


def read_plan(path: Path) -> Plan:
    """A stored plan; raises MissingError or DamagedError."""
    value = read_json(path)
    if not isinstance(value, dict) or value.pop("format", None) != _FORMAT:
        raise DamagedError(f"{path} is not a plan that this danlu wrote; remove it and plan again")
    try:
        return TypeAdapter(Plan).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise DamagedError(f"{path} is damaged ({key}: {first['msg']}); remove it and plan again") from error


def render(plan: Plan) -> str:
    """The plan as aligned text for the terminal."""
    rows = [*_size_rows(plan), *_cost_rows(plan)]
    width = max(len(name) for name, _ in rows)
    lines = [f"  {name:<{width}}  {value}" for name, value in rows]
    lines += ["", *_mixture_lines(plan.mixture)] if plan.mixture else []
    lines += ["", *_stage_lines(plan)] if len(plan.stages) > 1 else []
    if plan.choices:
        key_width = max(len(choice.key) for choice in plan.choices)
        value_width = max(len(choice.value) for choice in plan.choices)
        lines += ["", "  chosen"]
        lines += [f"    {c.key:<{key_width}}  {c.value:<{value_width}}  {c.reason}" for c in plan.choices]
    return "\n".join(line.rstrip() for line in lines)


def _rounded(train: TrainSettings) -> Iterator[Choice]:
    if train.rounding:
        yield Choice("train.batch_tokens", f"{train.batch_tokens:,}", train.rounding)


def _micro_batch(
    train: TrainSettings, stage: PlannedStage, machine: Machine, memory_of: Callable[[int], int]
) -> MicroBatch:
    """The recipe's micro-batch; in a stage of another length as many tokens, as near as whole sequences come."""
    batch = train.batch_tokens // stage.sequence_length
    if train.micro_batch == "auto":
        return choose_micro_batch(batch, machine.memory_available, memory_of)
    most = max(1, train.micro_batch * train.sequence_length // stage.sequence_length)
    sequences = next(count for count in range(min(most, batch), 0, -1) if batch % count == 0)
    return MicroBatch(sequences, batch // sequences, "given by the recipe")


def _size_rows(plan: Plan) -> Iterator[tuple[str, str]]:
    yield "parameters", f"{human(plan.parameters)}, of them {human(plan.embedding_parameters)} embeddings"
    yield "tokens", f"{human(plan.tokens)} in {plan.steps:,} steps of {plan.batch_tokens:,}"
    yield (
        "batch",
        f"{plan.accumulation} x {plan.micro_batch} sequences of {plan.sequence_length:,} tokens",
    )
    yield "FLOPs", f"{human(plan.flops_per_token)} a token, {plan.total_flops:.2e} in all"


def _cost_rows(plan: Plan) -> Iterator[tuple[str, str]]:
    memory = plan.memory
    parts = {
        "weights": memory.parameters,
        "gradients": memory.gradients,
        "optimizer": memory.optimizer,
        "activations": memory.activations,
        "logits": memory.logits,
    }
    detail = ", ".join(f"{name} {human_bytes(size)}" for name, size in parts.items())
    free = plan.machine.memory_available
    yield (
        "memory",
        f"{human_bytes(memory.total + plan.process_bytes)}"
        + (f" of {human_bytes(free)} free" if free else ""),
    )
    yield "", f"{detail}; the process itself {human_bytes(plan.process_bytes)}"
    yield "machine", f"{plan.machine.processor}, {plan.machine.cores} cores"
    if plan.tokens_per_second is not None and plan.expected_seconds is not None:
        gigaflops = plan.tokens_per_second * plan.flops_per_token / 1e9
        yield "speed", f"{human(plan.tokens_per_second)} tokens/s measured, {gigaflops:.3g} GFLOP/s"
        yield "time", f"{human_seconds(plan.expected_seconds)} for the steps, without evaluation and saves"


def _stage_lines(plan: Plan) -> Iterator[str]:
    """What each stage is, a line each."""
    yield "  stages"
    first = 0
    for stage, sequences in zip(plan.stages, plan.micro_batches, strict=True):
        accumulation = plan.batch_tokens // stage.sequence_length // sequences
        shares = ", ".join(f"{name} {weight:.1%}" for name, weight in sorted(stage.weights.items()))
        yield (
            f"    steps {first + 1:,} to {first + stage.steps:,}: {accumulation} x {sequences} sequences of "
            f"{stage.sequence_length:,} tokens by {stage.packing}; {shares}"
        )
        first += stage.steps


def _mixture_lines(rows: tuple[PlannedDomain, ...]) -> list[str]:
    width = max(len("domain"), *(len(row.domain) for row in rows))
    lines = [f"  {'domain':<{width}}  {'share':>7}  {'has':>7}  {'takes':>7}  {'epochs':>7}"]
    for row in rows:
        has, takes = human(row.available_tokens), human(row.planned_tokens)
        lines.append(f"  {row.domain:<{width}}  {row.share:>7.2%}  {has:>7}  {takes:>7}  {row.epochs:>7.2f}")
    return lines
