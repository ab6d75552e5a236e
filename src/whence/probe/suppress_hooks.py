"""The text that the suppress variant's modules share: declarations, and how the shadow is read and written.

Instrumented code (``suppress``) calls these functions; they are inlined into it.
"""

from __future__ import annotations

from whence.probe.behind import BEHIND

TURNED = 0x500000000000  # as in runtime/suppress/suppress.c
WHOLE = (1, 2, 4, 8, 16)  # sizes of accesses that one access to the shadow serves
NOWHERE = "@__whence_nowhere"  # where suppressed accesses go


def points_of(blocks: int) -> str:
    """The array of the blocks in which a point lies, a byte each."""
    return f"@__whence_points = hidden global [{max(blocks, 1)} x i8] zeroinitializer {BEHIND}"


POINTS_ELSEWHERE = "@__whence_points = external hidden global [0 x i8]"

_HEAD = f"""
{NOWHERE} = external hidden global [4096 x i8]
@__whence_argument_taint = external thread_local(initialexec) global [64 x i8]
@__whence_result_taint = external thread_local(initialexec) global i8
declare hidden i64 @whence_suppression_at(i32, i32) cold
declare hidden void @whence_nothing()
declare hidden i32 @whence_tainted(ptr, i64)
declare hidden void @whence_mark(ptr, i64, i32)
declare hidden void @whence_mark_copy(ptr, ptr, i64)
declare hidden i32 @whence_text_tainted(ptr)
declare hidden void @whence_call_suppressed(i32, i32, ptr, i64) cold
define internal i64 @__whence_suppression(i32 %block, i32 %word) alwaysinline {{
  %index = zext i32 %block to i64
  %place = getelementptr i8, ptr @__whence_points, i64 %index
  %mark = load i8, ptr %place, align 1
  %idle = icmp eq i8 %mark, 0
  br i1 %idle, label %done, label %slow, !prof !{{!"branch_weights", i32 100000, i32 1}}
slow:
  %found = call i64 @whence_suppression_at(i32 %block, i32 %word)
  br label %done
done:
  %result = phi i64 [ 0, %0 ], [ %found, %slow ]
  ret i64 %result
}}
define internal void @__whence_call_suppressed(i1 %taint, i32 %block, i32 %index, ptr %to, i64 %length) alwaysinline {{
  br i1 %taint, label %slow, label %done, !prof !{{!"branch_weights", i32 1, i32 100000}}
slow:
  call void @whence_call_suppressed(i32 %block, i32 %index, ptr %to, i64 %length)
  br label %done
done:
  ret void
}}
define internal i32 @__whence_text(ptr %text, i1 %taint) alwaysinline {{
  br i1 %taint, label %done, label %look
look:
  %found = call i32 @whence_text_tainted(ptr %text)
  br label %done
done:
  %result = phi i32 [ 1, %0 ], [ %found, %look ]
  ret i32 %result
}}
define internal void @__whence_mark_all(ptr %to, i64 %length, i1 %taint) alwaysinline {{
  %wide = zext i1 %taint to i32
  call void @whence_mark(ptr %to, i64 %length, i32 %wide)
  ret void
}}
define internal void @__whence_mark_fresh(ptr %to, i64 %length) alwaysinline {{
  call void @whence_mark(ptr %to, i64 %length, i32 0)
  ret void
}}
define internal void @__whence_mark_copied(ptr %to, ptr %from, i64 %length, i1 %taint) alwaysinline {{
  br i1 %taint, label %all, label %copy, !prof !{{!"branch_weights", i32 1, i32 100000}}
all:
  call void @whence_mark(ptr %to, i64 %length, i32 1)
  ret void
copy:
  call void @whence_mark_copy(ptr %to, ptr %from, i64 %length)
  ret void
}}"""


def _shadow_hooks(size: int) -> str:
    """The taint of so many bytes in memory, read and written."""
    bits = 8 * size
    place = f"""
  %number = ptrtoint ptr %place to i64
  %turned = xor i64 %number, {TURNED}
  %shadow = inttoptr i64 %turned to ptr"""
    return f"""
define internal i1 @__whence_shadow{size}(ptr %place) alwaysinline {{{place}
  %found = load volatile i{bits}, ptr %shadow, align 1
  %taint = icmp ne i{bits} %found, 0
  ret i1 %taint
}}
define internal void @__whence_mark{size}(ptr %place, i1 %taint) alwaysinline {{{place}
  %wide = sext i1 %taint to i{bits}
  store volatile i{bits} %wide, ptr %shadow, align 1
  ret void
}}"""


HOOKS = _HEAD + "".join(map(_shadow_hooks, WHOLE)) + "\n"
