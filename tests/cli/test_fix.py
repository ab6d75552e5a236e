"""``whence fix``, as a user sees it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from cli_programs import line_of
from cli_tool import Done, subject_folder, whence, write

from whence.run.cases import TAKE_APART
from whence.subject.edited_memory import EditedMemory

# From 10 on a piece is cheaper.
PRICE = """\
#include <stdio.h>
#include <stdlib.h>
static int price_of(int count)
{
\tif (count > 10) /* FAULT */
\t\treturn 5;
\treturn 7;
}
int main(int argc, char **argv)
{
\tint count = atoi(argv[1]);
\tprintf("%d\\n", count * price_of(count));
\treturn 0;
}
"""
CASES = ("--fails", "10", "--expect", "50", "--passes", "3", "--passes", "11", "--passes", "9")


def folder_of(name: str, text: str = PRICE) -> Path:
    folder = subject_folder(f"fix-{name}", price_c=text)
    (folder / "price.c").write_bytes(text.encode())
    return folder


def fixed(name: str, *words: str, text: str = PRICE) -> Done:
    return whence(folder_of(name, text), "fix", "price.c", *CASES, *words)


@pytest.fixture(scope="module")
def checker() -> None:
    """From here on the memory checker is compiled."""
    whence(folder_of("price"), "memory", "price.c", *CASES)


@pytest.fixture(scope="module")
def found(checker: None) -> Done:
    return fixed("price", "--json")


def test_the_wrong_operator_is_mended_by_the_first_edit(found: Done) -> None:
    assert found.status == 0 and found.json["technique"] == "fix"
    first = found.json["edits"][0]
    assert first["line"] == line_of(PRICE, "FAULT") and first["passes"] and first["size"] == 1
    assert first["clean"] is True
    clean = {"runs": 4, "cases": 4, "found": "", "trouble": "", "before": ""}
    none = clean | {"runs": 0, "cases": 0}
    assert first["checks"] == {"traps": clean, "memory": clean, "warning": "", "elsewhere": none}
    assert "change > into >=" in first["descriptions"]
    assert "-\tif (count > 10) /* FAULT */\n+\tif (count >= 10) /* FAULT */\n" in first["diff"]
    assert found.json["ranking"][0]["line"] == first["line"]


def test_the_others_that_pass_are_counted(found: Done) -> None:
    trials = found.json["trials"]
    assert 1 < trials["passing"] <= trials["tried"] <= trials["made"]
    assert any("the cases do not tell which" in line for line in found.json["summary"])
    assert any(edit["alike"] for edit in found.json["edits"])  # `10 <= count`, `count > 9`


def test_git_takes_the_diff(checker: None) -> None:
    done = fixed("git", "--diff")
    folder = folder_of("git")
    (folder / "fix.patch").write_text(done.out)
    subprocess.run(["git", "apply", "fix.patch"], cwd=folder, check=True)
    assert (folder / "price.c").read_text() == PRICE.replace("> 10", ">= 10")
    assert "checked" not in done.err  # which it would say of what is not clean


def test_line_ends_of_the_file_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EditedMemory, "is_compiled", staticmethod(lambda: False))
    text = PRICE.replace("\n", "\r\n")
    folder = folder_of("crlf", text)
    done = whence(folder, "fix", "price.c", *CASES, "--apply")
    assert done.status == 0 and "written: edit 1" in done.err
    assert "not checked: memory (the checker is not compiled yet, which `whence doctor` does)" in done.err
    assert (folder / "price.c").read_bytes() == text.replace("> 10", ">= 10").encode()


def test_files_stay_as_they_are() -> None:
    done = fixed("stays", "--at", f"price.c:{line_of(PRICE, 'FAULT')}")
    assert done.status == 0 and (folder_of("stays") / "price.c").read_text() == PRICE
    assert "all cases pass with each of these edits" in done.out and "+\tif (count >= 10)" in done.out


def test_what_cannot_be_mended_is_said() -> None:
    text = PRICE.replace("int count = atoi(argv[1]);", "int count = 3;")
    done = whence(folder_of("none", text), "fix", "price.c", "--fails", "10", "--expect", "no number", "--json")
    assert done.status == 1 and not done.json["edits"] and not done.json["ranking"]
    made = done.json["trials"]["made"]
    assert done.json["trials"]["all_made"]
    assert any(f" edits of all {made:,} that there are in " in line for line in done.json["summary"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--at", "price.c"), "'price.c' is no place"),
        (("--at", "price.c:1"), "there is no statement at price.c:1\n  help: the nearest lines with one: "),
        (("--at", "cost.c:1"), "there is no statement at cost.c:1\n  help: files: price.c"),
        (("--knowledge", "nothing.jsonl"), "cannot read nothing.jsonl"),
        (("--html", "page.html"), "writes no page"),
        (("--apply", "99"), "there is no edit 99 to apply"),
    ],
)
def test_wrong_use_is_said_in_one_line(words: tuple[str, ...], message: str) -> None:
    done = fixed("wrong", *words)
    assert done.status == 2 and message in done.err and "Traceback" not in done.err


def test_commands_are_refused_with_what_helps() -> None:
    folder = subject_folder("fix-commands", prog_c="int main(void) { return 1; }")
    write(folder / "whence.toml", '[program]\nsources = ["prog.c"]\n[cases]\ncommand = "./{name}"\nnames = ["prog"]\n')
    done = whence(folder, "fix")
    assert done.status == 2 and "the cases are commands" in done.err and TAKE_APART in done.err


def test_a_damaged_knowledge_base_is_refused() -> None:
    folder = folder_of("damaged")
    (folder / "whence-fixes.jsonl").write_text(json.dumps({"knowledge": "whence-fix-knowledge", "version": 9}) + "\n")
    done = whence(folder, "fix", "price.c", *CASES)
    assert done.status == 2 and "is of version 9" in done.err
    (folder / "whence-fixes.jsonl").unlink()


def test_an_input_that_tells_edits_apart_is_shown_with_both_outputs() -> None:
    few = ("--fails", "10", "--expect", "50", "--passes", "3", "--passes", "11")
    place = f"price.c:{line_of(PRICE, 'FAULT')}"
    done = whence(folder_of("apart"), "fix", "price.c", *few, "--at", place, "--json")
    sizes = [edit["size"] for edit in done.json["edits"] if edit["passes"]]
    assert sizes == sorted(sizes) and len(sizes) > 1
    apart = done.json["apart"]
    assert apart["other"] > 1 and apart["input"].startswith("args `") and apart["first"] != apart["second"]
    assert apart["first"].startswith("line 1 is ")


def test_code_of_a_header_or_another_file_is_left_alone_and_said() -> None:
    folder = folder_of(
        "header", PRICE.replace(PRICE[PRICE.index("static") : PRICE.index("int main")], '#include "of.h"\n')
    )
    (folder / "of.h").write_text(PRICE[PRICE.index("static") : PRICE.index("int main")])
    done = whence(folder, "fix", "price.c", *CASES)
    assert "of.h is not compiled by itself: no edit of it was tried but what rules stand for" in " ".join(
        done.out.split()
    )
    generated = PRICE.replace("static int price_of", '#line 1 "price.y"\nstatic int price_of')
    folder = folder_of("generated", generated)
    (folder / "price.y").write_text("a grammar\n" * 20)
    assert "price.y is not compiled by itself" in whence(folder, "fix", "price.c", *CASES).out


def test_a_fault_in_a_macro_costs_no_error() -> None:
    text = PRICE.replace("#include <stdlib.h>", "#include <stdlib.h>\n#define IS_MANY(n) ((n) > 10)")
    text = text.replace("count > 10", "IS_MANY(count)")
    done = whence(folder_of("macro", text), "fix", "price.c", *CASES, "--json")
    assert done.status == 0 and "IS_MANY(count + 1)" in "".join(edit["diff"] for edit in done.json["edits"])


def test_a_member_of_a_header_is_put_in() -> None:
    folder = subject_folder(
        "fix-member",
        box_h="struct box { int width, height; };\n",
        box_c='#include <stdio.h>\n#include <stdlib.h>\n#include "box.h"\n'
        "static int area(struct box b) { return b.width * b.width; }\n"
        'int main(int c, char **v) { struct box b = { atoi(v[1]), atoi(v[c - 1]) }; printf("%d\\n", area(b)); }\n',
    )
    words = ("--fails", "3 4", "--expect", "12", "--fails", "2 5", "--expect", "10", "--passes", "2")
    done = whence(folder, "fix", "box.c", *words, "--json")
    assert "+static int area(struct box b) { return b.height * b.width; }" in done.json["edits"][0]["diff"]
