"""Cases captured from a test suite, kept in a folder of Whence's own: a list of them, and their files by content.

They hold as long as the files of the suite are those that were there when they were captured.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from whence.findings import Statement
from whence.run.cases import Case, Place
from whence.run.compare import Comparison
from whence.run.invocations import Invocation
from whence.run.outcome import Expected
from whence.run.suite_copy import HISTORY
from whence.subject.coverage import OtherRun, Site

LIST = "cases.json"
Manifest = dict[str, str]


@dataclass(slots=True)
class CapturedCases:
    """Cases, how many of them fail, and what is said of the others.

    ``tests`` are the names of the suite's tests, those first that tell most where they have to be the cases themselves;
    ``others`` passing tests that are programs of their own; ``apart`` those that fail and did not run the program,
    ``failed`` those that fail and did.
    """

    cases: list[Case]
    failing: int
    remarks: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)
    others: list[OtherRun] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


class Keeper:
    """The folder in which captured cases are kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = folder / "files"

    def load(self, manifest: Manifest, comparison: Comparison) -> CapturedCases | None:
        """What was saved; None where there is nothing, or a file of ``manifest`` is not what it was then."""
        try:
            data = json.loads((self.folder / LIST).read_text())
        except (OSError, ValueError):
            return None
        if any(manifest.get(name) != digest for name, digest in data["manifest"].items()):
            return None
        cases = [self._case(item, comparison) for item in data["cases"]]
        others = [OtherRun(one["name"], tuple(map(_site, one["executed"]))) for one in data["others"]]
        tests = data["tests"], others, data["apart"], data["failed"]
        return CapturedCases(cases, data["failing"], data["remarks"], *tests)

    def save(self, captured: CapturedCases, manifest: Manifest) -> None:
        """Keep the cases, all at once."""
        cases = [self._item(case) for case in captured.cases]
        data = {"manifest": manifest, "remarks": captured.remarks, "failing": captured.failing, "cases": cases}
        data["tests"], data["apart"], data["failed"] = captured.tests, captured.apart, captured.failed
        data["others"] = [asdict(other) for other in captured.others]
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f"{LIST}.{os.getpid()}"
        part.write_text(json.dumps(data))
        part.replace(self.folder / LIST)

    def _item(self, case: Case) -> dict[str, Any]:
        place, expected = case.place, case.expected
        assert place is not None
        return {
            "name": case.name,
            "place": [place.called, place.folder, place.work],
            "arguments": case.arguments,
            "environment": dict(case.environment),
            "stdin": None if case.stdin is None else Path(str(case.stdin)).name,
            "files": [(name, path.name) for name, path in case.files],
            "expected": expected and self._item_of(expected),
            "mask": case.comparison.mask,
            "failing_output": case.failing_output,
            "passed": case.passed,
        }

    def _case(self, item: dict[str, Any], comparison: Comparison) -> Case:
        return Case(
            item["name"],
            tuple(item["arguments"]),
            None if item["stdin"] is None else self._files / item["stdin"],
            tuple((name, self._files / path) for name, path in item["files"]),
            item["environment"],
            item["expected"] and self._expected(item["expected"]),
            replace(comparison, mask=tuple(item["mask"])),
            failing_output=item["failing_output"],
            place=Place(*item["place"]),
            passed=item["passed"],
        )

    def _item_of(self, expected: Expected) -> list[Any]:
        texts = _text(expected.stdout), _text(expected.stderr)
        return [*texts, expected.status, self._kept(expected), expected.unsteady]

    def _expected(self, item: list[Any]) -> Expected:
        stdout, stderr, status, files, unsteady = item
        told = tuple((name, where) for name, where in unsteady)
        return Expected(_bytes(stdout), _bytes(stderr), status, self._contents(files), told)

    def _kept(self, expected: Expected) -> list[tuple[str, str | None]]:
        """The names of files that are expected, each with that of the kept file."""
        return [(name, None if content is None else self.bytes(content).name) for name, content in expected.files]

    def _contents(self, kept: list[tuple[str, str | None]]) -> tuple[tuple[str, bytes | None], ...]:
        return tuple((name, None if place is None else (self._files / place).read_bytes()) for name, place in kept)

    # ---- Files -------------------------------------------------------------------------------------------------------

    def bytes(self, content: bytes) -> Path:
        """A kept file of this content."""
        place = self._files / hashlib.sha256(content).hexdigest()[:32]
        if not place.exists():
            self._files.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return place

    def files(self, invocation: Invocation, work: Path) -> tuple[tuple[str, Path], ...]:
        """What an invocation finds in its working folder: relative names with kept files, folders and links."""
        self._files.mkdir(parents=True, exist_ok=True)
        empty = self._files / "empty"
        empty.mkdir(exist_ok=True)
        folders = sorted({*invocation.directories, invocation.folder})
        return (
            *((name, empty) for path in folders if (name := _inside(path, work)) != "."),
            *((_inside(path, work), self.copy(copy)) for path, copy in invocation.files.items()),
            *((_inside(p, work), self._link(p, target, work)) for p, target in invocation.links.items()),
        )

    def copy(self, path: Path) -> Path:
        """A kept file with the content, mode and time of another one."""
        about = path.stat()
        digest = hashlib.sha256(path.read_bytes() + f"{about.st_mode} {about.st_mtime_ns}".encode())
        place = self._files / digest.hexdigest()[:32]
        if not place.exists():
            shutil.copy2(path, place)
        return place

    def _link(self, path: str, target: str, work: Path) -> Path:
        if Path(target).is_relative_to(work):
            target = os.path.relpath(target, Path(path).parent)
        place = self._files / f"link-{hashlib.sha256(os.fsencode(target)).hexdigest()[:32]}"
        if not place.is_symlink():
            place.symlink_to(target)
        return place


def _site(item: dict[str, Any]) -> Site:
    return Site(tuple(Statement(**statement) for statement in item["statements"]), item["side"], item["column"])


def _inside(path: str, work: Path) -> str:
    return os.path.relpath(path, work)


def _text(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def manifest_of(folder: Path, without: Iterable[Path] = ()) -> Manifest:
    """The content of each file of a suite's folder, as a hash, by its relative name; without some files and history."""
    left_out = {path.resolve() for path in without}
    found = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in HISTORY(place, folders)]
        for path in (Path(place, name) for name in names):
            if path.is_file() and not path.is_symlink() and path not in left_out:
                found[str(path.relative_to(folder))] = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    return found
