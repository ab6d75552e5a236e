"""The kits of protocols come with extras: where one is missing, a line says what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from whence.errors import UsageError


@contextmanager
def kit_of(protocol: str, extra: str, *packages: str) -> Iterator[None]:
    """Inside, a server is imported that stands on these packages of an extra.

    Raises UsageError where one of them is missing, or too old.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        what = f"the {protocol}'s kit is missing, or too old ({error})"
        raise UsageError(what, f"pip install 'whence[{extra}]'") from error
