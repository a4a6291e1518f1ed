"""Signals: the first only sets a flag, a second Ctrl-C ends the process, the handlers of before come back."""

import os
import signal
import subprocess
import sys

import pytest

from danlu.recovery.preempt import Preemption


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGUSR1"])
def test_a_signal_sets_the_flag_and_interrupts_nothing(name, capfd):
    number = signal.Signals[name]
    before = signal.getsignal(number)
    with Preemption() as preemption:
        assert preemption.requested is None
        os.kill(os.getpid(), number)
        assert preemption.requested == name
    assert signal.getsignal(number) is before
    assert ("Ctrl-C again" in capfd.readouterr().err) == (name == "SIGINT")


def test_terminate_twice_still_lets_the_step_finish():
    with Preemption() as preemption:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        assert preemption.requested == "SIGINT"


def test_an_error_in_the_block_brings_the_handlers_back():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(ZeroDivisionError), Preemption():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_second_interrupt_ends_the_process_at_once():
    code = (
        "import os, signal\n"
        "from danlu.recovery.preempt import Preemption\n"
        "with Preemption() as preemption:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    print(preemption.requested, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    print('still here', flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "SIGINT\n"
    assert done.returncode == -signal.SIGINT
