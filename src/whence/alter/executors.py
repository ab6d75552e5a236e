"""Where parts run: threads of this process, or a Dask cluster; both are executors of ``concurrent.futures``."""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from whence.alter.worker import cancel_room, close_room
from whence.errors import SubjectError, UsageError

ADDRESS = re.compile(r"tcp://(?:[\w.-]+|\[[0-9a-fA-F:.]+\]):\d{1,5}", re.ASCII)
MOST_LOCAL = 48  # with idle sessions that makes 80 sandboxes, of the 100 that a user can have
CONNECTING = 10.0  # seconds
CLOSING = 2.0  # seconds
ANSWERING = 10.0  # seconds that workers have for closing what was opened; one that hangs keeps nobody waiting


@dataclass(slots=True)
class Workers:
    """An executor with its ``count`` of workers; ``ahead`` parts are handed out at a time.

    ``worker_died`` are exceptions of a future that say that its worker ended; ``lost_touch`` those that say that the
    executor itself is gone. ``abort`` ends the parts at work of the Work with a token, ``close`` all that was opened
    for it.
    """

    executor: Executor
    count: int
    ahead: int
    abort: Callable[[str], None]
    close: Callable[[str], None]
    name: str = "this machine"
    worker_died: tuple[type[BaseException], ...] = ()
    lost_touch: tuple[type[BaseException], ...] = (CancelledError,)


def local_workers(count: int | None = None) -> Workers:
    """Threads, as many as there are cores (up to 48) unless said otherwise: the subject's processes do the work."""
    count = count or min(len(os.sched_getaffinity(0)), MOST_LOCAL)
    executor = ThreadPoolExecutor(count, "whence")

    def close(token: str) -> None:
        close_room(token)
        executor.shutdown(cancel_futures=True)

    return Workers(executor, count, count, cancel_room, close)


def cluster_workers(address: str, count: int | None = None) -> Workers:
    """The workers of the Dask scheduler at an address such as ``tcp://host:8786``.

    Raises UsageError where Dask is not installed, nobody answers, or no worker is there.
    """
    if not ADDRESS.fullmatch(address):
        raise UsageError(
            f"'{address}' is no address of a cluster", "write tcp://HOST:PORT, as `dask scheduler` prints it"
        )
    try:
        import distributed
        from distributed.comm.core import CommClosedError
    except ImportError as error:
        raise UsageError("a cluster needs Dask, which is not installed", "pip install 'whence[cluster]'") from error
    for name in ("distributed", "distributed.client"):  # what matters of its messages is told by our own
        logging.getLogger(name).setLevel(logging.CRITICAL)
    client = _connect(distributed, address)
    threads = sum(client.nthreads().values())
    if not threads:
        client.close()
        raise UsageError(f"the cluster at {address} has no worker", f"start some: dask worker {address}")
    count = min(count or threads, threads)

    def ask_all(function: Callable[[str], None], token: str) -> None:
        with suppress(OSError, TimeoutError, RuntimeError, CancelledError):  # also of a client that is closed meanwhile
            client.run(function, token, on_error="ignore")

    def on_all(function: Callable[[str], None], token: str) -> None:
        if client.status == "running":  # else the scheduler has gone, and its workers with it
            asking = Thread(target=ask_all, args=(function, token), daemon=True)
            asking.start()
            asking.join(ANSWERING)

    def abort(token: str) -> None:
        on_all(cancel_room, token)

    def close(token: str) -> None:
        on_all(close_room, token)
        client.close(CLOSING)

    died, lost = (distributed.scheduler.KilledWorker,), (CancelledError, CommClosedError)
    return Workers(
        client.get_executor(pure=False), count, 2 * count, abort, close, f"the cluster at {address}", died, lost
    )


def _connect(distributed: Any, address: str) -> Any:
    """A client of the scheduler at an address."""
    try:
        place = urlsplit(address)
        with socket.create_connection((place.hostname or "", place.port or 0), CONNECTING):
            pass  # where nobody listens, a client may wait for ever with its own threads
        return distributed.Client(address, timeout=CONNECTING, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(f"no cluster answers at {address}", "is `dask scheduler` running there?") from error


def gone(workers: Workers) -> SubjectError:
    """The error to raise where the executor does not answer any more."""
    return SubjectError(f"{workers.name} went away", "run the same command again to go on")
