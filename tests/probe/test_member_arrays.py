"""Member arrays behind the pointers of a program's text: which one, where it begins, and what is none."""

from __future__ import annotations

from trace_readers import subject_of

from whence.probe.member_arrays import MemberArray, MemberArrays

TEXT = """\
struct inner { short at[3]; char flexible[1]; };
struct outer { int id; char name[10]; struct inner inner[2]; long last; };
static struct outer fixed;
static void use(void *p) { (void)p; }
void made(struct outer *o, int i)
{
    use(o->name);
    use(&o->name[4]);
    use(&o->name[i]);
    use(&o[i].name[2]);
    use(o->inner[1].at);
    use(fixed.inner[1].at + 1);
    use(o->inner);
    use(o->inner[0].flexible);
    use(&o->last);
    use(o);
    use((char *)o->name - 4);
}
int main(void) { struct outer o = {0}; made(&o, 1); return 0; }
"""


def arrays() -> tuple[list[MemberArray | None], list[bool]]:
    """Of each call of ``use`` the array behind its argument, and whether that goes back from one."""
    program = subject_of(TEXT).program
    ref = next(ref for ref in program.functions if ref.name == "made")
    instructions = [i for block in ref.function.blocks for i in block.instructions]
    finder = MemberArrays(program.modules[ref.module], {i.result: i for i in instructions if i.result})
    given = [i.operands[0] for i in instructions if i.callee == "@use"]
    return [finder.behind(pointer) for pointer in given], [finder.goes_back(pointer) for pointer in given]


def test_the_array_its_place_and_the_place_in_it_are_found() -> None:
    found, back = arrays()
    places = [None if one is None else (one.size, one.inside, one.offset, one.whole) for one in found]
    name, whole = 10, 40
    assert places[:4] == [(name, 0, 4, whole), (name, 4, 4, whole), (name, None, 4, whole), (name, 2, None, whole)]
    assert places[4:6] == [(6, 0, 22, whole), (16, 10, 14, whole)]  # of a constant address the text says no more
    assert places[6] == (16, 0, 14, whole)  # an array of structures is one as well
    assert places[7][:2] == (16, 6)  # which stands for a last member without a size of its own
    assert places[8:10] == [None, None]
    assert back == [False] * 10 + [True]
