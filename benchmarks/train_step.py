"""danlu's whole training step against transformers' LlamaForCausalLM, side by side in one process.

Both start from the same weights, see the same batches (packed in memory, every row one document) and take turns, so
that a busy moment hits both; the table shows medians and their ratio. A step is: batch, loss, backward, clipping to
norm 1, fused AdamW, reading loss and norm. fp32, 2 threads. The first losses must agree to 1e-4.

Run:  python benchmarks/train_step.py [--seconds 20] [--only small|middle|large] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from danlu.attention import sdpa
from danlu.attention.contract import make_attention
from danlu.model.init import initialise
from danlu.model.loss import losses
from danlu.model.naming import to_huggingface
from danlu.model.network import Network
from danlu.model.settings import ModelSettings
from danlu.model.shape import Shape, resolve_shape
from danlu.optim.build import make_optimizer
from danlu.optim.clip import clip_gradients
from danlu.optim.rates import Rates
from danlu.optim.settings import OptimizerSettings
from danlu.records import Batch

THREADS = 2
LEARNING_RATE = 3e-4
LOSS_TOLERANCE = 1e-4

Step = Callable[[Batch], tuple[float, float]]
"""Trains on one batch; returns (loss, gradient norm)."""


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
    """Medians of one case, in milliseconds."""

    case: str
    danlu_ms: float
    transformers_ms: float
    ratio: float
    rounds: int
    first_loss_difference: float


def danlu_step(shape: Shape) -> tuple[Network, Step]:
    """Our side: the network and its whole training step."""
    network = Network(shape, sdpa.attend)
    initialise(network, seed=1)
    optimizer = make_optimizer(
        dict(network.named_parameters()),
        network.roles(),
        network.splits(),
        OptimizerSettings(weight_decay=0.0),
        Rates(LEARNING_RATE, LEARNING_RATE, "benchmark"),
    )
    device = torch.device("cpu")

    def step(batch: Batch) -> tuple[float, float]:
        target_tokens = batch.target_tokens
        optimizer.zero_grad()
        inputs, labels, positions = map(torch.from_numpy, (batch.inputs, batch.labels, batch.positions))
        hidden = network(inputs, positions, make_attention(batch.documents, device))
        sums = losses(hidden, network.head_weight, labels)
        (sums.objective_sum / target_tokens).backward()
        norm = clip_gradients(optimizer.parameters, 1.0)
        optimizer.step(1.0)
        return float(sums.nll_sum) / target_tokens, norm

    return network, step


def transformers_step(shape: Shape, weights: dict[str, torch.Tensor]) -> Step:
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

    def step(batch: Batch) -> tuple[float, float]:
        optimizer.zero_grad()
        labels = torch.from_numpy(batch.labels)
        loss = model(input_ids=torch.from_numpy(batch.inputs), labels=labels, shift_labels=labels).loss
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        return float(loss.detach()), float(norm)

    return step


def make_batches(case: Case, count: int) -> list[Batch]:
    """Random tokens; every row is one document whose last label is its next token."""
    generator = np.random.default_rng(0)
    size = (case.rows, case.sequence_length)
    batches = []
    for number in range(count):
        tokens = generator.integers(0, case.vocab_size, (case.rows, case.sequence_length + 1))
        inputs, labels = (np.ascontiguousarray(part) for part in (tokens[:, :-1], tokens[:, 1:]))
        positions = np.ascontiguousarray(np.broadcast_to(np.arange(case.sequence_length), size))
        documents = np.zeros(size, dtype=np.int64)
        batches.append(Batch(inputs, labels, positions, documents, (), number * case.rows))
    return batches


def measure(case: Case, seconds: float) -> Result:
    """Alternates both sides on the same batches for about `seconds`; the first two rounds only warm up."""
    settings = ModelSettings(
        width=case.width,
        layers=case.layers,
        heads=case.width // 64,
        tie_embeddings=False,
        qk_norm=False,
    )
    shape = resolve_shape(settings, case.vocab_size)
    network, ours = danlu_step(shape)
    theirs = transformers_step(shape, to_huggingface(shape, network.state_dict()))
    batches = make_batches(case, 8)
    difference = max(abs(ours(batch)[0] - theirs(batch)[0]) for batch in batches[:2])
    if difference > LOSS_TOLERANCE:
        raise SystemExit(
            f"{case.name}: the first losses differ by {difference:.2e}; the two are not the same model"
        )
    times: dict[Step, list[float]] = {ours: [], theirs: []}
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < 5 or time.perf_counter() < end:
        batch = batches[rounds % len(batches)]
        for step in (ours, theirs) if rounds % 2 else (theirs, ours):
            began = time.perf_counter()
            step(batch)
            times[step].append(time.perf_counter() - began)
        rounds += 1
    mine, other = (1e3 * statistics.median(times[step]) for step in (ours, theirs))
    return Result(case.name, round(mine, 2), round(other, 2), round(other / mine, 3), rounds, difference)


def busy_loop_gain(seconds: float = 0.5) -> float:
    """How much more two busy loops on two cores do than one: 2 on a quiet machine, less where cores are shared."""
    code = (
        "import os,sys,time\n"
        "os.sched_setaffinity(0,{int(sys.argv[1])})\n"
        "end=time.perf_counter()+float(sys.argv[2]);n=0\n"
        "while time.perf_counter()<end:n+=1\n"
        "print(n)"
    )
    cores = sorted(os.sched_getaffinity(0))[:2]

    def count(on: list[int]) -> int:
        command = [sys.executable, "-c", code]
        running = [
            subprocess.Popen([*command, str(core), str(seconds)], stdout=subprocess.PIPE, text=True)
            for core in on
        ]
        return sum(int(process.communicate()[0]) for process in running)

    return count(cores) / count(cores[:1])


def machine() -> str:
    """The processor's name and how many cores this process may use."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return f"{names[0] if names else 'unknown processor'}, {len(os.sched_getaffinity(0))} cores"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="of measuring, per case")
    parser.add_argument("--only", choices=[case.name for case in CASES])
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    gain, load = busy_loop_gain(), os.getloadavg()
    print(f"{machine()}; torch {torch.__version__}, {THREADS} threads, fp32")
    print(
        f"two pinned busy loops do {gain:.2f} times the work of one; load average {load[0]:.2f} {load[1]:.2f}"
    )
    print(f"{'case':8} {'danlu':>10} {'transformers':>13} {'ratio':>7} {'rounds':>7}  first losses differ by")
    results = []
    for case in CASES:
        if options.only in (None, case.name):
            result = measure(case, options.seconds)
            results.append(asdict(result))
            print(
                f"{case.name:8} {result.danlu_ms:7.1f} ms {result.transformers_ms:10.1f} ms {result.ratio:6.2f}x "
                f"{result.rounds:7}  {result.first_loss_difference:.1e}",
                flush=True,
            )
    if options.json:
        report = {"machine": machine(), "busy_loop_gain": gain, "load": load, "results": results}
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
