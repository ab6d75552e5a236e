"""What edits may name of other files: members that a header in another folder declares, variables behind a macro."""

from __future__ import annotations

import pytest

from whence.program.c_source import CSource, own_headers
from whence.program.debug import describe
from whence.program.source_edits import edited
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.subject import Subject, subject_from_sources
from whence.techniques.bugfix.candidates import file_candidates
from whence.techniques.bugfix.shared_variables import shared_variables

FILES = {
    "include/tank.h": "#include <shared.h>\nstruct tank { int level, spare; };\n",
    "include/shared.h": """\
#ifndef EXTERN
#define EXTERN extern
#endif
EXTERN int limit;
EXTERN const char *names[4];
EXTERN struct tank *tanks;
EXTERN int unused;
""",
    "src/all.c": """\
#define EXTERN
#include "tank.h"
static int hidden;
int (*chosen)(int);
int count(void) { return hidden++; }
""",
    "src/main.c": """\
#include "tank.h"
extern int (*chosen)(int);
int main(int argc, char **argv)
{
    tanks->level = argc;
    limit += argc;
    return names[0] || chosen;
}
""",
}


@pytest.fixture(scope="module")
def tanks(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    folder = tmp_path_factory.mktemp("tanks")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    sources = [folder / "src/main.c", folder / "src/all.c"]
    return subject_from_sources(sources, [f"-I{folder / 'include'}"], [], DEFAULT_LIMITS)


def test_variables_of_other_files_have_the_types_that_debug_information_tells(tanks: Subject) -> None:
    infos = describe(tanks.program.modules)
    found = shared_variables(infos, 0)
    assert found == {"limit": "int", "names": "char **", "tanks": "struct tank *"}
    assert shared_variables(infos, 1) == {}
    headers = [CSource(FILES["include/shared.h"].encode())]
    assert shared_variables(infos, 0, headers) == found | {"unused": "int"}


def test_headers_are_looked_for_where_the_compiler_does(tanks: Subject) -> None:
    path = tanks.folder / "main.c"
    source = CSource(path.read_bytes())
    assert own_headers(source, path) == []
    found = own_headers(source, path, [tanks.folder.parent / "include"])
    assert [header.text for header in found] == [FILES[f"include/{name}.h"].encode() for name in ("tank", "shared")]


def test_edits_name_members_and_variables_that_headers_declare(tanks: Subject) -> None:
    file = file_candidates(tanks, ["main.c"])["main.c"]
    texts = {edited(file.source, edit).split(b"\n")[4].strip() for _, edit in file.on(5)}
    assert {b"tanks->spare = argc;", b"tanks->level = limit;"} <= texts
    assert b"tanks->level = unused;" in texts and not any(b"hidden" in text for text in texts)
