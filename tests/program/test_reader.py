import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from whence.errors import ProgramError
from whence.program import Instruction, Module, print_module, read_module
from whence.program.locations import unescape

FLAGS = (
    "-g -O0 -w -std=gnu2x -fno-sanitize=all -fno-stack-protector -Xclang -disable-O0-optnone "
    "-fno-discard-value-names -S -emit-llvm"
)


def canonical(text: str) -> str:
    return str(llvm.parse_assembly(text, llvm.create_context()))  # a shared one would rename equal types


def compile_ir(folder: Path, source: str, *flags: str) -> str:
    """The canonical IR of a C program."""
    (folder / "a.c").write_text(source)
    command = [sys.executable, "-m", "ziglang", "cc", *FLAGS.split(), *flags, "a.c", "-o", "a.ll"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return canonical((folder / "a.ll").read_text())


def body(code: str, head: str = "") -> list[Instruction]:
    """The instructions of a function written in IR."""
    text = canonical(f"{head}\ndefine void @f(i32 %a, i32 %b, ptr %p, double %d, <4 x i32> %v) {{\n{code}\n}}")
    module = read_module(text)
    assert print_module(module) == text
    return module.functions["f"].instructions()


def one(line: str, head: str = "") -> Instruction:
    return body(f"  {line}\n  ret void", head)[0]


def parts(instruction: Instruction) -> tuple[str, str, list[str]]:
    return instruction.opcode, instruction.type, [f"{o.type} {o.text}" for o in instruction.operands]


EVERYTHING = r"""
#include <stdarg.h>
#include <stdatomic.h>
typedef float v4 __attribute__((vector_size(16)));
typedef int i4 __attribute__((vector_size(16)));
struct big { int a[10]; double d; };
struct two { long a, b; };
struct __attribute__((packed)) tight { char c; int i; };
_Atomic int counter; volatile int vol; _Thread_local int own; int *third = &((int *)0)[3];
const char *odd = "a, !dbg !5\" \\ \x01 ( [";
struct big make(int n) { struct big b = {{n}}; return b; }
struct two pair(int n) { struct two b = {n, n + 1}; return b; }
v4 lanes(v4 a, v4 b) { v4 c = a * b + a; c[1] = a[2];
  return __builtin_shufflevector(c, (v4)(a < b), 0, 5, 2, 7); }
int many(int n, ...) { va_list ap; va_start(ap, n); int s = va_arg(ap, int) + va_arg(ap, double);
  struct big b = va_arg(ap, struct big); va_end(ap); return s + b.a[0]; }
_Bool wide(float f, long double ld, __int128 x) { return f < 1.0f && ld != 2.0L && x >> 3; }
int opaque(int x) { int y; __asm__ volatile("# , !dbg !7 %1 %0" : "=r"(y) : "r"(x) : "memory"); return y; }
int jumps(int x) { asm goto("# %l1 %0" :: "r"(x) :: out, other); return 0; out: return 1; other: return 2; }
int computed(int i) { static void *t[] = {&&a, &&b}; goto *t[i]; a: return 1; b: return 2; }
int atomics(void) { int e = 3; atomic_fetch_add(&counter, 2); atomic_thread_fence(memory_order_acquire);
  atomic_compare_exchange_weak(&counter, &e, 5); return atomic_load(&counter) + counter; }
typedef int (*callback)(int, ...);
int indirect(callback f, int n) { return f(n, 2.0, "x") + many(1); }
int dynamic(int n) { int a[n]; char *c = __builtin_alloca(n);
  *c = a[0] = n; return sizeof a + a[0]; }
double _Complex product(double _Complex a, double _Complex b) { return a * b; }
int choose(unsigned char c) {
  switch (c) { case 'a': case 'b': return 1; case 200 ... 205: return 2; } return 3; }
int nothing(int c) { switch (c) { default: return 1; } }
int unnamed(int x, int) { return x ? -x : ~x; }
void assign(struct tight *p) { p->i = 5; struct tight q = *p; p[1] = q; }
_BitInt(37) bits(_BitInt(37) a) { return a * a; }
_Float16 half(_Float16 a) { return -a + 1; }
int \u00e9trange(int \u00e9) { return \u00e9 + own; }
int renamed(int) __asm__("other name"); int renamed(int x) { return x; }
int aligned(int *p) { p = __builtin_assume_aligned(p, 16); return *p; }
"""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> str:
    return compile_ir(tmp_path_factory.mktemp("ir"), EVERYTHING)


def expected_operands(instruction: Instruction) -> int:
    """How many operands LLVM counts: labels and callees are, a phi's labels and masks are not."""
    count = len(instruction.operands) + len(instruction.labels)
    if instruction.opcode in ("call", "callbr"):
        count += 1
    if instruction.opcode == "switch":
        count = 1 + len(instruction.labels)
    if instruction.opcode == "phi":
        count = len(instruction.operands)
    if instruction.opcode == "shufflevector":
        count = 2
    if instruction.opcode == "alloca":
        count = 1
    return count


def compare_with_llvm(text: str) -> int:
    """Hold each instruction against llvmlite's own view; the number compared."""
    reference, module = llvm.parse_assembly(text, llvm.create_context()), read_module(text)
    theirs = [f for f in reference.functions if not f.is_declaration]
    assert [f.name for f in theirs] == [unescape(name.strip('"')) for name in module.functions]
    count = 0
    for function, ours in zip(theirs, module.functions.values(), strict=True):
        for block, our_block in zip(function.blocks, ours.blocks, strict=True):
            for instruction, our in zip(block.instructions, our_block.instructions, strict=True):
                assert our.opcode == instruction.opcode
                if our.opcode != "store":
                    assert our.type == str(instruction.type)
                if "llvm.assume" not in our.text:  # its bundles are counted as operands
                    assert expected_operands(our) == len(list(instruction.operands)), our.text
                count += 1
    return count


def test_everything_clang_writes_is_read_and_printed_back(everything: str) -> None:
    module = read_module(everything)
    assert print_module(module) == everything
    llvm.parse_assembly(print_module(module)).verify()


def test_the_view_agrees_with_llvm(everything: str) -> None:
    assert compare_with_llvm(everything) > 350


@pytest.mark.parametrize("flags", [("-O2",), ("-target", "aarch64-linux-musl"), ("-fexceptions",)])
def test_other_targets_and_optimised_code(tmp_path: Path, flags: tuple[str, ...]) -> None:
    text = compile_ir(tmp_path, EVERYTHING, *flags)
    assert print_module(read_module(text)) == text
    assert compare_with_llvm(text) > 100


def test_locations_follow_the_scope_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "h.h").write_text("static int twice(int x)\n{\n  return 2 * x;\n}\n")
    text = compile_ir(tmp_path, '#include "sub/h.h"\nint main(int c, char **v)\n{\n  return twice(c);\n}\n')
    module = read_module(text)
    assert module.source == str(tmp_path / "a.c")
    returned = module.functions["twice"].blocks[-1].terminator.location
    assert returned is not None
    assert (returned.file, returned.line) == (str(tmp_path / "sub" / "h.h"), 3)
    call = next(i for i in module.functions["main"].instructions() if i.opcode == "call")
    assert call.location is not None
    assert (call.location.file, call.location.line, call.location.column) == (str(tmp_path / "a.c"), 4, 10)


