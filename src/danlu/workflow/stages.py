"""The stages of a run, in order: each says that it is done already, or why it is done now, and does it.

Read `run_all` first. Guarantees: what is done is not done twice; what follows from a change is redone and nothing
else; a stage that comes out different under existing checkpoints is refused and does not count as done, with the old
corpus and tokenizer still there. Costs: a run that is done answers in the time it takes to list its files and to read
the newest checkpoint; torch is imported only to plan and train.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from danlu.checkpoint.steps import newest_good
from danlu.errors import InputError
from danlu.files import read_json
from danlu.log import human, say
from danlu.mixture.weights import check_domains
from danlu.recipe import Recipe
from danlu.train.identity import wanted_stages
from danlu.train.limits import Limits
from danlu.workflow import depends
from danlu.workflow.explained import explain_worst_step
from danlu.workflow.results import describe_evaluation, evaluate_run, export_run
from danlu.workflow.run import Run, hold
from danlu.workflow.stage import (
    NEVER,
    Accept,
    Stage,
    facts_of,
    rebuilt,
    remove_damaged,
    why_stale,
    write_manifest,
)
from danlu.workflow.texts import (
    describe_funnel,
    describe_tokens,
    encode_corpus,
    make_tokenizer,
    show_first_documents,
)
from danlu.workflow.threads import settle_waiting
from danlu.workflow.training import (
    has_checkpoints,
    is_saved,
    record_training,
    recorded_tokens,
    refuse_another_training,
    refuse_other_data,
)

if TYPE_CHECKING:
    from danlu.plan.plan import Plan


def run_all(run: Run, limits: Limits | None = None, fresh: bool = False) -> None:
    """Every stage that is not done, from the text to the report."""
    with hold(run, fresh):
        prepare(run)
        train_stage(run, limits)
        conclude(run)
    say(f'Next: danlu generate {run.directory} "Once upon a time"; danlu inspect {run.directory} --step 1')


def prepare(run: Run) -> Plan:
    """Everything before the training."""
    through(run, "plan")
    return stored_plan(run)


def through(run: Run, last: str) -> None:
    """The stages before the training up to the one named `last`."""
    for name, _, do in PREPARATION:
        do(run)
        if name == last:
            break


def conclude(run: Run) -> None:
    """Everything after the training, for the newest checkpoint."""
    evaluate_stage(run)
    explain_stage(run)
    export_stage(run)
    report_stage(run)


def build_corpus_stage(run: Run) -> None:
    """The sources become clean documents, split in training and validation.

    Raises InputError where they cannot be trained on; the corpus stands then all the same, to be looked at.
    """
    from danlu.account.funnel import from_json
    from danlu.corpus.build import build_corpus, clear_work

    check_mixtures(run.recipe)
    stage = depends.corpus(run)
    if why := _begin(stage):
        from danlu.workflow.curation import write_page

        show_first_documents(run)
        with rebuilt(stage, _accept(run, stage, why)) as (directory, facts):
            funnel = build_corpus(run.recipe.corpus, run.base, directory)
            facts.update(funnel.to_json())
        say(describe_funnel(funnel, run.recipe.corpus.warn_drop_share))
        say(f"  {write_page(run)} shows what was dropped, and what other thresholds would do")
    # Also what a build left that was refused, once the corpus that stands is the one that is wanted.
    clear_work(stage.directory)
    if problem := from_json(read_json(stage.directory / "funnel.json")).problem:
        raise InputError(problem)


def train_tokenizer_stage(run: Run) -> None:
    """The corpus becomes a vocabulary; or the recipe's own tokenizer is taken over, once it is found sound."""
    stage = depends.tokenizer(run)
    if why := _begin(stage):
        with rebuilt(stage, _accept(run, stage, why)) as (directory, facts):
            facts.update(make_tokenizer(run, directory))


def would_rebuild(run: Run) -> str | None:
    """The first stage before the plan that stands and is not what the recipe asks for; None where there is none."""
    stale = ((name, why_stale(decides(run))) for name, decides, _ in PREPARATION[:3])
    return next((name for name, why in stale if why not in (None, NEVER)), None)


def tokens_stand(run: Run) -> bool:
    """Whether there are token shards, made from what the recipe says now."""
    return all(why_stale(decides(run)) is None for _, decides, _ in PREPARATION[:3])


def build_tokens_stage(run: Run) -> None:
    """Documents become shards of token ids; a build that was cut off goes on at the shard where it stopped."""
    stage = depends.tokens(run)
    if why := _begin(stage):
        from danlu.workflow.curation import write_page

        remove_damaged(stage)
        report = encode_corpus(run, stage.directory)
        write_manifest(stage, report.to_json(), _accept(run, stage, why))
        say(describe_tokens(report))
        # Its funnel counts in tokens too, now that it is known how much text one holds.
        write_page(run)


def plan_stage(run: Run) -> None:
    """What the training will be and take, measured on this machine and stored."""
    stage = depends.plan(run)
    if _begin(stage):
        settle_waiting()
        from danlu.plan.plan import write_plan
        from danlu.train.measure import measure_plan

        write_plan(run.directory / "plan.json", measure_plan(_of_recorded_length(run), run.directory))
        write_manifest(stage)


