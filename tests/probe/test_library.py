"""The library table, and what the wrappers record: each case is a few lines of C that call wrappers by name.

A stub in place of the recorder prints the operations; addresses are printed by the names that a case gives.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from whence.probe.library import FUNCTIONS, names, numbers, wrapped

RUNTIME = Path(__file__).parents[2] / "src/whence/probe/runtime"
NATIVE, MUSL = "native", "x86_64-linux-musl"

STUB = r"""
#define _GNU_SOURCE
#include "record/record.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <math.h>
#include <netdb.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
int __xpg_strerror_r(int, char *, size_t);
char *__xpg_basename(char *);
#ifndef __GLIBC__
char *basename(char *);
#endif

static int records, recording = 1;

/* What suppression passes between threads. */
uint8_t whence_take_argument(unsigned number) { return 0; }
void whence_give_argument(unsigned number, uint8_t taint) { }
static struct { const char *name; uintptr_t start; size_t size; } places[16];
static int place_count;

static void place(const char *name, const void *start, size_t size)
{
    places[place_count].name = name;
    places[place_count].start = (uintptr_t)start;
    places[place_count++].size = size;
}
#define PLACE(object) place(#object, &(object), sizeof(object))
#define TEXT(pointer) place(#pointer, pointer, strlen(pointer) + 1)

static void print_address(uint64_t address)
{
    if (address == (uintptr_t)&errno) {
        dprintf(records, " errno");
        return;
    }
    for (int i = place_count - 1; i >= 0; i--)
        if (address >= places[i].start && address < places[i].start + places[i].size) {
            size_t offset = address - places[i].start;
            dprintf(records, offset ? " %s+%zu" : " %s", places[i].name, offset);
            return;
        }
    dprintf(records, " ?");
}

