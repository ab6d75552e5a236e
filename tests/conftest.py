"""The suite leaves the user's cache alone: its own lies below the clone, whatever the environment says.

Programs of tests name absolute paths in their debug information. So the cache's folder is named by the clone's place:
a clone that was moved or copied starts with an empty one.
"""

import hashlib
import os
from pathlib import Path

from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".cache" / hashlib.sha256(os.fsencode(ROOT)).hexdigest()[:8]

# Before any test module is imported: where kernels are kept is settled by an import.
os.environ["WHENCE_HOME"] = str(HOME)
for _name in ("WHENCE_CLANG", "WHENCE_DEBUG", "NUMBA_CACHE_DIR"):
    os.environ.pop(_name, None)
# Also for tests with a home of their own: zig builds its run-time library once, 20 s that belong to none of them.
for _name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
    os.environ[_name] = str(HOME / "zig")

# How long an example takes says more about what else the machine does than about the example.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
