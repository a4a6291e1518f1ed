"""Token losses and next logits agree with each other, and with a row read alone."""

from pathlib import Path

import numpy as np
import torch

from danlu.records import IGNORE_INDEX
from danlu.train.assemble import build
from danlu.train.infer import next_logits, token_losses
from small_run import recipe_and_plan


def test_losses_agree_with_logits(prepared: Path) -> None:
    recipe, plan = recipe_and_plan(prepared)
    trainer = build(recipe, prepared, plan)
    batch = trainer.batches.batch(0, 3)
    losses = token_losses(trainer.network, trainer.precision, trainer.device, batch)
    assert losses.shape == batch.labels.shape
    assert (losses[batch.labels == IGNORE_INDEX] == 0).all()
    first = int((batch.documents[0] == batch.documents[0, 0]).sum())
    for at in (0, 1, first // 2):
        ids = batch.inputs[0, : at + 1].tolist()
        logits = next_logits(trainer.network, trainer.precision, trainer.device, ids)
        expected = -torch.log_softmax(torch.from_numpy(logits), 0)[batch.labels[0, at]]
        np.testing.assert_allclose(losses[0, at], float(expected), atol=1e-4)
