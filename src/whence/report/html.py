"""Findings as one self-contained HTML page that tells the story of a failure, with the source beside it.

``page.py`` chooses what is shown of ranking and source, ``sections.py`` and ``drawings.py`` what is told;
``templates/`` holds the page, its style and its scripts. Nothing is loaded from anywhere. Text of a subject reaches
the page in two ways only: through the template, which escapes it, and as JSON in an element that browsers do not run,
in which no ``<`` is left; scripts set it as text. A content security policy that names the page's own style and script
by hash stands behind both.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.errors import UsageError
from whence.findings import Findings
from whence.report import drawings, run_drawings, sections
from whence.report.page import Page, Sources, build_page
from whence.report.text import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).with_name("templates")
SCRIPTS = (
    "elements.js",
    "source.js",
    "list.js",
    "detail.js",
    "causes.js",
    "timeline.js",
    "live.js",
    "page.js",
)  # in the order of need


def write_html(findings: Findings, sources: dict[str, str], path: Path, timeline: dict[str, Any] | None = None) -> None:
    """Write the page for the findings; ``sources`` maps the findings' file names to their text.

    ``timeline``: that of the failing run (``timeline_part`` of ``debug/``), where it is to be drawn. Raises
    ``UsageError`` when the file cannot be written.
    """
    text = render_html(findings, sources, timeline)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write the report {path}: {error.strerror}", "name another file") from error


def render_html(
    findings: Findings, sources: dict[str, str], timeline: dict[str, Any] | None = None, is_live: bool = False
) -> str:
    """The page as text, of bounded size whatever the findings hold; ``is_live``: it asks its server for more."""
    from markupsafe import Markup

    texts = Sources(sources)
    page = build_page(findings, texts)
    told = _told(page, findings, texts)
    told["timeline"] = sections.timeline(page, timeline)
    page.data["live"] = is_live
    style = Markup((TEMPLATES / "page.css").read_text("utf-8"))
    script = Markup("\n".join((TEMPLATES / name).read_text("utf-8") for name in SCRIPTS))
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            findings=findings,
            page=page,
            is_live=is_live,
            **told,
            style=style,
            style_hash=_hash(style),
            script=script,
            script_hash=_hash(script),
            data=_json(page.data),
        )
    )


def _told(page: Page, findings: Findings, sources: Sources) -> dict[str, Any]:
    """The sections of the page by the names that the template has for them; the script learns which lines are steps."""
    told: dict[str, Any] = {
        "symptom": sections.symptom(findings),
        "suspect": sections.suspect(page, findings, sources),
        "edits": sections.edits(findings),
        "changes": sections.changes(findings),
        "chain": sections.chain(page, findings, sources),
        "tree": sections.tree(page, findings, sources),
        "memory": drawings.memory_errors(page, findings),
        "races": drawings.races(page, findings),
        "schedules": run_drawings.schedules(page, findings),
        "executions": run_drawings.executions(page, findings),
    }
    steps: dict[str, list[int]] = {}
    for step in (step for group in told["chain"] for step in group["steps"] if step["place"]):
        steps.setdefault(step["place"], []).append(step["number"])
    page.data["steps"] = steps
    return told


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
