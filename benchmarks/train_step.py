"""danlu's whole training step against transformers' LlamaForCausalLM, side by side in one process.

Ours is the product's own step, whole: the loader (train/loop.py's prefetch over memory-mapped shards), train_step, and
the observer that writes metrics. Theirs gets the same batches for nothing: loss, backward, clipping to norm 1, fused
AdamW, reading loss and norm. Both start from the same weights and take turns, so that a busy moment hits both; the
table shows medians and their ratio. The first losses must agree to 1e-4. "outside" is the share of our step that is
spent neither in the forward and backward pass nor in clipping and the optimizer. The last lines show how long it takes
to open the data and make the batch of a late step and of the first one.

Run:  python benchmarks/train_step.py [--seconds 20] [--only small|middle|large] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from danlu.workflow.threads import settle_waiting

settle_waiting()  # before torch is imported, as `danlu train` does

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from danlu.model.naming import to_huggingface
from danlu.model.shape import Shape, resolve_shape
from danlu.plan.machine import read_machine
from danlu.plan.plan import Given, make_plan
from danlu.recipe import Recipe, parse
from danlu.records import Batch, Document
from danlu.shards.shard import ShardHeader, write_shard
from danlu.tokens.batches import prefetch
from danlu.train import assemble
from danlu.train import step as step_module
from danlu.train.observe import Observer
from danlu.train.state import Trainer
from danlu.train.step import train_step
from machine import busy_loop_gain, machine

THREADS = 2
LEARNING_RATE = 3e-4
LOSS_TOLERANCE = 1e-4
LATE_STEP = 1_000_000_000


@dataclass(frozen=True)
class Case:
    """Shapes of one row of the table."""

    name: str
    width: int
    layers: int
    sequence_length: int
    rows: int
    vocab_size: int


CASES = (
    Case("small", width=128, layers=4, sequence_length=64, rows=12, vocab_size=256),
    Case("middle", width=256, layers=6, sequence_length=256, rows=8, vocab_size=4096),
    Case("large", width=512, layers=8, sequence_length=512, rows=4, vocab_size=8192),
)


@dataclass(frozen=True)
class Result:
    """Medians of one case, in milliseconds; `outside` as a share of our step."""

    case: str
    danlu_ms: float
    transformers_ms: float
    ratio: float
    outside: float
    rounds: int
    first_loss_difference: float


@dataclass(frozen=True)
class Vocabulary:
    """What training needs of a tokenizer; the text is random ids."""

    vocab_size: int
    bos_id: int = 0
    eos_id: int = 1
    pad_id: int = 1
    sha256: str = "0" * 64


def recipe_of(case: Case) -> Recipe:
    """The case as a recipe: one long document cut into full rows, so that both sides see the same."""
    return parse(
        {
            "name": case.name,
            "corpus": {"source": [{"domain": "random", "paths": ["none"]}]},
            "tokens": {"packing": "chunk", "document_mask": False, "reset_positions": False},
            "mixture": {"max_epochs": 1e12},
            "model": {
                "width": case.width,
                "layers": case.layers,
                "heads": case.width // 64,
                "tie_embeddings": False,
                "qk_norm": False,
            },
            "train": {
                "steps": 2 * LATE_STEP,
                "sequence_length": case.sequence_length,
                "batch_tokens": case.rows * case.sequence_length,
                "micro_batch": case.rows,
                "device": "cpu",
            },
            "optimizer": {"learning_rate": LEARNING_RATE, "weight_decay": 0.0},
            "schedule": {"kind": "constant", "warmup_tokens": 0},
            "loss": {"z_loss": 0.0},
            "evaluate": {"every_steps": 0},
        }
    )


def write_random_tokens(case: Case, vocabulary: Vocabulary, run: Path) -> None:
    """64 batches of random ids as one document of one domain."""
    amount = 64 * case.rows * case.sequence_length - 1
    ids = np.random.default_rng(0).integers(2, case.vocab_size, amount).astype(np.uint32)
    ids = np.concatenate([[0], ids, [1]]).astype(np.uint32)
    directory = run / "tokens" / "train" / "random"
    directory.mkdir(parents=True)
    header = ShardHeader("random", vocabulary.sha256, vocabulary.vocab_size, 0, 1, "benchmark")
    document = Document("0", "", "random", "random", "random", 0, amount)
    write_shard(directory / "shard-00000.safetensors", header, [document], [ids])


def build_trainer(case: Case, run: Path) -> Trainer:
    """Our side, assembled by the product's own functions over random ids."""
    vocabulary: Any = Vocabulary(case.vocab_size)
    recipe = recipe_of(case)
    write_random_tokens(case, vocabulary, run)
    shape = resolve_shape(recipe.model, case.vocab_size)
    given = Given(
        tokens=2 * LATE_STEP * recipe.train.batch_tokens,
        optimizer="adamw",
        learning_rate=LEARNING_RATE,
        schedule=recipe.schedule,
        document_mask=False,
        activation_bytes=4,
        mixture=(),
        choices=(),
        process_bytes=0,
    )
    plan = make_plan(shape, recipe.train, read_machine(), given)
    load = assemble.Codec.load
    assemble.Codec.load = lambda _: vocabulary  # type: ignore[method-assign,assignment]
    try:
        return assemble.build(recipe, run, plan)
    finally:
        assemble.Codec.load = load  # type: ignore[method-assign]


