"""A subject's variants: built once, whoever asks first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

from whence.probe.instrument import Variant
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.subject import subject_from_sources


def test_threads_that_need_a_variant_at_once_get_it(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(f"int main(int argc, char **argv) {{ return argc > {uuid4().int % 10_000}; }}\n")
    subject = subject_from_sources([source], [], [], DEFAULT_LIMITS)
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(subject.variant, Variant.ALTER) for _ in range(4)]
        found = {job.result() for job in jobs}
    assert len(found) == 1 and found.pop().is_file()