def test_module_parts() -> None:
    text = canonical(
        'target triple = "x86_64-unknown-linux-gnu"\n%struct.P = type { i32, [8 x i8] }\n'
        '@g = global i32 1\n@"a b" = internal global %struct.P zeroinitializer\n'
        "declare i32 @printf(ptr noundef, ...)\n"
        "define internal i64 @f(ptr byval(%struct.P) align 8 %p, i32 signext %0) {\n  ret i64 0\n}\n"
    )
    module = read_module(text)
    assert module.triple == "x86_64-unknown-linux-gnu"
    assert module.types == {"%struct.P": "{ i32, [8 x i8] }"}
    assert module.globals == {"g": "global i32 1", '"a b"': "internal global %struct.P zeroinitializer"}
    assert module.declarations["printf"].variadic
    function = module.functions["f"]
    assert (function.internal, function.return_type, function.blocks[0].label) == (True, "i64", "1")
    assert function.parameters[0].attributes == ("byval(%struct.P)", "align 8")
    assert function.parameters[1].text == "%0"


def test_memory() -> None:
    assert parts(one("%x = load i32, ptr %p, align 4")) == ("load", "i32", ["ptr %p"])
    atomic = one('%x = load atomic volatile i32, ptr %p syncscope("agent") acquire, align 4')
    assert (parts(atomic), atomic.volatile) == (("load", "i32", ["ptr %p"]), True)
    assert parts(one("store atomic i32 %a, ptr %p seq_cst, align 4"))[2] == ["i32 %a", "ptr %p"]
    assert parts(one("store { i32, [2 x i8] } zeroinitializer, ptr %p"))[1] == "{ i32, [2 x i8] }"
    folded = one("store i32 1, ptr getelementptr inbounds ([4 x i32], ptr @g, i64 1, i64 2)", "@g = global i32 0")
    assert folded.operands[1].text.startswith("getelementptr ")
    alloca = one("%x = alloca [3 x i32], i32 %a, align 16")
    assert (alloca.element_type, parts(alloca)[2]) == ("[3 x i32]", ["i32 %a"])
    added = one("%x = atomicrmw volatile add ptr %p, i32 1 monotonic, align 4")
    assert (added.predicate, added.volatile, parts(added)[2]) == ("add", True, ["ptr %p", "i32 1"])
    swapped = one("%x = cmpxchg weak ptr %p, i32 %a, i32 %b acq_rel monotonic, align 4")
    assert parts(swapped) == ("cmpxchg", "{ i32, i1 }", ["ptr %p", "i32 %a", "i32 %b"])
    assert one('fence syncscope("singlethread") acquire').opcode == "fence"


