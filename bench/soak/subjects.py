"""A generated subject on disk: its sources, inputs, right outputs and ``whence.toml``; and its variants, built."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.soak.generate import Generated
from whence.build.quick import build_sources
from whence.probe.instrument import Variant
from whence.subject.own_build import quick_folder
from whence.subject.subject import Subject

PATIENCE = 20.0  # seconds for a run of the right program, which only computes
CASE_NAMES = ("{}", "case {}", "-{}", "\u00e9{}", "$({})", "%s{}", "a.b{}", "{}*")


@dataclass(frozen=True, slots=True)
class Laid:
    """A subject in a folder, and the words that name it and its cases to a command of Whence."""

    generated: Generated
    folder: Path
    words: list[str]
    reference: Path  # the right program


def lay(generated: Generated, folder: Path) -> Laid:
    """Write the subject into a new folder beside which its right program is built; and build its variants."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    right = folder.parent / f"{folder.name}.right" / "right.c"
    right.parent.mkdir(exist_ok=True)
    right.write_text(generated.right)
    (folder / generated.source).write_text(generated.text)
    for name, text in generated.input_files():
        (folder / name).write_text(text)
    reference = build_sources([right], ["-w"], right.parent)
    outputs = [_output(reference, generated, one, folder) for one in range(len(generated.inputs))]
    words = FORMS[generated.form](generated, folder, reference, outputs)
    executable = _build(generated, folder)
    subject = Subject(folder, executable, [])
    for kind in Variant:
        subject.variant(kind)
    return Laid(generated, folder, words, reference)


def _build(generated: Generated, folder: Path) -> Path:
    """The executable that Whence will run."""
    if generated.form != "command":
        sources = [(folder / generated.source).resolve()]
        return build_sources(sources, [] if generated.form == "options" else ["-w"], quick_folder(sources))
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(build_command(generated), shell=True, cwd=folder, env=environment, check=True)
    return folder / "prog"


def building(laid: Laid) -> float:
    """Seconds that a build of the subject takes at present: each command begins with one."""
    source = (laid.folder / laid.generated.source).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        start = time.monotonic()
        build_sources([source], ["-w"], Path(scratch))
        return time.monotonic() - start


def build_command(generated: Generated) -> str:
    """The build of a subject whose cases are a command."""
    return f"whence-cc -w {shlex.quote('./' + generated.source)} -o prog -lm"


def _output(reference: Path, generated: Generated, index: int, folder: Path) -> bytes:
    """What is right for an input."""
    line = f"exec {shlex.quote(str(reference))} {generated.line(index)}"
    with tempfile.TemporaryDirectory() as scratch:
        for name, _ in generated.input_files():
            shutil.copy2(folder / name, scratch)
        done = subprocess.run(
            ["/bin/sh", "-c", os.fsencode(line)],
            cwd=scratch,
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE,
            check=True,
        )
    return done.stdout


# ---- The forms of cases ----------------------------------------------------------------------------------------------


def _options(generated: Generated, folder: Path, reference: Path, outputs: list[bytes]) -> list[str]:
    """Cases as options, called in the subject's folder."""
    words = ["--timeout", f"{generated.time:g}"]
    for index, one in enumerate(generated.inputs):
        words += ["--fails" if one.fails else "--passes", generated.line(index)]
        if one.fails and generated.oracle == "output":
            words += ["--expect", os.fsdecode(outputs[index])]
    return [*words, "--", generated.source]


def _folder(generated: Generated, folder: Path, reference: Path, outputs: list[bytes]) -> list[str]:
    """Cases as folders, with names of all sorts."""
    name = CASE_NAMES[generated.seed % len(CASE_NAMES)]
    for index, one in enumerate(generated.inputs):
        place = folder / "cases" / name.format(index)
        place.mkdir(parents=True)
        line = generated.line(index)
        if generated.channel == "stdin":
            line = line.rpartition(" < ")[0] if one.odd else ""
            shutil.copy2(folder / f"input{index}.txt", place / "stdin")
        (place / "args").write_bytes(os.fsencode(line))
        if generated.oracle == "output":
            (place / "expected").write_bytes(outputs[index])
    _configure(generated, folder, 'folder = "cases"')
    return ["-C", "."]


def _file(generated: Generated, folder: Path, reference: Path, outputs: list[bytes]) -> list[str]:
    """Cases as lines of a file, with the right program as reference or its outputs in a folder."""
    lines = [generated.line(index) for index in range(len(generated.inputs))]
    (folder / "cases.txt").write_bytes(os.fsencode("".join(f"{line}\n" for line in lines)))
    if generated.seed % 2:
        for index, output in enumerate(outputs):
            (folder / "right").mkdir(exist_ok=True)
            (folder / "right" / f"t{index + 1}").write_bytes(output)
        told = 'outputs = "right"'
    else:
        told = f"reference = {json.dumps(str(reference))}"
    _configure(generated, folder, f'file = "cases.txt"\n{told}')
    return ["-C", "."]


def _command(generated: Generated, folder: Path, reference: Path, outputs: list[bytes]) -> list[str]:
    """Cases as tests of a shell script, which compares outputs or looks at the status alone."""
    lines = ["# one test by its number", "case $1 in"]
    for index, output in enumerate(outputs):
        lines.append(f"{index}) ./prog {generated.line(index)} > out ;;")
        (folder / f"right{index}.txt").write_bytes(output)
    lines += ["esac", "[ $? = 0 ] || exit 1", "cmp -s out right$1.txt" if generated.oracle == "output" else "true"]
    (folder / "check.sh").write_bytes(os.fsencode("\n".join(lines) + "\n"))
    names = ", ".join(f'"{index}"' for index in range(len(outputs)))
    _configure(generated, folder, f'command = "sh check.sh {{name}}"\nnames = [{names}]')
    return ["-C", "."]


FORMS = {"options": _options, "folder": _folder, "file": _file, "command": _command}


def _configure(generated: Generated, folder: Path, cases: str) -> None:
    build = f'path = "prog"\nbuild = {json.dumps(build_command(generated), ensure_ascii=False)}'
    sources = f'sources = [{json.dumps(generated.source, ensure_ascii=False)}]\nflags = ["-w"]'
    status_only = "true" if generated.oracle == "status" and generated.form == "file" else "false"
    (folder / "whence.toml").write_text(
        f"[program]\n{build if generated.form == 'command' else sources}\n\n[cases]\n{cases}\n\n"
        f"[limits]\ntime = {generated.time:g}\n\n[compare]\nstatus_only = {status_only}\n"
    )
