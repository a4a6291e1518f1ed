"""Builds a trainer from a recipe and a run directory, in numbered steps.

Guarantees: the same recipe and seed give the same initial weights; a run with checkpoints is continued, or refused
when it is another training; never a silent fresh start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from danlu.attention.choose import resolve_attend
from danlu.checkpoint.load import load
from danlu.checkpoint.steps import list_steps
from danlu.errors import MismatchError, MissingError, RecipeError
from danlu.files import digest, remove_temporaries
from danlu.log import say
from danlu.mixture.stages import PlannedStage
from danlu.model.count import count_parameters
from danlu.model.init import initialise
from danlu.model.network import Network
from danlu.model.shape import Shape, resolve_shape
from danlu.monitor.runlog import RunLog
from danlu.optim.build import make_optimizer
from danlu.optim.rates import resolve_rates
from danlu.plan.plan import Plan
from danlu.precision.choose import resolve_precision
from danlu.recipe import Recipe
from danlu.shards.documents import DomainDocuments
from danlu.tokenizer.codec import Codec
from danlu.tokens.batches import Batches, open_batches
from danlu.tokens.blocked import read_blocked
from danlu.tokens.domains import open_domains, rank_by
from danlu.train.identity import identity, require_same
from danlu.train.state import Trainer


def assemble(recipe: Recipe, run: Path, plan: Plan) -> Trainer:
    """The trainer of a run, at the newest good checkpoint if there is one."""
    return _restored(build(recipe, run, plan))


def build(
    recipe: Recipe, run: Path, plan: Plan, documents: Mapping[str, DomainDocuments] | None = None
) -> Trainer:
    """The trainer of a run before its first step; `documents` are its training text where that is open already."""
    # 1. where: the device and the number format
    device = resolve_device(recipe)
    precision = resolve_precision(recipe.precision, device)
    # 2. what is read: tokenizer, then samples in their order
    codec = Codec.load(run / "tokenizer" / "tokenizer.json")
    batches = open_data(recipe, run, codec, plan.stages, documents)
    # 3. what is trained: the network with its first weights
    shape = resolve_shape(recipe.model, codec.vocab_size)
    network = build_network(recipe, shape, device)
    # 4. what moves it
    rates = resolve_rates(recipe.optimizer, count_parameters(shape).non_embedding, plan.tokens)
    parameters = dict(network.named_parameters())
    optimizer = make_optimizer(parameters, network.roles(), network.splits(), recipe.optimizer, rates)
    # 5. what is written down, and what this training is
    return Trainer(
        recipe=recipe,
        run=run,
        plan=plan,
        device=device,
        precision=precision,
        codec=codec,
        shape=shape,
        network=network,
        forward=_compiled(recipe, network, device),
        optimizer=optimizer,
        batches=batches,
        log=RunLog(run),
        identity=identity(recipe, plan.stages, plan.asked, batches.fingerprints, codec.sha256),
    )


def resolve_device(recipe: Recipe) -> torch.device:
    """The device of the recipe; "auto" takes a GPU where there is one."""
    wanted = recipe.train.device
    available = torch.cuda.is_available()
    if wanted == "cuda" and not available:
        raise RecipeError('train.device = "cuda", but torch sees no GPU here; use "auto" or "cpu"')
    return torch.device("cuda" if available and wanted != "cpu" else "cpu")


def training_documents(recipe: Recipe, run: Path, codec: Codec) -> dict[str, DomainDocuments]:
    """The training text of each domain of a run, the recipe's slices cut out."""
    documents = open_domains(run / "tokens", "train", run / "corpus", recipe.mixture.slice, codec)
    if not documents:
        raise MissingError(f"{run / 'tokens' / 'train'} holds no token shards; build the tokens first")
    return documents


def open_data(
    recipe: Recipe,
    run: Path,
    codec: Codec,
    stages: Sequence[PlannedStage],
    documents: Mapping[str, DomainDocuments] | None = None,
) -> Batches:
    """The training samples of a run in the order that its stages give; `documents` where they are open already."""
    if documents is None:
        documents = training_documents(recipe, run, codec)
    ordered = sorted({pair for stage in stages for pair in stage.order_by.items()})
    return open_batches(
        documents,
        run / "tokens" / "train",
        codec,
        stages,
        batch_tokens=recipe.train.batch_tokens,
        seed=recipe.seed,
        ranks={pair: rank_by(documents[pair[0]], run / "corpus", "train", pair[1]) for pair in ordered},
        blocked=read_blocked(run, documents),
    )


def build_network(recipe: Recipe, shape: Shape, device: torch.device) -> Network:
    """The network with its first weights, a function of (shape, seed)."""
    network = Network(shape, resolve_attend(recipe.model.attention))
    initialise(network, recipe.seed)
    return network.to(device)


def _compiled(recipe: Recipe, network: Network, device: torch.device) -> nn.Module:
    wanted = recipe.train.compile
    if wanted is True or (wanted == "auto" and device.type == "cuda"):
        return torch.compile(network)  # type: ignore[return-value]
    return network


def _restored(trainer: Trainer) -> Trainer:
    directory = trainer.run / "checkpoints"
    remove_temporaries(directory)
    if not list_steps(directory):
        if any(directory.glob("*")):
            raise MismatchError(
                f"{directory} holds files but no checkpoint; move them away or name another run"
            )
        return trainer
    loaded = load(directory)
    for reason in loaded.skipped:
        say(f"  {reason}")
        trainer.log.event("checkpoint_damaged", reason=reason)
    require_same(loaded.state["identity"], trainer.identity, trainer.run, loaded.step)
    trainer.network.load_state_dict(loaded.tensors["model"])
    trainer.optimizer.load_state_tensors(loaded.tensors["optimizer"])
    trainer.counters = replace(
        trainer.counters,
        step=loaded.step,
        samples=loaded.state["samples"],
        tokens=loaded.state["tokens"],
        seconds=loaded.state["seconds"],
    )
    if loaded.step:
        say(f"  resumed at step {loaded.step}")
    trainer.log.event("resumed", step=loaded.step, plan=digest(trainer.identity)[:16])
    return trainer