def test_arithmetic_and_conversions() -> None:
    assert parts(one("%x = add nuw nsw i32 %a, -1")) == ("add", "i32", ["i32 %a", "i32 -1"])
    assert parts(one("%x = or disjoint <4 x i32> %v, splat (i32 7)"))[1] == "<4 x i32>"
    assert parts(one("%x = fadd nnan contract double %d, 0x7FF0000000000000"))[1] == "double"
    compared = one("%x = icmp samesign ult <4 x i32> %v, zeroinitializer")
    assert (compared.predicate, compared.type) == ("ult", "<4 x i1>")
    assert parts(one("%x = zext nneg i32 %a to i64")) == ("zext", "i64", ["i32 %a"])
    pointer = one("%x = trunc i64 ptrtoint (ptr @g to i64) to i8", "@g = global i32 0")
    assert (pointer.type, pointer.operands[0].text) == ("i8", "ptrtoint (ptr @g to i64)")
    assert parts(one("%x = select i1 true, i32 %a, i32 %b"))[2] == ["i1 true", "i32 %a", "i32 %b"]


def test_addresses_and_aggregates() -> None:
    step = one("%x = getelementptr inbounds nuw [4 x { i32, ptr }], ptr %p, i64 0, i32 %a, i32 1")
    assert (step.type, step.element_type, len(step.operands)) == ("ptr", "[4 x { i32, ptr }]", 4)
    assert one("%x = getelementptr i8, ptr %p, <4 x i32> %v").type == "<4 x ptr>"
    head = "%struct.S = type { i32, <{ i8, [2 x i16] }> }"
    assert one("%x = extractvalue %struct.S undef, 1, 1, 0", head).type == "i16"
    assert one("%x = insertvalue %struct.S undef, i32 %a, 0", head).type == "%struct.S"
    assert one("%x = extractelement <4 x i32> %v, i32 %a").type == "i32"
    assert one("%x = shufflevector <4 x i32> %v, <4 x i32> %v, <2 x i32> <i32 0, i32 5>").type == "<2 x i32>"


