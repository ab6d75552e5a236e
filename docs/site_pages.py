"""What the site has beside the pages of this folder: the README as its first page, and the reference of commands.

A hook of MkDocs (``mkdocs.yml``). Both are made when the site is built, so that nothing stands twice.
"""

from __future__ import annotations

import html
import inspect
import re
import sys
from pathlib import Path

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
from man_pages import every_command

ROOT = Path(__file__).resolve().parents[1]
ITEM = re.compile(r"([-*]|\d+\.) ")
LINK = r"\[([^\]]*)\]\({}([^)]*)\)"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=re.sub(LINK.format("docs/"), r"[\1](\2)", readme)))
    files.append(File.generated(config, "commands.md", content=reference()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead to pages of the site; what lies elsewhere in the repository is named without a link."""
    markdown = re.sub(LINK.format(r"\.\./README\.md"), r"[\1](index.md\2)", markdown)
    return lists_apart(re.sub(LINK.format(r"\.\./(?:src|bench)/"), r"\1", markdown))


def lists_apart(markdown: str) -> str:
    """Lists as Python-Markdown reads them: a blank line before them, and four blanks before what is in an item."""
    lines: list[str] = []
    is_code = is_list = False
    for line in markdown.split("\n"):
        fence = line.lstrip().startswith("```")
        if not is_code:
            item = bool(ITEM.match(line))
            before = lines[-1] if lines else ""
            if item and before.strip() and (not is_list or before.startswith("  ")):
                lines.append("")
            is_list = item or (is_list and (bool(before.strip()) or not line or line.startswith("  ")))
        is_code ^= fence
        lines.append(re.sub(r"^ {2,3}(?=\S)", "    ", line) if is_list else line)
    return "\n".join(lines)


def reference() -> str:
    """The page of all commands with their options, as their own help has them."""
    group = every_command()
    parts = ["# Commands\n", told(group), "\nEvery command has `--help`, and a manual page: `man whence-locate`.\n"]
    for name, command in group.commands.items():
        parts += section(click.Context(command, info_name=f"whence {name}"), 2)
        for below, inner in getattr(command, "commands", {}).items():
            parts += section(click.Context(inner, info_name=f"whence {name} {below}"), 3)
    return "\n".join(parts)


def section(context: click.Context, level: int) -> list[str]:
    """A command's part of the page: what it does, how it is called, and a table of its options."""
    command = context.command
    usage = " ".join([context.info_name or "", *command.collect_usage_pieces(context)])
    rows = [record for option in command.get_params(context) if (record := option.get_help_record(context))]
    table = [f"| <code>{cell(names)}</code> | {cell(text)} |" for names, text in rows if text]
    return [
        f"{'#' * level} {context.info_name}\n",
        told(command) + "\n",
        f"```text\n{usage}\n```\n",
        *(["| option | |", "| --- | --- |", *table, ""] if table else []),
    ]


def told(command: click.Command) -> str:
    """The help of a command, as paragraphs."""
    return html.escape(inspect.cleandoc(command.help or "").replace("\b\n", ""), quote=False)


def cell(text: str) -> str:
    """A text as the cell of a table."""
    return html.escape(" ".join(text.split()), quote=False).replace("|", "&#124;")
