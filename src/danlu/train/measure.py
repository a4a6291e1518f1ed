"""A few training steps on this machine before the run: what the plan is built on.

The weights that they move are thrown away. Costs: two steps to warm up and three timed ones. A length given in
minutes becomes tokens here, once, within the recipe's bounds; the plan is stored, so that a resume on a busier
machine keeps the schedule.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from danlu.errors import RecipeError
from danlu.log import human
from danlu.mixture.stages import describe_caps, describe_change, plan_stages
from danlu.mixture.weights import most_tokens
from danlu.model.count import count_parameters
from danlu.model.shape import Shape, resolve_shape
from danlu.monitor.memory import resident_bytes
from danlu.optim.rates import resolve_rates
from danlu.optim.settings import ScheduleSettings
from danlu.plan.machine import read_machine
from danlu.plan.mixture import plan_mixture
from danlu.plan.plan import (
    Choice,
    Given,
    Plan,
    make_plan,
    tokens_for_minutes,
    whole_steps,
    with_speed,
)
from danlu.precision.choose import resolve_precision
from danlu.recipe import Recipe
from danlu.shards.documents import DomainDocuments
from danlu.tokenizer.codec import Codec
from danlu.tokens.explain import describe_packing
from danlu.train.assemble import build, open_data, resolve_device, training_documents
from danlu.train.identity import Course, chart_course, wanted_stages
from danlu.train.step import train_step

_WARM_UP_STEPS = 2
_TIMED_STEPS = 3


def measure_plan(recipe: Recipe, run: Path) -> Plan:
    """The plan of a run, with its speed measured and its tokens fixed. Writes nothing.

    A run that is trained in part keeps the stages of that part.
    """
    codec = Codec.load(run / "tokenizer" / "tokenizer.json")
    shape = resolve_shape(recipe.model, codec.vocab_size)
    documents = training_documents(recipe, run, codec)
    available = {name: some.tokens for name, some in documents.items()}
    seconds, process_bytes = _rehearse(recipe, run, shape, documents)
    speed = recipe.train.batch_tokens / seconds
    most = max(most_tokens(wanted.mixture, available) for wanted in wanted_stages(recipe))
    tokens, reason = _total_tokens(recipe, speed, most)
    steps = whole_steps(tokens, recipe.train.batch_tokens)
    course = chart_course(recipe, available, steps, run / "checkpoints")
    packing = describe_packing(open_data(recipe, run, codec, course.stages, documents))
    plan = _plan(recipe, shape, available, course, process_bytes, reason)
    said = (Choice("tokens.packing", kind, sentence) for kind, sentence in packing)
    return with_speed(replace(plan, choices=(*plan.choices, *said)), speed)


def _rehearse(
    recipe: Recipe, run: Path, shape: Shape, documents: Mapping[str, DomainDocuments]
) -> tuple[float, int]:
    """Seconds a step (the median: the fastest would promise too much), and bytes of the process without its network.

    A rehearsal of the first stage is shorter than a warm-up may be, and may need more epochs of a small text than the
    run allows.
    """
    first = wanted_stages(recipe)[0]
    endless = replace(
        first, mixture=first.mixture.model_copy(update={"max_epochs": math.inf}), until_tokens=None
    )
    available = {name: some.tokens for name, some in documents.items()}
    stages = plan_stages([endless], available, _WARM_UP_STEPS + _TIMED_STEPS, recipe.train.batch_tokens)
    rehearsed = recipe.model_copy(update={"schedule": ScheduleSettings()})
    plan = _plan(rehearsed, shape, {}, Course(stages, ""), process_bytes=0)
    trainer = build(rehearsed, run, plan, documents)
    process_bytes = resident_bytes() - plan.memory.parameters - plan.memory.optimizer
    seconds = []
    for number in range(plan.steps):
        began = time.perf_counter()
        train_step(trainer, trainer.batches.step(number))
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[_WARM_UP_STEPS:]), max(process_bytes, 0)


def _total_tokens(recipe: Recipe, tokens_per_second: float, text: int) -> tuple[int, str]:
    """The length of the run, and why it is that where the recipe gives it in minutes; `text` is all that there is."""
    train, bounds = recipe.train, recipe.plan
    if train.steps is not None:
        return train.steps * train.batch_tokens, ""
    if train.tokens is not None:
        return train.tokens, ""
    if train.minutes is None:
        raise RecipeError("the length of the run is one of train.tokens, train.steps and train.minutes")
    wanted = tokens_per_second * train.minutes * 60
    reason = f"{train.minutes:g} minutes at the measured speed"
    limits = {"plan.max_tokens": bounds.max_tokens} if bounds.max_tokens is not None else {}
    if text >= train.batch_tokens:  # less than a step is refused with its own words, by the mixture
        limits[f"mixture.max_epochs = {recipe.mixture.max_epochs:g} of this text"] = text
    name, most = min(limits.items(), key=lambda item: item[1], default=("", None))
    tokens = tokens_for_minutes(tokens_per_second, train.minutes, bounds.min_tokens, most, train.batch_tokens)
    if most is not None and wanted > most:
        reason = f"as many as {name} allows; {train.minutes:g} minutes would be {human(wanted)}"
    elif bounds.min_tokens and wanted < bounds.min_tokens:
        reason = f"at least plan.min_tokens; {train.minutes:g} minutes at the measured speed would be {human(wanted)}"
    return tokens, reason


def _plan(
    recipe: Recipe,
    shape: Shape,
    available: Mapping[str, int],
    course: Course,
    process_bytes: int,
    length_reason: str = "",
) -> Plan:
    """The plan of a course; `available` has the training tokens of each domain, empty for the rehearsal."""
    stages = course.stages
    batch_tokens = recipe.train.batch_tokens
    tokens = sum(stage.steps for stage in stages) * batch_tokens
    rates = resolve_rates(recipe.optimizer, count_parameters(shape).non_embedding, tokens)
    choices = [Choice("optimizer.learning_rate", f"{rates.learning_rate:.2g}", rates.reason)]
    if length_reason:
        choices.append(Choice("train.tokens", human(tokens), length_reason))
    if available:
        caps = describe_caps(wanted_stages(recipe), stages, available, batch_tokens, course.done)
        choices += [Choice("mixture", "capped", cap) for cap in caps]
    if course.was and (change := describe_change(course.was, stages)):
        choices.append(Choice("mixture", "changed", change))
    dtype = resolve_precision(recipe.precision, resolve_device(recipe)).dtype
    given = Given(
        stages=stages,
        asked=course.asked,
        optimizer=recipe.optimizer.kind,
        learning_rate=rates.learning_rate,
        schedule=recipe.schedule,
        activation_bytes=dtype.itemsize if dtype is not None else 4,
        mixture=plan_mixture(stages, available, batch_tokens) if available else (),
        choices=tuple(choices),
        process_bytes=process_bytes,
    )
    return make_plan(shape, recipe.train, read_machine(), given)