def test_calls() -> None:
    head = "declare i32 @printf(ptr, ...)\ndeclare void @s(ptr sret([9 x i8]), ptr)"
    call = one("%x = tail call noundef i32 (ptr, ...) @printf(ptr noundef captures(none) %p, i32 %a) #0", head)
    assert (call.opcode, call.callee, call.element_type) == ("call", "@printf", "i32 (ptr, ...)")
    assert call.operands[0].attributes == ("noundef", "captures(none)")
    result = one("call void @s(ptr sret([9 x i8]) align 8 %p, ptr dereferenceable(4) null)", head).operands
    assert result[0].attributes == ("sret([9 x i8])", "align 8")
    assert (result[1].attributes, result[1].text) == (("dereferenceable(4)",), "null")
    ranged = one("%x = call fastcc range(i32 0, 9) i32 %p(i32 range(i32 -1, 4) %a)")
    assert (ranged.callee, ranged.type, ranged.operands[0].text) == ("%p", "i32", "%a")
    text = '%x = call i32 asm sideeffect "f(x), !dbg !1", "=r,r,~{memory}"(i32 %a), !srcloc !0'
    opaque = one(text, "!0 = !{i64 1}")
    assert (opaque.callee, [o.text for o in opaque.operands]) == ("asm", ["%a"])
    bundled = one('call void @llvm.assume(i1 true) [ "align"(ptr %p, i64 16) ]', "declare void @llvm.assume(i1)")
    assert [o.text for o in bundled.operands] == ["true"]
    assert one("call void inttoptr (i64 64 to ptr)(i32 1)").callee == "inttoptr (i64 64 to ptr)"


def test_control_flow() -> None:
    code = """
  br i1 true, label %"a b", label %other
"a b":
  %y = phi i32 [ %a, %0 ], [ -1, %other ]
  switch i32 %a, label %end [
    i32 -1, label %other
    i32 7, label %end
  ]
other:
  indirectbr ptr %p, [label %end, label %"a b"]
end:
  ret void"""
    branch, phi, switch, jump, _ = body(code)
    assert branch.labels == ('"a b"', "other")
    assert (parts(phi)[2], phi.labels) == (["i32 %a", "i32 -1"], ("0", "other"))
    assert (parts(switch)[2], switch.labels) == (["i32 %a", "i32 -1", "i32 7"], ("end", "other", "end"))
    assert (parts(jump)[2], jump.labels) == (["ptr %p"], ("end", '"a b"'))


def test_exceptions_are_understood() -> None:
    head = "declare void @g()\ndeclare i32 @__gcc_personality_v0(...)"
    text = canonical(
        head + "define void @f() personality ptr @__gcc_personality_v0 {\n"
        "  invoke void @g() to label %ok unwind label %bad\nok:\n  ret void\nbad:\n"
        "  %x = landingpad { ptr, i32 }\n    cleanup\n  resume { ptr, i32 } %x\n}\n"
    )
    module = read_module(text)
    assert print_module(module) == text
    invoke, _, landing, _ = module.functions["f"].instructions()
    assert (invoke.labels, landing.type) == (("ok", "bad"), "{ ptr, i32 }")


def test_positions_point_at_the_first_line_of_each_instruction(everything: str) -> None:
    for function in read_module(everything).functions.values():
        for block in function.blocks:
            for instruction, position in zip(block.instructions, block.positions, strict=True):
                assert block.lines[position][2:] == instruction.text.split("\n")[0]


@pytest.mark.parametrize("line", ["%x = frobnicate i32 %a", "%x = load i32", "%x = icmp eq i32 %a", "br label"])
def test_what_is_not_understood_names_its_line(line: str) -> None:
    text = f"; ModuleID = 'm.c'\ndefine void @f(i32 %a) {{\n  {line}\n  ret void\n}}\n"
    with pytest.raises(ProgramError, match=r"m\.c: IR line 3: .*"):
        read_module(text)


def test_a_function_that_never_ends_is_an_error() -> None:
    with pytest.raises(ProgramError, match="IR line"):
        read_module("define void @f() {\n  ret void")


def test_rewriting_inserts_lines(everything: str) -> None:
    module: Module = read_module(everything)

    def rewrite(function):  # type: ignore[no-untyped-def]
        function.blocks[0].lines.insert(0, "  %whence.probe = add i32 1, 2")
        return function

    changed = print_module(module, rewrite)
    llvm.parse_assembly(changed).verify()
    assert changed.count("%whence.probe") == len(module.functions)