__thread uint32_t *__whence_cursor, *__whence_end;
__thread unsigned whence_thread;
int whence_scheduling;
int whence_calls_are_seen(void) { return 1; } /* so that no list of mappings is made up */
int whence_is_mappings(const char *path) { (void)path; return 0; }
long whence_open_mappings(uintptr_t stack) { (void)stack; return -ENOSYS; }
void whence_note_start(unsigned thread) { (void)thread; }
void whence_note_threads(unsigned count) { (void)count; }
void whence_signal_stack(int wanted) { (void)wanted; }
void whence_defer_signals(void *mask) { (void)mask; }
int whence_recording(void) { return recording; }
void whence_effect_begin(uint32_t function) { dprintf(records, "#%u\n", function); }
void whence_effect_end(void) { }
void whence_effect(enum whence_operation operation, unsigned a, int operands,
                   uint64_t x, uint64_t y, uint64_t z)
{
    static const char *const names[] = {"", "READ", "WRITE", "COPY", "ALLOC", "FREE", "OUT", "PIECE",
                                        "IN", "STATE", "RESIZE", "STACK"};
    int has_address = operation < WHENCE_OUT || operation >= WHENCE_RESIZE;
    dprintf(records, "%s", names[operation]);
    if (!has_address)
        dprintf(records, " %u", a);
    uint64_t values[] = {x, y, z};
    for (int i = 0; i < operands; i++)
        if (has_address && i < (operation == WHENCE_COPY ? 2 : 1))
            print_address(values[i]);
        else if (operation == WHENCE_STATE)
            dprintf(records, values[i] > 999 ? " file" : " %llu", (unsigned long long)values[i]);
        else
            dprintf(records, " %llu", (unsigned long long)values[i]);
    dprintf(records, "\n");
}
"""

MAIN = r"""
int main(int count, char **arguments)
{
    records = open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    (void)count;
    %s
    return 99;
}
"""


@dataclass
class Case:
    """C lines, the operations that they must record, and what they print."""

    name: str
    body: str
    expected: str
    output: str = ""
    stdin: str = ""
    only: str = ""  # a target
    operations: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.operations = [line.strip() for line in self.expected.strip().splitlines() if line.strip()]


CASES = [
    # strings
    Case("strlen", 'char *s = strdup("hello"); TEXT(s); __whence_lib_strlen(s);', "strlen: READ s 6"),
    Case(
        "strcmp_stops_at_the_difference",
        'char *a = strdup("abcd"), *b = strdup("abxd"); TEXT(a); TEXT(b); __whence_lib_strcmp(a, b);',
        "strcmp: READ a 3, READ b 3",
    ),
    Case(
        "strncasecmp_stops_at_its_limit",
        'char *a = strdup("ABcd"), *b = strdup("abCx"); TEXT(a); TEXT(b);'
        "if (__whence_lib_strncasecmp(a, b, 3)) return 1;",
        "strncasecmp: READ a 3, READ b 3",
    ),
    Case(
        "strcpy_copies",
        'char to[9], *s = strdup("hi"); PLACE(to); TEXT(s); if (__whence_lib_strcpy(to, s) != to) return 1;',
        "strcpy: COPY to s 3",
    ),
    Case(
        "strncpy_pads",
        'char to[9], *s = strdup("hi"); PLACE(to); TEXT(s); __whence_lib_strncpy(to, s, 8);',
        "strncpy: COPY to s 3, WRITE to+3 5",
    ),
    Case(
        "strncpy_cuts",
        'char to[2], *s = strdup("hello"); PLACE(to); TEXT(s); __whence_lib_strncpy(to, s, 2);',
        "strncpy: COPY to s 2",
    ),
    Case(
        "strcat_appends",
        'char to[9] = "ab", *s = strdup("cd"); PLACE(to); TEXT(s); __whence_lib_strcat(to, s);',
        "strcat: READ to 3, COPY to+2 s 3",
    ),
    Case(
        "strncat_ends_with_nul",
        'char to[9] = "ab", *s = strdup("cdef"); PLACE(to); TEXT(s); __whence_lib_strncat(to, s, 2);',
        "strncat: READ to 3, WRITE to+4 1, COPY to+2 s 2",
    ),
    Case(
        "memmove_overlapping",
        "char b[8]; PLACE(b); __whence_lib_memmove(b + 2, b, 4);",
        "memmove: COPY b+2 b 4",
    ),
    Case("memset", "char b[8]; PLACE(b); __whence_lib_memset(b, 1, 8);", "memset: WRITE b 8"),
    Case("memcpy_of_nothing", "char b[8]; __whence_lib_memcpy(b, b + 4, 0);", "memcpy:"),
    Case(
        "memcmp",
        'char a[] = "xxa", b[] = "xxb"; PLACE(a); PLACE(b); __whence_lib_memcmp(a, b, 3);',
        "memcmp: READ a 3, READ b 3",
    ),
    Case(
        "strchr_found_and_not",
        "char s[] = \"hello\"; PLACE(s); __whence_lib_strchr(s, 'l'); __whence_lib_strchr(s, 'z');",
        "strchr: READ s 3\nstrchr: READ s 6",
    ),
    Case(
        "strstr",
        'char s[] = "hello", p[] = "ll"; PLACE(s); PLACE(p); __whence_lib_strstr(s, p);',
        "strstr: READ p 3, READ s 4",
    ),
    Case(
        "strtok_keeps_its_position",
        'char s[] = "a,b", d[] = ","; PLACE(s); PLACE(d);'
        "__whence_lib_strtok(s, d); __whence_lib_strtok(NULL, d);"
        "if (__whence_lib_strtok(NULL, d)) return 1;",
        """strtok: STATE 2 257, READ d 2, READ s 2, WRITE s+1 1
           strtok: STATE 3 257, READ d 2, READ s+2 2
           strtok: STATE 3 257, READ d 2, READ s+3 1""",
        only=NATIVE,
    ),
    Case(
        "strsep",
        'char s[] = "a b", d[] = " ", *p = s; PLACE(s); PLACE(d); PLACE(p); __whence_lib_strsep(&p, d);',
        "strsep: READ p 8, READ d 2, READ s 2, WRITE s+1 1, WRITE p 8",
    ),
    # memory
    Case(
        "malloc_and_free",
        'void *p = __whence_lib_malloc(24); place("p", p, 24);__whence_lib_free(p); __whence_lib_free(NULL);',
        "malloc: ALLOC ? 24\nfree: FREE p 24\nfree:",
    ),
    Case(
        "calloc_writes",
        "__whence_lib_calloc(4, 4);",
        "calloc: ALLOC ? 16, WRITE ? 16",
    ),
    Case(
        "realloc_of_null_is_malloc",
        "__whence_lib_realloc(NULL, 8);",
        "realloc: ALLOC ? 8",
    ),
    Case(
        "realloc_moves_the_bytes",
        'char *p = __whence_lib_malloc(24), *wall = malloc(24); place("p", p, 24);'
        "char *q = __whence_lib_realloc(p, 200000); if (q == p || !wall) return 1;",
        "malloc: ALLOC ? 24\nrealloc: ALLOC ? 200000, COPY ? p 24, FREE p 24",
    ),
    Case(
        "realloc_in_place",
        'char *p = __whence_lib_malloc(24); place("p", p, 24);if (__whence_lib_realloc(p, 16) != p) return 1;',
        "malloc: ALLOC ? 24\nrealloc: RESIZE p 16, FREE p+16 8",
        only=NATIVE,
    ),
    Case(
        "strdup_copies",
        'char s[] = "abc"; PLACE(s); __whence_lib_strdup(s);',
        "strdup: ALLOC ? 4, COPY ? s 4",
    ),
    Case(
        "failure_shows_in_errno",
        "errno = 0; if (__whence_lib_malloc((size_t)-1 / 2) || errno != ENOMEM) return 1;",
        "malloc: WRITE errno 4",
    ),
    # output
    Case(
        "printf_pieces",
        'char f[] = "%d: %s|%-4s|%c%%\\n", s[] = "word", t[] = "ab"; PLACE(f); PLACE(s); PLACE(t);'
        '__whence_lib_printf(f, 42, s, t, 120); __whence_lib_printf("%5.2f%*d", 3.14159, 4, 7);',
        """printf: READ f 18, OUT 1 0 17, PIECE 1 0 2, PIECE 2 4 4, READ s 5, PIECE 3 9 4, READ t 3,
           PIECE 4 14 1
           printf: READ ? 9, OUT 1 17 9, PIECE 1 0 5, PIECE 3 5 4""",
        output="42: word|ab  |x%\n 3.14   7",
    ),
    Case(
        "printf_precision_and_lengths",
        'char s[] = "abcdef"; PLACE(s);'
        '__whence_lib_printf("%.3s %ld %lld %hhd %zu %Lf", s, 1234567890123L, -1LL, 300, (size_t)5, 1.5L);',
        """printf: READ ? 27, OUT 1 0 34, PIECE 1 0 3, READ s 3, PIECE 2 4 13, PIECE 3 18 2, PIECE 4 21 2,
           PIECE 5 24 1, PIECE 6 26 8""",
        output="abc 1234567890123 -1 44 5 1.500000",
    ),
    Case(
        "printf_positional",
        'char s[] = "xy"; PLACE(s); __whence_lib_printf("%2$s %1$5d", 7, s);',
        "printf: READ ? 11, OUT 1 0 8, PIECE 2 0 2, READ s 3, PIECE 1 3 5",
        output="xy     7",
    ),
    Case(
        "printf_count_and_negative_width",
        'int n; PLACE(n); __whence_lib_printf("ab%n%*d|", &n, -3, 5); if (n != 2) return 1;',
        "printf: READ ? 9, OUT 1 0 6, PIECE 1 2 0, WRITE n 4, PIECE 3 2 3".replace(" PIECE 1 2 0,", ""),
        output="ab5  |",
    ),
    Case(
        "vprintf_reads_its_list",
        'pass_on("%d-%d", 1, 23);',
        "vprintf: READ ? 6, READ ? 24, OUT 1 0 4, READ ? 4, PIECE 1 0 1, READ ? 4, PIECE 1 2 2",
        output="1-23",
    ),
    Case(
        "sprintf_copies_strings",
        'char b[32], s[] = "name", f[] = "%s=%d;%6s"; PLACE(b); PLACE(s); PLACE(f);'
        '__whence_lib_sprintf(b, f, s, 12, s); if (strcmp(b, "name=12;  name")) return 1;',
        "sprintf: READ f 10, WRITE b 15, COPY b s 4, READ s 5",
    ),
    Case(
        "snprintf_cuts",
        'char b[4], s[] = "abcdef"; PLACE(b); PLACE(s);'
        'if (__whence_lib_snprintf(b, 4, "%s", s) != 6) return 1;'
        'if (__whence_lib_snprintf(NULL, 0, "%s", s) != 6) return 1;',
        "snprintf: READ ? 3, WRITE b 4, READ s 7\nsnprintf: READ ? 3",
    ),
    Case(
        "asprintf_allocates",
        'char *b, s[] = "abc"; PLACE(b); PLACE(s); __whence_lib_asprintf(&b, "<%s>", s);',
        "asprintf: READ ? 5, WRITE b 8, ALLOC ? 6, WRITE ? 6, COPY ? s 3",
    ),
    Case(
        "puts_putchar_fputs_fwrite",
        'char s[] = "abc"; PLACE(s); __whence_lib_puts(s); __whence_lib_putchar(120);'
        "__whence_lib_fputs(s, stdout);"
        "__whence_lib_fwrite(s, 1, 2, stdout); __whence_lib_putc('!', stderr);",
        """puts: OUT 1 0 4, PIECE 0 0 3, READ s 4
           putchar: OUT 1 4 1, PIECE 0 0 1
           fputs: OUT 1 5 3, PIECE 0 0 3, READ s 4
           fwrite: OUT 1 8 2, PIECE 0 0 2, READ s 2
           fputc: OUT 2 0 1, PIECE 0 0 1""",
        output="abc\nxabcab",
    ),
    Case(
        "write_past_the_buffer",
        'char s[] = "12"; PLACE(s); __whence_lib_write(1, s, 2); __whence_lib_puts("a"); fflush(stdout);'
        '__whence_lib_write(1, s, 2); __whence_lib_puts("b");',
        """write: OUT 1 0 2, PIECE 1 0 2, READ s 2
           puts: OUT 1 2 2, PIECE 0 0 1, READ ? 2
           write: OUT 1 4 2, PIECE 1 0 2, READ s 2
           puts: OUT 1 6 2, PIECE 0 0 1, READ ? 2""",
        output="12a\n12b\n",
    ),
    # input
    Case(
        "characters",
        "__whence_lib_getchar(); __whence_lib_fgetc(stdin); if (__whence_lib_getchar() != EOF) return 1;"
        "if (!__whence_lib_feof(stdin)) return 1;",
        "getchar: IN 0 0 1\nfgetc: IN 0 1 1\ngetchar: STATE 3 0\nfeof: STATE 1 0",
        stdin="ab",
    ),
    Case(
        "ungetc_goes_back",
        "__whence_lib_ungetc(__whence_lib_getchar(), stdin); __whence_lib_getchar();",
        "getchar: IN 0 0 1\nungetc: STATE 3 0\ngetchar: IN 0 0 1, STATE 1 0",
        stdin="ab",
    ),
    Case(
        "fgets",
        "char b[9]; PLACE(b); __whence_lib_fgets(b, 9, stdin); __whence_lib_fgets(b, 3, stdin);"
        "if (__whence_lib_fgets(b, 9, stdin)) return 1;",
        """fgets: IN 0 0 3, WRITE b 4
           fgets: IN 0 3 2, WRITE b 3
           fgets: STATE 3 0""",
        stdin="ab\ncd",
    ),
    Case(
        "getline_allocates",
        "static char *line; static size_t size; PLACE(line); PLACE(size);"
        "if (__whence_lib_getline(&line, &size, stdin) != 3) return 1;"
        "if (__whence_lib_getline(&line, &size, stdin) != 2) return 1;",
        """getdelim: READ line 8, READ size 8, ALLOC ? 120, WRITE line 8, WRITE size 8, IN 0 0 3, WRITE ? 4
           getdelim: READ line 8, READ size 8, IN 0 3 2, WRITE ? 3, STATE 3 0""",
        stdin="ab\ncd",
        only=NATIVE,
    ),
    Case(
        "scanf",
        "int n; double d; char w[8]; PLACE(n); PLACE(d); PLACE(w);"
        '__whence_lib_scanf("%d %lf %7s", &n, &d, w);'
        '__whence_lib_scanf("%d", &n);',
        """scanf: READ ? 11, IN 0 0 10, WRITE n 4, WRITE d 8, WRITE w 4
           scanf: READ ? 3, IN 0 10 1{|, WRITE errno 4}""",
        stdin="12 3.5 abc x",
    ),
    Case(
        "sscanf_assigns_some",
        'char s[] = "7,xy", set[9]; int a, b, n; PLACE(s); PLACE(set); PLACE(a); PLACE(b); PLACE(n);'
        'if (__whence_lib_sscanf(s, "%*1[6-8],%[]xy]%n%d", set, &n, &b) != 1) return 1;'
        'if (__whence_lib_sscanf(s, "%d%hhd", &a, (char *)&b) != 1) return 1;',
        """sscanf: READ s 5, READ ? 20, WRITE set 3, WRITE n 4
           sscanf: READ s 5, READ ? 7, WRITE a 4{|, WRITE errno 4}""",
    ),
    Case(
        "files_have_state",
        'FILE *f = __whence_lib_fopen("made", "w+"); __whence_lib_fputs("ab", f); __whence_lib_rewind(f);'
        "__whence_lib_getc(f); __whence_lib_fclose(f);"
        'if (__whence_lib_fopen("none", "r")) return 1;',
        """fopen: READ ? 5, READ ? 3, STATE 1 262, STATE 3 file
           fputs: OUT 9 0 2, STATE 3 file, PIECE 0 0 2, READ ? 3
           rewind: STATE 3 file
           fgetc: IN 9 0 1, STATE 1 file
           fclose: STATE 3 file
           fclose:
           fopen: READ ? 5, READ ? 2, STATE 1 262, WRITE errno 4""",
    ),
    Case(
        "read",
        "char b[9]; PLACE(b); __whence_lib_read(0, b, 2); __whence_lib_read(0, b, 9);",
        "read: IN 0 0 2, WRITE b 2\nread: IN 0 2 1, WRITE b 1",
        stdin="abc",
    ),
    # numbers, order, state
    Case(
        "strtol",
        'char s[] = " 12x", *end; PLACE(s); PLACE(end); if (__whence_lib_strtol(s, &end, 10) != 12) return 1;'
        "__whence_lib_strtol(s, NULL, 10); __whence_lib_atoi(s + 3);",
        "strtol: READ s 4, WRITE end 8\nstrtol: READ s 4\natoi: READ s+3 1",
    ),
    Case(
        "strtod_overflow_sets_errno",
        'char s[] = "1e999"; PLACE(s); errno = 0; __whence_lib_strtod(s, NULL);if (errno != ERANGE) return 1;',
        "strtod: READ s 6, WRITE errno 4",
    ),
    Case(
        "qsort_before_and_after",
        "int a[] = {3, 1, 2}; PLACE(a); __whence_lib_qsort(a, 3, 4, by_value); if (a[0] != 1) return 1;",
        "qsort: READ a 12\nqsort: READ a 12, WRITE a 12",
    ),
    Case(
        "random_state",
        "__whence_lib_srand(1); __whence_lib_rand();",
        "srand: STATE 2 256\nrand: STATE 3 256",
    ),
    Case(
        "environment",
        'char n[] = "WHENCE_TEST", v[] = "x"; PLACE(n); PLACE(v); __whence_lib_setenv(n, v, 1);'
        'if (strcmp(__whence_lib_getenv(n), "x")) return 1;',
        "setenv: READ n 12, READ v 2, STATE 3 260, COPY ? v 2\ngetenv: READ n 12, STATE 1 260",
    ),
    Case(
        "getopt",
        'char *av[] = {"p", "-n", "5", "x", NULL}, l[] = "n:"; PLACE(av); PLACE(l);'
        "PLACE(optind); PLACE(optarg); PLACE(optopt); PLACE(opterr);"
        "if (__whence_lib_getopt(4, av, l) != 'n') return 1;",
        """getopt: STATE 3 258, READ optind 4, READ opterr 4, READ l 3, READ av 32, READ ? 3, READ ? 2,
           READ ? 2, WRITE optind 4, WRITE optarg 8, WRITE optopt 4""",
    ),
    Case(
        "time_and_its_parts",
        "time_t t; struct tm parts; PLACE(t); PLACE(parts); __whence_lib_time(&t); __whence_lib_time(NULL);"
        "__whence_lib_gmtime_r(&t, &parts);",
        "time: WRITE t 8\ntime:\ngmtime_r: READ t 8, WRITE parts 56",
    ),
    Case(
        "frexp",
        "int e; PLACE(e); if (__whence_lib_frexp(8.0, &e) != 0.5) return 1;",
        "frexp: WRITE e 4",
    ),
    Case(
        "regexec",
        'regex_t r; regmatch_t m[1]; char p[] = "b+", s[] = "abb"; PLACE(r); PLACE(m); PLACE(p); PLACE(s);'
        "__whence_lib_regcomp(&r, p, REG_EXTENDED); __whence_lib_regexec(&r, s, 1, m, 0);",
        "regcomp: READ p 3, WRITE r 64\nregexec: READ r 64, READ s 4, WRITE m {8|16}",
    ),
    Case(
        "nothing_when_not_recording",
        'recording = 0; char b[8]; __whence_lib_strcpy(b, "a"); __whence_lib_printf("%s", b);',
        "",
        output="a",
    ),
    Case(
        "errno_is_kept",
        'errno = 77; __whence_lib_printf("%d", 1); __whence_lib_getchar(); if (errno != 77) return 1;',
        "printf: READ ? 3, OUT 1 0 1, PIECE 1 0 1\ngetchar: IN 0 0 1",
        output="1",
        stdin="x",
    ),
    # sockets
    Case(
        "what_goes_through_a_socket",
        'int ends[2]; char to[8], *s = strdup("hello"); PLACE(ends); PLACE(to); TEXT(s);'
        "if (__whence_lib_socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;"
        "__whence_lib_send(ends[0], s, 5, 0); __whence_lib_recv(ends[1], to, 8, MSG_PEEK);"
        "if (__whence_lib_recv(ends[1], to, 3, 0) != 3) return 2;"
        "socklen_t size = sizeof(int); int kind; PLACE(size); PLACE(kind);"
        "__whence_lib_getsockopt(ends[0], SOL_SOCKET, SO_TYPE, &kind, &size);",
        """
        socketpair: WRITE ends 8
        send: OUT 9 0 5, STATE 3 file, PIECE 1 0 5, READ s 5
        recv: STATE 1 file, WRITE to 5
        recv: IN 9 0 3, STATE 1 file, WRITE to 3
        getsockopt: READ size 4, WRITE kind 4, WRITE size 4
        """,
    ),
    Case(
        "messages_in_parts",
        'int ends[2]; char a[2] = "a", b[4] = "bcd", to[2], more[4]; PLACE(a); PLACE(b); PLACE(to); PLACE(more);'
        "if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;"
        "struct iovec out[] = {{a, 1}, {b, 3}}, in[] = {{to, 2}, {more, 4}}; PLACE(out); PLACE(in);"
        "struct msghdr message = {.msg_iov = out, .msg_iovlen = 2}; PLACE(message);"
        "if (__whence_lib_sendmsg(ends[0], &message, 0) != 4) return 2;"
        'if (__whence_lib_readv(ends[1], in, 2) != 4 || memcmp(to, "ab", 2)) return 3;',
        """
        sendmsg: READ message 56, OUT 9 0 4, STATE 3 file, READ out 32, PIECE 1 0 1, READ a 1, PIECE 1 1 3, READ b 3
        readv: READ in 32, IN 9 0 4, STATE 1 file, WRITE to 2, WRITE more 2
        """,
    ),
    Case(
        "addresses_as_text",
        'char to[16], *s = strdup("10.0.0.7"); struct in_addr four; PLACE(to); PLACE(four); TEXT(s);'
        "if (__whence_lib_inet_pton(AF_INET, s, &four) != 1) return 1;"
        "__whence_lib_inet_ntop(AF_INET, &four, to, sizeof to); if (strcmp(to, s)) return 2;",
        """
        inet_pton: READ s 9, WRITE four 4
        inet_ntop: READ four 4, WRITE to 9
        """,
    ),
    # files by position, wide text, sets of signals, answers of the system
    Case(
        "pwrite_writes_at_a_place",
        'char *s = strdup("ab"); TEXT(s); int file = open("f", O_RDWR | O_CREAT, 0600);'
        "__whence_lib_pwrite(file, s, 2, 5); struct flock lock = {.l_type = F_WRLCK}; PLACE(lock);"
        "if (__whence_lib_fcntl(file, F_GETLK, &lock) || __whence_lib_fcntl(file, F_GETFL) < 0) return 1;",
        """
        pwrite: STATE 3 file, OUT 9 5 2, PIECE 1 0 2, READ s 2
        fcntl: READ lock 32, WRITE lock 32
        fcntl:
        """,
    ),
    Case(
        "wide_text",
        'wchar_t *s = wcsdup(L"12 x"), to[8] = L"a", *end, *next;'
        'place("s", s, 20); PLACE(to); PLACE(end); PLACE(next);'
        "if (__whence_lib_wcstol(s, &end, 10) != 12 || __whence_lib_wcsnlen(s, 3) != 3) return 1;"
        "__whence_lib_wcsncat(to, s, 1);"
        'if (wcscmp(__whence_lib_wcstok(s, L" ", &next), L"12")) return 2;',
        """
        wcstol: READ s 12, WRITE end 8
        wcsnlen: READ s 12
        wcsncat: READ to 8, COPY to+4 s 4, WRITE to+8 4
        wcstok: READ ? 8, READ s 12, WRITE s+8 4, WRITE next 8
        """,
    ),
    Case(
        "wide_formats",
        "wchar_t s[] = {L'a', L'b', L'c'}, to[8];"
        ' char t[] = "xy"; PLACE(s); PLACE(to); PLACE(t);'
        'if (__whence_lib_swprintf(to, 8, L"%.3ls%s", s, t) != 5) return 1;'
        'if (__whence_lib_swprintf(to, 2, L"%d", 123) >= 0) return 2;',
        """
        swprintf: READ ? 32, READ s 12, READ t 3, WRITE to 24
        swprintf: READ ? 12, WRITE to 8{, WRITE errno 4|}
        """,
    ),
    Case(
        "parts_at_a_place_of_the_file",
        'char a[2] = "a", b[4], c[] = "xyz"; struct iovec out[] = {{c, 3}}, in[] = {{a, 1}, {b, 9}};'
        "PLACE(a); PLACE(b); PLACE(c); PLACE(out); PLACE(in);"
        'int f = open("parts", O_RDWR | O_CREAT, 0600);'
        "if (__whence_lib_pwritev(f, out, 1, 2) != 3 || __whence_lib_preadv(f, in, 2, 2) != 3) return 1;",
        """
        pwritev: READ out 16, STATE 3 file, OUT 9 2 3, PIECE 1 0 3, READ c 3
        preadv: READ in 32, STATE 1 file, IN 9 2 3, WRITE a 1, WRITE b 2
        """,
    ),
    Case(
        "addresses_of_hosts",
        'struct addrinfo *all, hints = {0}; char h[] = "127.0.0.1", s[] = "80";'
        "PLACE(all); PLACE(hints); PLACE(h); PLACE(s);"
        "hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV; hints.ai_socktype = SOCK_STREAM;"
        "if (__whence_lib_getaddrinfo(h, s, &hints, &all)) return 1;"
        'place("entry", all, sizeof *all); place("address", all->ai_addr, all->ai_addrlen);'
        "__whence_lib_freeaddrinfo(all);",
        """
        getaddrinfo: READ h 10, READ s 3, READ hints 48, ALLOC ? 48, ALLOC ? 16, WRITE ? 48, WRITE ? 16,
            WRITE all 8{, WRITE errno 4|}
        freeaddrinfo: FREE address 16, FREE entry 48
        """,
        only=NATIVE,
    ),
    Case(
        "last_part_of_a_path",
        'char s[] = "a/b"; PLACE(s); if (__whence_lib_basename(s) != s + 2) return 1;',
        "basename: READ s 4",
    ),
    Case(
        "last_part_of_a_path_without_slashes",
        'char s[] = "a/b//"; PLACE(s); if (strcmp(__whence_lib___xpg_basename(s), "b")) return 1;',
        "__xpg_basename: READ s 6, WRITE s+3 1",
        only=NATIVE,
    ),
    Case(
        "mapped_memory_and_descriptors",
        "char *mapped = __whence_lib_mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); gid_t groups[99];"
        "PLACE(groups); if (mapped == MAP_FAILED || __whence_lib_getgroups(0, groups) < 0) return 1;",
        "mmap: WRITE ? 4096\ngetgroups:",
    ),
    Case(
        "wide_conversions_go_on_where_they_stopped",
        'const char *text = "abc"; wchar_t to[4]; mbstate_t shift = {0}; PLACE(to); PLACE(text); place("abc", text, 4);'
        "if (__whence_lib_mbsrtowcs(to, &text, 2, &shift) != 2) return 1;"
        "if (__whence_lib_mbsrtowcs(to, &text, 4, &shift) != 1 || text) return 2;",
        """
        mbsrtowcs: READ text 8, READ abc 2, WRITE to 8, WRITE text 8
        mbsrtowcs: READ text 8, READ abc+2 2, WRITE to 8, WRITE text 8
        """,
    ),
    Case(
        "sets_of_signals",
        "sigset_t set; PLACE(set); __whence_lib_sigfillset(&set); __whence_lib_sigdelset(&set, SIGINT);"
        "if (__whence_lib_sigismember(&set, SIGINT)) return 1;",
        """
        sigfillset: WRITE set 128
        sigdelset: READ set 128, WRITE set 128
        sigismember: READ set 128
        """,
    ),
    Case(
        "the_system_answers_in_a_structure",
        "struct utsname system; struct rlimit limit; PLACE(system); PLACE(limit); char text[64]; PLACE(text);"
        "__whence_lib_uname(&system); __whence_lib_getrlimit(RLIMIT_CORE, &limit);"
        '__whence_lib___xpg_strerror_r(0, text, sizeof text); if (__whence_lib_fnmatch("a*", "abc", 0)) return 1;',
        """
        uname: WRITE system 390
        getrlimit: WRITE limit 16
        __xpg_strerror_r: WRITE text {8|21}
        fnmatch: READ ? 3, READ ? 4
        """,
    ),
]

HELPERS = r"""
static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void pass_on(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    __whence_lib_vprintf(format, list);
    va_end(list);
}
"""


def zig(target: str, *arguments: str | Path) -> None:
    """Run the pinned compiler; fails the test with its messages."""
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-O2", "-fPIC", "-fno-sanitize=all"]
    command += [str(a) for a in arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def prototypes() -> str:
    """Declarations of the wrappers that the cases call: as the functions themselves are declared."""
    used = sorted(set(re.findall(r"__whence_lib_(\w+)", HELPERS + "".join(c.body for c in CASES))))
    return "".join(f"extern __typeof__({name}) __whence_lib_{name};\n" for name in used)


def function(case: Case) -> str:
    return f"static int run_{case.name}(void) {{ {case.body} return 0; }}\n"


BELOW = (RUNTIME / "suppress/guards.c", RUNTIME / "base/system_call.c")  # what the wrappers of memory stand on


def build(target: str, folder: Path) -> Path:
    """All wrappers and all cases in one program, which runs the case that its second argument names."""
    cases = [c for c in CASES if c.only in ("", target)]
    calls = "\n".join(f'if (!strcmp(arguments[2], "{c.name}")) return run_{c.name}();' for c in cases)
    text = STUB + prototypes() + HELPERS + "".join(map(function, cases)) + MAIN % calls
    (folder / "cases.c").write_text(text)
    schedule = [RUNTIME / f"record/{name}.c" for name in ("baton", "choices", "entry", "turns", "threads", "pauses")]
    sources = [folder / "cases.c", *schedule, *BELOW, *sorted(RUNTIME.glob("library/*.c"))]
    zig(target, "-w", f"-I{RUNTIME}", *sources, "-lm", "-Wl,--no-gc-sections", "-o", folder / "cases")
    return folder / "cases"


@pytest.fixture(scope="module", params=[NATIVE, MUSL])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The program of all cases, dynamically linked with glibc and statically with musl."""
    target: str = request.param
    return target, build(target, tmp_path_factory.mktemp("library"))


