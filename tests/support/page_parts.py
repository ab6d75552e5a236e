"""What the HTML page holds packed, for tests that read it."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any


def unpacked(text: str) -> Any:
    """A packed value."""
    return json.loads(zlib.decompress(base64.b64decode(text)))


def details_of(page: str) -> dict[str, Any]:
    """What a page knows of single lines, by place."""
    data = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert data
    found: dict[str, Any] = unpacked(json.loads(data[1])["details"])
    return found
