"""``whence fix learn`` and ``whence fix knowledge``: fixes taken from git, and what is known of fixes."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.build.scratch import scratch
from whence.cli.git import changed_since, short_revision
from whence.cli.investigate import investigate
from whence.errors import UsageError
from whence.techniques.bugfix.knowledge import SHIPPED, Scenario, load, merged, save

if TYPE_CHECKING:
    from whence.cli.options import Options, Search

OWN = "whence-fixes.jsonl"
HISTORY = shutil.ignore_patterns(".git", ".hg", ".svn")
SHOWN = 20  # descriptions and rules
SURE, SUPPORTED = 0.5, 3  # confidence and support of rules that are shown


def learned_scenarios(
    options: Options, search: Search, folder: Path, since: str, only: Sequence[str]
) -> list[dict[str, Any]]:
    """What the changes of the working tree below a folder teach, each as an entry of the part ``scenarios``.

    Raises UsageError where git knows no change, and what the investigation of the version before raises.
    """
    from whence.diagnosis.learning import LearnFix

    changed = changed_since(folder, since, "*.c")
    if not changed:
        hint = "--since REV names the version before the fix"
        raise UsageError(f"no C file in {folder} was changed since {since}", hint)
    with scratch("learn") as place:
        copy = Path(place) / "before"
        shutil.copytree(folder, copy, ignore=HISTORY, symlinks=True)
        for name, before in changed.items():
            (copy / name).write_bytes(before)
        sources = tuple(copy / source.name for source in options.sources)
        options = replace(options, sources=sources, folder=options.folder if sources else copy)
        with investigate(options, search, ranks=False) as investigation:
            fixed = tuple((name, (folder / name).read_bytes()) for name in changed)
            found = investigation.find(
                LearnFix(fixed=fixed, origin=f"{folder.resolve().name} {short_revision(folder, since)}")
            )
    scenarios: list[dict[str, Any]] = found.parts["scenarios"]
    if only:
        scenarios = [one for one in scenarios if f"{one['file']}:{one['line']}" in only]
        if not scenarios:
            places = ", ".join(f"{one['file']}:{one['line']}" for one in found.parts["scenarios"])
            raise UsageError(f"there is no change at {', '.join(only)}", f"changes, in lines before: {places}")
    return scenarios


def merged_into(path: Path, found: Sequence[dict[str, Any]], words: Sequence[str]) -> Iterator[str]:
    """Add what was learned to a file, and tell it in lines. Raises UsageError where the file cannot be used."""
    known = load(path) if path.exists() else []
    fresh = [Scenario(tuple(words or one["fixes"]), frozenset(one["situation"]), one["from"]) for one in found]
    save(path, merged([known, fresh]))
    for one, scenario in zip(found, fresh, strict=True):
        yield f"{one['file']}:{one['line']}  {', '.join(scenario.fixes)}"
        yield f"  {', '.join(sorted(scenario.situation))}"
    yield f"kept in {path}: {len(merged([known, fresh]))} scenarios; edit its lines where they say it wrong"


def knowledge_lines(files: Sequence[Path], into: Path | None, rules: bool) -> Iterator[str]:
    """What the files hold, in lines; written ``into`` one, merged."""
    from whence.techniques.bugfix.association import learn

    paths = list(files) or [SHIPPED, *([Path(OWN)] if Path(OWN).is_file() else [])]
    parts = {path: load(path) for path in paths}
    scenarios = merged(list(parts.values()))
    for path, part in parts.items():
        yield f"{'shipped' if path == SHIPPED else path}: {len(part)} fixes"
    yield ""
    counts = Counter(fix for scenario in scenarios for fix in scenario.fixes)
    yield from (f"{number:5}  {fix}" for fix, number in counts.most_common(SHOWN))
    if len(counts) > SHOWN:
        yield f"       {len(counts) - SHOWN} more descriptions"
    if rules:
        yield ""
        found = learn(scenarios, longest=2, least=SUPPORTED, confidence=SURE)
        found = [rule for rule in found if rule.situation]
        for rule in sorted(found, key=lambda r: (-r.confidence, -r.support, sorted(r.situation)))[:SHOWN]:
            yield f"{rule.confidence:5.0%} of {rule.support:3}  {' '.join(sorted(rule.situation))} -> {rule.fix}"
    if into is not None:
        save(into, scenarios)
        yield f"written: {into}"