def recorded(text: str) -> list[str]:
    """One line a record: ``strcpy: COPY to s 3``."""
    by_number = names()
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("#"):
            lines.append(by_number[int(line[1:])] + ":")
        else:
            lines[-1] += (" " if lines[-1].endswith(":") else ", ") + line
    return lines


def expectation(case: Case) -> str:
    """A regular expression for the whole list; ``{8|16}`` allows alternatives, and 9 is any descriptor."""
    text = re.sub(r",\s+", ", ", "\n".join(case.operations))
    text = re.escape(text).replace(r"\{", "(").replace(r"\}", ")").replace(r"\|", "|")
    return re.sub(r"(OUT|IN)\\ 9", r"\1\\ \\d", text)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_records(case: Case, program: tuple[str, Path], tmp_path: Path) -> None:
    target, executable = program
    if case.only not in ("", target):
        pytest.skip(f"holds for {case.only} only")
    (tmp_path / "stdin").write_text(case.stdin)
    with (tmp_path / "stdin").open() as stdin, (tmp_path / "stdout").open("w") as stdout:
        command = [executable, tmp_path / "records", case.name]
        done = subprocess.run(command, stdin=stdin, stdout=stdout, cwd=tmp_path, timeout=10)
    assert done.returncode == 0
    assert (tmp_path / "stdout").read_text() == case.output
    actual = "\n".join(recorded((tmp_path / "records").read_text()))
    assert re.fullmatch(expectation(case), actual), actual


