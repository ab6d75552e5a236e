"""Debug information goes, everything else stays."""

from __future__ import annotations

from whence.probe.bare import without_debug

MODULE = r"""
@text = constant [16 x i8] c", !dbg !1 !llvm.\00", align 1, !dbg !1
define i32 @f(ptr %p) #0 !dbg !12 !prof !20 {
  %x = load i32, ptr %p, align 4, !dbg !13, !range !21
    #dbg_declare(ptr %p, !14, !DIExpression(), !13)
  switch i32 %x, label %a [
    i32 1, label %b
  ], !dbg !13
a:
  br label %a, !dbg !13, !llvm.loop !15
b:
  call void asm sideeffect "nop", ""() #1, !dbg !13, !srcloc !22
  ret i32 %x, !dbg !13
}
!llvm.dbg.cu = !{!2}
!llvm.module.flags = !{!3}
!1 = !DIGlobalVariableExpression(var: !2, expr: !DIExpression())
!2 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1)
!3 = !{i32 1, !"wchar_size", i32 4}
!12 = distinct !DISubprogram(name: "f", unit: !2)
!13 = !DILocation(line: 1, scope: !12)
!14 = !DILocalVariable(name: "p", scope: !12)
!15 = distinct !{!15, !13, !16}
!16 = !{!"llvm.loop.mustprogress"}
!20 = !{!"function_entry_count", i64 1}
!21 = !{i32 0, i32 9}
!22 = !{i64 7, !23}
!23 = !{}"""

BARE = r"""
@text = constant [16 x i8] c", !dbg !1 !llvm.\00", align 1
define i32 @f(ptr %p) #0 !prof !20 {
  %x = load i32, ptr %p, align 4, !range !21
  switch i32 %x, label %a [
    i32 1, label %b
  ]
a:
  br label %a
b:
  call void asm sideeffect "nop", ""() #1, !srcloc !22
  ret i32 %x
}
!llvm.module.flags = !{!3}
!3 = !{i32 1, !"wchar_size", i32 4}
!20 = !{!"function_entry_count", i64 1}
!21 = !{i32 0, i32 9}
!22 = !{i64 7, !23}
!23 = !{}"""


def test_only_debug_information_goes() -> None:
    assert without_debug(MODULE.split("\n")) == BARE.split("\n")
