"""Edits and suggestions of ``whence fix`` as lines of text: diffs stand as they are, so that they can be copied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from whence.findings import plural

SHOWN = 3  # edits
SUGGESTED = 5  # suggestions of a statement
STYLES = {"+": "green", "-": "red", "@": "cyan"}  # of a diff's lines
Line = tuple[str, str]  # text and style

STRONG, PLACE, DIM, WARNING = "bold", "cyan", "dim", "yellow"


def edit_lines(parts: dict[str, Any]) -> Iterator[Line]:
    """The first edits, and one that an input tells from the first, each with what it does to the cases and its diff."""
    edits: Sequence[dict[str, Any]] = parts.get("edits", [])
    passing = [edit for edit in edits if edit["passes"]]
    apart = (parts.get("apart") or {}).get("other", 0)  # whose output is shown: so is what it changes
    chosen = [(n, edit) for n, edit in enumerate(passing or edits, 1) if n <= SHOWN or n == apart]
    if passing:
        count = max(len(passing), int(parts["trials"]["passing"]))
        yield f"all cases pass with each of these edits, the smallest first, {len(chosen)} of {count}:", STRONG
    elif edits:
        yield "no edit was found with which all cases pass; these come nearest:", STRONG
    elif tried := int(parts.get("trials", {}).get("passing", 0)):
        yield f"all cases passed with {plural(tried, 'edit')}, but none was confirmed by a build of its own", STRONG
    else:
        yield "no edit was found with which a failing case passes", STRONG
    for number, edit in chosen:
        yield "", ""
        yield f"{number}. {edit['file']}:{edit['line']}  {', '.join(edit['descriptions'])}", PLACE
        yield f"   {_outcome(edit)}", DIM
        yield f"   {edit['checked']}", DIM if edit["clean"] else WARNING
        if edit["fitted"]:
            stands = "stands" if len(edit["fitted"]) == 1 else "stand"
            yield f"   {' and '.join(edit['fitted'])} {stands} nowhere else in {edit['file']}: made to fit?", WARNING
        for line in edit["diff"].rstrip("\n").split("\n"):
            yield line, STYLES.get(line[:1], "")


def _outcome(edit: dict[str, Any]) -> str:
    """What an edit did to the cases."""
    text = f"repairs {len(edit['repaired'])} of {plural(edit['failing'], 'failing case')}"
    checked = edit["ran"] - edit["failing"]
    text += f", breaks {len(edit['broken']) or 'none'} of {max(checked, 0):,} passing"
    if edit["alike"]:
        text += (
            f"; {plural(edit['alike'], 'other edit')} that passed {'is' if edit['alike'] == 1 else 'are'} the same code"
        )
    return f"{text}; {edit['trouble']}" if edit["trouble"] else text


def apart_lines(apart: dict[str, Any] | None) -> Iterator[Line]:
    """The input on which two edits differ, with both outputs."""
    if apart is None:
        return
    yield "", ""
    yield f"edits 1 and {apart['other']} differ on {apart['input']}; which output is right?", STRONG
    yield f"  with edit 1: {apart['first']}", ""
    yield f"  with edit {apart['other']}: {apart['second']}", ""


def suggestion_lines(statement: dict[str, Any]) -> Iterator[Line]:
    """What mended statements that are like one."""
    if not statement["suggestions"]:
        return
    yield "", ""
    yield f"what mended statements like {statement['file']}:{statement['line']}:", STRONG
    for one in statement["suggestions"][:SUGGESTED]:
        made = f"; all cases pass with {plural(one['passing'], 'edit')} of this kind" if one["passing"] else ""
        share = f"{one['confidence']:.0%} of {round(one['support'] / one['confidence']):,} like it"
        yield f"  {one['rank']}. {one['description']}  ({share}{made})", ""
