"""Whence tells a C programmer where a failure comes from.

The package reads from top to bottom as data flows: ``build`` captures a program, ``program`` reads its
IR, ``probe`` instruments it, ``run`` runs cases, ``trace`` reads what a run recorded, ``techniques`` turn
runs and traces into findings, ``diagnosis`` joins these, ``report`` shows them, and ``cli`` has one file a command.

As a library: ``whence.open("folder").locate(budget=30)`` (``whence.project``, docs/library.md).
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # so that `whence-cc`, which a build starts hundreds of times, does not load `typing`
if TYPE_CHECKING:
    from typing import Any

    from whence.diagnosis.chain import FailureInducingChain as FailureInducingChain
    from whence.diagnosis.fix import Fix as Fix
    from whence.diagnosis.formula import CorrectionSets as CorrectionSets
    from whence.diagnosis.learning import LearnFix as LearnFix
    from whence.diagnosis.locate import Locate as Locate
    from whence.diagnosis.multiple_faults.technique import SeveralFaults as SeveralFaults
    from whence.diagnosis.relevant_slicing import RelevantSlicing as RelevantSlicing
    from whence.diagnosis.rules import Rules as Rules
    from whence.diagnosis.suppression import ExecutionSuppression as ExecutionSuppression
    from whence.investigation.investigation import Setup as Setup
    from whence.project import Project as Project
    from whence.project import open_folder
    from whence.project import open_sources as open_sources
    from whence.techniques.cause_tree.technique import CauseTree as CauseTree
    from whence.techniques.likely_invariants.technique import LikelyInvariants as LikelyInvariants
    from whence.techniques.memory.technique import MemoryErrors as MemoryErrors
    from whence.techniques.predicate_switching.technique import PredicateSwitching as PredicateSwitching
    from whence.techniques.races.technique import DataRaces as DataRaces
    from whence.techniques.schedules.technique import Schedules as Schedules
    from whence.techniques.slicing import Slicing as Slicing
    from whence.techniques.spectrum import Spectrum as Spectrum
    from whence.techniques.value_replacement.technique import ValueReplacement as ValueReplacement

    open = open_folder

__version__ = "0.1.0"

# Loaded when they are asked for, so that `whence --help` is quick.
_OFFERED = {
    "open": "project.open_folder",
    "open_sources": "project.open_sources",
    "Project": "project.Project",
    "Setup": "investigation.investigation.Setup",
    "Locate": "diagnosis.locate.Locate",
    "Rules": "diagnosis.rules.Rules",
    "Fix": "diagnosis.fix.Fix",
    "LearnFix": "diagnosis.learning.LearnFix",
    "CorrectionSets": "diagnosis.formula.CorrectionSets",
    "SeveralFaults": "diagnosis.multiple_faults.technique.SeveralFaults",
    "RelevantSlicing": "diagnosis.relevant_slicing.RelevantSlicing",
    "Spectrum": "techniques.spectrum.Spectrum",
    "Slicing": "techniques.slicing.Slicing",
    "PredicateSwitching": "techniques.predicate_switching.technique.PredicateSwitching",
    "ValueReplacement": "techniques.value_replacement.technique.ValueReplacement",
    "CauseTree": "techniques.cause_tree.technique.CauseTree",
    "FailureInducingChain": "diagnosis.chain.FailureInducingChain",
    "MemoryErrors": "techniques.memory.technique.MemoryErrors",
    "DataRaces": "techniques.races.technique.DataRaces",
    "Schedules": "techniques.schedules.technique.Schedules",
    "ExecutionSuppression": "diagnosis.suppression.ExecutionSuppression",
    "LikelyInvariants": "techniques.likely_invariants.technique.LikelyInvariants",
}


def __getattr__(name: str) -> Any:
    """What the package offers, by its name."""
    if name not in _OFFERED:
        raise AttributeError(f"module 'whence' has no attribute '{name}'")
    module, _, attribute = _OFFERED[name].rpartition(".")
    return getattr(import_module(f"whence.{module}"), attribute)


__all__ = list(_OFFERED)


def __dir__() -> list[str]:
    return [*globals(), *_OFFERED]
