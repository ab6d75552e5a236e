"""JSON made small: what a page holds but does not show at once is deflated, and unpacked by the browser."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

LEVEL = 6


def packed(value: Any) -> str:
    """A JSON value as deflated (zlib) ASCII text in base 64."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode("ascii"), LEVEL)).decode("ascii")
