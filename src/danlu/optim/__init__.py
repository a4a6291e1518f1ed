"""Parameter groups, optimizers, rates, schedules, clipping."""