def train_stage(run: Run, limits: Limits | None = None) -> None:
    """The training, from where it stands to the plan's end or a limit of this command."""
    from danlu.plan.plan import render

    plan = stored_plan(run)
    if is_saved(run.directory, plan.steps):
        say("training: done already")
        return
    settle_waiting()
    from danlu.train.loop import train

    if has_checkpoints(run.directory):
        say(f"training: going on, {human(plan.tokens)} tokens in {plan.steps:,} steps as planned")
        for choice in plan.choices:
            if choice.value == "changed":
                say(f"  {choice.key} {choice.value} {choice.reason}")
    else:
        say(f"training, as planned:\n{render(plan)}")
    inputs, domains = depends.training_inputs(run)
    record_training(run.recipe, run.directory, inputs, domains, plan.tokens)
    outcome = train(run.recipe, run.directory, plan, limits or Limits())
    done = f"{human(outcome.tokens)} of {human(outcome.total_tokens)} tokens, step {outcome.step}"
    if outcome.status == "limit":
        say(
            f"  stopped at this command's limit: {done}. The same command without the limit goes on from there"
        )
    else:
        say(f"  done: {done}")


def evaluate_stage(run: Run) -> list[dict[str, Any]]:
    """Loss, perplexity and bits per byte of the validation text, beside simple baselines of the same bytes."""
    stage = depends.evaluation(run)
    if _begin(stage):
        rows = evaluate_run(run)
        write_manifest(stage, {"rows": rows})
        for row in rows:
            say(f"  {describe_evaluation(row)}")
    measured: list[dict[str, Any]] = facts_of(stage)["rows"]
    return measured


def explain_stage(run: Run) -> None:
    """The worst step of the training and the documents that it saw."""
    stage = depends.explanation(run)
    if _begin(stage):
        write_manifest(stage, explain_worst_step(run))


def export_stage(run: Run) -> None:
    """The newest checkpoint as a directory that `transformers` opens, verified."""
    stage = depends.export(run)
    if _begin(stage):
        facts = export_run(run, stage.directory)
        write_manifest(stage, facts)
        say(
            f"  {stage.directory}: its logits differ from the network's by {facts['max_logit_difference']:.1e} at most"
        )


def report_stage(run: Run) -> Path:
    """One page of the whole run; it is quick, and made anew each time."""
    from danlu.report.write import write_report

    path = write_report(run.directory)
    say(f"report: {path}")
    return path


PREPARATION: tuple[tuple[str, Callable[[Run], Stage], Callable[[Run], None]], ...] = (
    ("corpus", depends.corpus, build_corpus_stage),
    ("tokenizer", depends.tokenizer, train_tokenizer_stage),
    ("tokens", depends.tokens, build_tokens_stage),
    ("plan", depends.plan, plan_stage),
)
"""Before the training, in order: the name, what decides the stage, what does it."""


def outlook(run: Run, last: str = "training", fresh: bool = False) -> Iterator[tuple[str, str]]:
    """What would be done up to `last`, as (stage, what and why), for --dry-run. The texts are not read."""
    changing = None
    for name, decides, _ in PREPARATION:
        why = why_stale(decides(run))
        if why == NEVER:
            yield name, f"would be done: {NEVER}"
        elif changing:
            yield name, f"would be redone if the {changing} comes out different"
        else:
            yield name, f"would be redone: {why}" if why else "done already"
        changing = changing or (name if why else None)
        if name == last:
            return
    yield "training", "would be started over" if fresh else _training_outlook(run, changing)


def stored_plan(run: Run) -> Plan:
    """The plan that the run follows."""
    from danlu.plan.plan import read_plan

    return read_plan(run.directory / "plan.json")


def _training_outlook(run: Run, changing: str | None) -> str:
    refuse_another_training(run.recipe, run.directory)
    newest = newest_good(run.directory / "checkpoints")
    if newest is None:
        return f"would be done: {NEVER}"
    if changing:
        return f"would be refused if the {changing} comes out different; --fresh would start it over"
    planned = stored_plan(run).steps
    return "done already" if newest.step >= planned else f"would go on from step {newest.step} of {planned}"


def check_mixtures(recipe: Recipe) -> None:
    """Refuses names of a preset or of factors that are not those of the text, before any work is done for them."""
    domains = {source.domain for source in recipe.corpus.source} | set(recipe.tokens.megatron)
    for wanted in wanted_stages(recipe):
        check_domains(wanted.mixture, domains | set(wanted.mixture.slice))


def _begin(stage: Stage) -> str | None:
    """Prints the headline of a stage, and returns why it must be done."""
    why = why_stale(stage)
    what = "done already" if why is None else "building" if why == NEVER else f"redone because {why}"
    say(f"{stage.name}: {what}")
    return why


def _accept(run: Run, stage: Stage, why: str) -> Accept:
    return lambda outputs, domains: refuse_other_data(run.directory, stage.name, outputs, domains, why)


def _of_recorded_length(run: Run) -> Recipe:
    """The recipe; where a training has begun, with the length that its first plan fixed, so that none moves it."""
    total_tokens = recorded_tokens(run.directory)
    if total_tokens is None or run.recipe.train.minutes is None:
        return run.recipe
    train = run.recipe.train.model_copy(update={"minutes": None, "tokens": total_tokens})
    return run.recipe.model_copy(update={"train": train})
