"""Findings as one self-contained HTML page: source with a heat map, slice, values and evidence.

``page.py`` chooses what is shown, ``templates/`` holds the page, its style and its script. Nothing is loaded
from anywhere. Text of a subject reaches the page in two ways only: through the template, which escapes it,
and as JSON in an element that browsers do not run, in which no ``<`` is left. A content security policy that
names the page's own style and script by hash stands behind both.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.errors import UsageError
from whence.findings import Findings, Statement
from whence.report.highlight import highlight
from whence.report.page import Page, SourceFile, build_page
from whence.report.text import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).with_name("templates")
CHUNK = 50  # rows; page.css knows their height


def write_html(findings: Findings, sources: dict[str, str], path: Path) -> None:
    """Write the page for the findings; ``sources`` maps the findings' file names to their text.

    Raises ``UsageError`` when the file cannot be written.
    """
    text = render_html(findings, sources)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write the report {path}: {error.strerror}", "name another file") from error


def render_html(findings: Findings, sources: dict[str, str]) -> str:
    """The page as text, of bounded size whatever the findings hold."""
    from markupsafe import Markup

    page = build_page(findings, sources)
    style = Markup((TEMPLATES / "page.css").read_text("utf-8"))
    script = Markup((TEMPLATES / "page.js").read_text("utf-8"))
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            findings=findings,
            page=page,
            files=[_chunks(_rows(page, file)) for file in page.files],
            style=style,
            style_hash=_hash(style),
            script=script,
            script_hash=_hash(script),
            data=_json(page.data),
        )
    )


def _environment() -> Environment:
    """Templates with escaping on, and with unprintable characters of the subject made visible."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _hash(text: str) -> str:
    """The source expression of a content security policy for an inline element with this text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(data: dict[str, Any]) -> Markup:
    """JSON in ASCII that can stand in a script element: nothing in it can end the element or open another."""
    from markupsafe import Markup

    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026"))


def _rows(page: Page, file: SourceFile) -> list[dict[str, Any]]:
    """The rows of a file for the template: lines with their marks, and gaps with the lines they leave out."""
    rows: list[dict[str, Any]] = []
    for stretch in file.stretches:
        if not stretch.shown:
            rows.append({"gap": len(stretch), "first": stretch.first, "last": stretch.last})
            continue
        numbers = range(stretch.first, stretch.last + 1)
        for number, code in zip(numbers, highlight([file.lines[n] for n in numbers]), strict=True):
            marks = _marks(page, Statement(file.name, number))
            rows.append({"gap": 0, "number": number, "code": code} | marks)
    return rows


def _chunks(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Rows in groups of a screenful: browsers lay out only the groups that are in view."""
    return [rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK)]


def _marks(page: Page, statement: Statement) -> dict[str, str]:
    """CSS classes of a line (heat step, slice, symptom) and its rank."""
    classes = [f"h{page.heat[statement]}"] if statement in page.heat else []
    if statement in page.sliced:
        classes.append("sl")
    if statement == page.symptom:
        classes.append("sy")
    return {"classes": " ".join(classes), "rank": page.ranks.get(statement, "")}
