import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.build.flags import CommandLine, expand, included_from, split_words


def ir(arguments: str) -> list[str]:
    line = CommandLine(shlex.split(arguments))
    return line.ir_arguments(line.sources[0], "out.bc")


@pytest.mark.parametrize(
    ("arguments", "step"),
    [
        ("-c a.c", "compile"),
        ("-c -o b.o a.c", "compile"),
        ("a.c", "link"),
        ("a.o b.o -lm -o prog", "link"),
        ("-shared -o liba.so a.o", "link"),
        ("-r a.o b.o -o c.o", "link"),
        ("-E a.c", "other"),
        ("-S a.c", "other"),
        ("-MM a.c", "other"),
        ("-v", "other"),
        ("--version", "other"),
        ("-print-prog-name=ld", "other"),
        ("-dumpmachine a.c", "other"),
        ("-c a.h", "other"),
        ("-c -emit-llvm a.c", "other"),
    ],
)
def test_step(arguments: str, step: str) -> None:
    assert CommandLine(arguments.split()).step == step


def test_inputs_and_their_kinds() -> None:
    line = CommandLine(shlex.split("a.c -I b.c -x assembler c.c -x none d.o -lm -xc e.txt -- -f.c"))
    assert [(i.path, i.kind) for i in line.inputs] == [
        ("a.c", "c"),
        ("c.c", "assembly"),
        ("d.o", "object"),
        ("e.txt", "c"),
        ("-f.c", "c"),
    ]


def test_output_joined_or_apart() -> None:
    assert CommandLine(["-oprog", "a.c"]).output == "prog"
    assert CommandLine(["a.c", "-o", "prog"]).output == "prog"


def test_default_object_name() -> None:
    assert CommandLine(["-c", "sub/a.b.c"]).sources[0].object_name() == "a.b.o"


def test_ir_keeps_what_the_preprocessor_and_the_language_need() -> None:
    words = ir("""-c '-DNAME="a b"' -I inc -include pre.h -std=c99 -fno-common -funsigned-char -pthread a.c""")
    for word in ('-DNAME="a b"', "-I", "inc", "-include", "pre.h", "-std=c99", "-funsigned-char", "-pthread"):
        assert word in words


@pytest.mark.parametrize(
    "dropped",
    [
        "-O2",
        "-g3",
        "-ggdb",
        "-MD",
        "-MF x.d",
        "-MT t",
        "-Wp,-MD,x.d",
        "-Werror",
        "-flto=thin",
        "-lm",
        "-L lib",
        "-Wl,-s",
        "-pg",
        "--coverage",
        "-fprofile-arcs",
        "-save-temps",
        "-fsanitize=address",
        "-o b.o",
        "-shared",
        "-v",
        "-gsplit-dwarf",
    ],
)
def test_ir_drops_what_would_change_it_or_write_a_second_file(dropped: str) -> None:
    assert ir(f"-c {dropped} a.c") == ir("-c a.c")


def test_ir_of_prefix_maps_and_preprocessor_options() -> None:
    assert "-fmacro-prefix-map=/a=/b" in ir("-c -ffile-prefix-map=/a=/b a.c")
    assert "-Wp,-DX=1" in ir("-c -Wp,-MD,x.d,-DX=1 a.c")


def test_folders_of_headers_in_the_order_in_which_they_are_looked_in() -> None:
    words = shlex.split("-isystem deep -I. -DX -I ../include -iquote own -c a.c -idirafter last")
    assert included_from(words, "/b/src") == ["/b/src/own", "/b/src", "/b/include", "/b/src/deep", "/b/src/last"]


def test_response_files_nest_and_keep_quotes(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_text("-DB='x y'\n")
    outer.write_text(f'-DA="1 2" @{inner} a\\ b.c')
    assert expand([f"@{outer}", "-c"]) == ["-DA=1 2", "-DB=x y", "a b.c", "-c"]


def test_missing_response_file_is_left_to_clang() -> None:
    assert expand(["@/nowhere/x"]) == ["@/nowhere/x"]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"))))
def test_split_words_reads_back_what_was_quoted(words: list[str]) -> None:
    quoted = ['"' + w.replace("\\", "\\\\").replace('"', '\\"') + '"' for w in words]
    assert split_words(" ".join(quoted)) == words


@given(st.text("ab \n\t'\"c"))
def test_split_words_agrees_with_the_shell_where_quotes_match(text: str) -> None:
    try:
        expected = shlex.split(text, posix=True)
    except ValueError:
        return
    assert split_words(text) == expected