def test_every_wrapper_is_there(program: tuple[str, Path]) -> None:
    target, executable = program
    with executable.open("rb") as stream:
        symbols = ELFFile(stream).get_section_by_name(".symtab").iter_symbols()
        made = {s.name for s in symbols if s["st_info"]["type"] == "STT_FUNC"}
    wrappers = {name.removeprefix("__whence_lib_") for name in made if name.startswith("__whence_lib_")}
    assert wrappers == set(wrapped(musl=target == MUSL))


def test_pipe_is_counted_from_the_start(program: tuple[str, Path], tmp_path: Path) -> None:
    _, executable = program
    command = [executable, tmp_path / "records", "write_past_the_buffer"]
    done = subprocess.run(command, stdout=subprocess.PIPE, cwd=tmp_path, timeout=10)
    assert done.stdout == b"12a\n12b\n"
    offsets = [int(n) for n in re.findall(r"OUT 1 (\d+)", (tmp_path / "records").read_text())]
    assert offsets == [0, 2, 4, 6]


def test_table() -> None:
    assert len(wrapped()) > 250
    assert FUNCTIONS["strcpy"].returns == 0 and FUNCTIONS["strcpy"].wrapped and not FUNCTIONS["strcpy"].pure
    assert FUNCTIONS["fprintf"].format == 1 and FUNCTIONS["sscanf"].scan == 1
    assert FUNCTIONS["isalpha"].pure and not FUNCTIONS["isalpha"].wrapped
    assert FUNCTIONS["putc"].prints and not FUNCTIONS["sprintf"].prints
    assert FUNCTIONS["exit"].noreturn and FUNCTIONS["read"].may_block
    assert FUNCTIONS["getc"].number == FUNCTIONS["fgetc"].number
    assert "__xstat" in wrapped() and "__xstat" not in wrapped(musl=True)


def test_numbers_count_the_definitions() -> None:
    assert numbers()["strlen"] == 1
    assert sorted(names()) == list(range(1, len(names()) + 1))
    assert names()[numbers()["putc"]] == "fputc"