class Inside:
    """Adds up the time spent in what a step is for, by wrapping the functions that do it."""

    def __init__(self, trainer: Trainer) -> None:
        self.seconds = 0.0
        trainer.forward = self._timed(trainer.forward)  # type: ignore[assignment]
        trainer.optimizer.step = self._timed(trainer.optimizer.step)  # type: ignore[method-assign]
        for name in ("losses", "gradient_norm", "scale_gradients"):
            setattr(step_module, name, self._timed(getattr(step_module, name)))
        torch.autograd.backward = self._timed(torch.autograd.backward)

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - began

        return timed


def transformers_step(shape: Shape, weights: dict[str, torch.Tensor]) -> Callable[[Batch], float]:
    """Their side: the same weights, loss, clipping and optimizer."""
    config = LlamaConfig(
        vocab_size=shape.vocab_size,
        hidden_size=shape.width,
        intermediate_size=shape.ffn_width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        rms_norm_eps=shape.norm_epsilon,
        tie_word_embeddings=shape.tie_embeddings,
        rope_parameters={"rope_type": "default", "rope_theta": shape.rope_theta},
        attn_implementation="sdpa",
        use_cache=False,
    )
    model = LlamaForCausalLM(config)
    model.load_state_dict(weights)
    model.train()
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(
        parameters, lr=LEARNING_RATE, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0, fused=True
    )

    def step(batch: Batch) -> float:
        optimizer.zero_grad()
        labels = torch.from_numpy(batch.labels)
        loss = model(input_ids=torch.from_numpy(batch.inputs), labels=labels, shift_labels=labels).loss
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        float(norm)
        return float(loss.detach())

    return step


def measure(case: Case, seconds: float, run: Path) -> Result:
    """Alternates both sides on the same batches for about `seconds`; the first two rounds only warm up."""
    trainer = build_trainer(case, run)
    theirs = transformers_step(trainer.shape, to_huggingface(trainer.shape, trainer.network.state_dict()))
    inside, observer = Inside(trainer), Observer(trainer)
    batches: Iterator[Batch] = prefetch(trainer.batches, 0, case.rows, LATE_STEP)
    difference, rounds, end = 0.0, 0, time.perf_counter() + seconds
    mine: list[float] = []
    other: list[float] = []
    outside: list[float] = []
    while rounds < 7 or time.perf_counter() < end:
        inside.seconds = 0.0
        began = time.perf_counter()
        observer.step_begins()
        batch = next(batches)
        result = train_step(trainer, batch)
        observer.step_ended(batch, result)
        middle = time.perf_counter()
        outside.append(1.0 - inside.seconds / (middle - began))
        loss = theirs(batch)
        other.append(time.perf_counter() - middle)
        mine.append(middle - began)
        if rounds < 2:
            difference = max(difference, abs(result.loss - loss))
        rounds += 1
    batches.close()  # type: ignore[attr-defined]
    trainer.log.close()
    if difference > LOSS_TOLERANCE:
        raise SystemExit(
            f"{case.name}: the first losses differ by {difference:.2e}; the two are not the same"
        )
    ours_ms, theirs_ms = (1e3 * statistics.median(times[2:]) for times in (mine, other))
    share = statistics.median(outside[2:])
    return Result(case.name, ours_ms, theirs_ms, theirs_ms / ours_ms, share, rounds, difference)


def resume_ms(case: Case, run: Path, step: int) -> float:
    """Opening the data of a run and making the batch of a step, in milliseconds; the median of seven."""
    recipe, vocabulary = recipe_of(case), Vocabulary(case.vocab_size)
    times = []
    for _ in range(7):
        began = time.perf_counter()
        tokens = 2 * LATE_STEP * recipe.train.batch_tokens
        batches = assemble.open_data(recipe, run, vocabulary, tokens)  # type: ignore[arg-type]
        batches.batch(step * case.rows, case.rows)
        times.append(time.perf_counter() - began)
    return 1e3 * statistics.median(times)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="of measuring, per case")
    parser.add_argument("--only", choices=[case.name for case in CASES])
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    gain, load = busy_loop_gain(), os.getloadavg()
    print(f"{machine()}; torch {torch.__version__}, {options.threads} threads, fp32")
    print(f"two pinned busy loops do {gain:.2f} times the work of one; load average {load[0]:.2f}")
    print(
        f"{'case':8} {'danlu':>10} {'transformers':>13} {'ratio':>7} {'outside':>8} {'rounds':>7}  losses differ by"
    )
    results = []
    for case in CASES:
        if options.only not in (None, case.name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            result = measure(case, options.seconds, Path(folder))
            first, late = (resume_ms(case, Path(folder), step) for step in (0, LATE_STEP))
        results.append({**asdict(result), "resume_first_ms": first, "resume_late_ms": late})
        print(
            f"{case.name:8} {result.danlu_ms:7.1f} ms {result.transformers_ms:10.1f} ms {result.ratio:6.2f}x "
            f"{result.outside:7.2%} {result.rounds:7}  {result.first_loss_difference:.1e}; "
            f"data at step 0 in {first:.1f} ms, at step {LATE_STEP:,} in {late:.1f} ms",
            flush=True,
        )
    if options.json:
        report = {"machine": machine(), "busy_loop_gain": gain, "load": load, "results": results}
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
