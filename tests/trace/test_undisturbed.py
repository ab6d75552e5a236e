"""A kernel that is compiled when a signal comes is finished first."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from numba.core.compiler_lock import global_compiler_lock

import whence.trace.compiled  # noqa: F401  (which defers signals)
from whence.investigation.clock import OutOfTime, alarm


def test_an_interrupt_waits_for_the_outermost_end(monkeypatch):
    done = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            with global_compiler_lock:
                with global_compiler_lock:
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(0.01)
                done.append("inner")
                time.sleep(0.01)
                done.append("outer")
            time.sleep(5)
        assert done == ["inner", "outer"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_alarm_waits():
    done = False
    with pytest.raises(OutOfTime), alarm(0.05):
        with global_compiler_lock:
            time.sleep(0.3)
            done = True
        time.sleep(5)
    assert done


def test_a_signal_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with global_compiler_lock:
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_change_no_handler():
    handler = signal.getsignal(signal.SIGINT)
    seen = []

    def compile_something() -> None:
        with global_compiler_lock:
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=compile_something)
    thread.start()
    thread.join()
    assert seen == [handler]
