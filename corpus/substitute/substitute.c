/* substitute - replace the text that matches a pattern, line by line.

   usage: substitute [options] PATTERN REPLACEMENT < input

     -g         replace every match of a line, not only the first
     -n N       replace only the Nth match of each line
     -m MAX     stop replacing after MAX replacements
     -i         ignore case
     -w         match whole words only
     -q         print changed lines only
     -c         print the number of replacements instead of the text

   Patterns:   .  any character            {a-z_}  one of a set      {!0-9}  none of a set
               \d \w \s  digit, word, space (\D \W \S the opposite)  \t  tab
               ^ $  line start and end     \b  word edge             \X  X itself
               x* x+ x?  repetition        (x)  group            x|y  alternatives
   Replacements:  @0 the match  @1 to @9 a group  @u1 @l1  upper, lower case
                  @n number of the replacement  @@ an at sign  \t \n \\

   Exit status: 0 something was replaced, 1 nothing was, 2 wrong use. */

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CODE = 400, MAX_SETS = 24, MAX_GROUPS = 10, MAX_LOOPS = 12, SLOTS = 2 * MAX_GROUPS + MAX_LOOPS };
enum { STEP_LIMIT = 20000 };

/* ---- what a pattern is compiled to ---- */

enum opcode {
    OP_CHAR,       /* arg: the character */
    OP_ANY,
    OP_SET,        /* arg: index into the pattern's sets */
    OP_SPLIT,      /* arg, other: distances, the preferred one first */
    OP_JUMP,       /* arg: distance */
    OP_SAVE,       /* arg: slot that receives the position */
    OP_PROGRESS,   /* arg: slot; fails when nothing was matched since it was saved */
    OP_LINE_START, OP_LINE_END, OP_WORD_EDGE,
    OP_MATCH
};

struct charset { unsigned char bits[UCHAR_MAX / 8 + 1]; };

struct instruction {
    enum opcode op;
    int arg;
    int other;
};

struct pattern {
    struct instruction code[MAX_CODE];
    int length;
    struct charset sets[MAX_SETS];
    int set_count, group_count, loop_count;
    bool ignore_case;
};

struct options {
    bool all, ignore_case, words, quiet, count_only;
    int nth;          /* 0: not asked for */
    int limit;
};

static _Noreturn void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("substitute: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

/* Text that grows. */
struct text {
    char *data;
    size_t length;
    size_t capacity;
};

static void text_put(struct text *text, char c)
{
    if (text->length + 1 >= text->capacity) {
        text->capacity = text->capacity ? text->capacity * 2 : 32;
        text->data = realloc(text->data, text->capacity);
        if (!text->data)
            fail("out of memory");
    }
    text->data[text->length++] = c;
    text->data[text->length] = '\0';
}

static void text_append(struct text *text, const char *data, int length)
{
    for (int i = 0; i < length; i++)
        text_put(text, data[i]);
}

static void text_clear(struct text *text)
{
    text->length = 0;
    if (text->data)
        text->data[0] = '\0';
}

/* Reads a line without its end; returns false at the end of the input. */
static bool read_line(FILE *stream, struct text *line)
{
    int c;
    text_clear(line);
    while ((c = getc(stream)) != EOF && c != '\n')
        text_put(line, (char)c);
    return c == '\n' || line->length > 0;
}

/* ---- the pattern compiler: recursive descent, code with relative distances ---- */

struct compiler {
    const char *source;
    const char *at;
    struct pattern *pattern;
};

static void pattern_error(const struct compiler *compiler, const char *message)
{
    fail("bad pattern at column %d: %s", (int)(compiler->at - compiler->source) + 1, message);
}

static int emit(struct compiler *compiler, enum opcode op, int arg, int other)
{
    struct pattern *pattern = compiler->pattern;
    if (pattern->length == MAX_CODE)
        pattern_error(compiler, "pattern too large");
    pattern->code[pattern->length] = (struct instruction){op, arg, other};
    return pattern->length++;
}

static void set_add(struct charset *set, int c)
{
    set->bits[c / 8] |= (unsigned char)(1u << (c % 8));
}

static bool set_has(const struct charset *set, int c)
{
    return (set->bits[c / 8] >> (c % 8)) & 1;
}

static void set_invert(struct charset *set)
{
    for (size_t i = 0; i < sizeof set->bits; i++)
        set->bits[i] = (unsigned char)~set->bits[i];
}

static bool is_word(int c)
{
    return isalnum(c) || c == '_';
}

/* Adds the members of \d, \w or \s. */
static void set_add_class(struct charset *set, char letter)
{
    for (int c = 0; c <= UCHAR_MAX; c++)
        if (letter == 'd' ? isdigit(c) : letter == 'w' ? is_word(c) : isspace(c))
            set_add(set, c);
}

static struct charset *new_set(struct compiler *compiler)
{
    if (compiler->pattern->set_count == MAX_SETS)
        pattern_error(compiler, "too many sets");
    return &compiler->pattern->sets[compiler->pattern->set_count++];
}

static char unescape(char letter)
{
    return letter == 't' ? '\t' : letter == 'n' ? '\n' : letter;
}

/* One character of a set, escapes resolved. */
static int set_character(struct compiler *compiler)
{
    char c = *compiler->at++;
    if (c == '\\' && *compiler->at)
        c = unescape(*compiler->at++);
    return (unsigned char)c;
}

static void parse_set(struct compiler *compiler)
{
    struct charset *set = new_set(compiler);
    bool inverted = *++compiler->at == '!';
    if (inverted)
        compiler->at++;
    while (*compiler->at && *compiler->at != '}') {
        if (*compiler->at == '\\' && compiler->at[1] && strchr("dws", compiler->at[1])) {
            set_add_class(set, compiler->at[1]);
            compiler->at += 2;
            continue;
        }
        int low = set_character(compiler);
        int high = low;
        if (*compiler->at == '-' && compiler->at[1] && compiler->at[1] != '}') {
            compiler->at++;
            high = set_character(compiler);
        }
        if (low > high)
            pattern_error(compiler, "range out of order");
        for (int c = low; c <= high; c++) {
            set_add(set, c);
            if (compiler->pattern->ignore_case) {
                set_add(set, tolower(c));
                set_add(set, toupper(c));
            }
        }
    }
    if (!*compiler->at)
        pattern_error(compiler, "set is not closed");
    compiler->at++;
    if (inverted)
        set_invert(set);
    emit(compiler, OP_SET, compiler->pattern->set_count - 1, 0);
}

static void parse_escape(struct compiler *compiler)
{
    char letter = *++compiler->at;
    if (!letter)
        pattern_error(compiler, "nothing follows the backslash");
    compiler->at++;
    if (letter == 'b') {
        emit(compiler, OP_WORD_EDGE, 0, 0);
    } else if (strchr("dwsDWS", letter)) {
        struct charset *set = new_set(compiler);
        set_add_class(set, (char)tolower(letter));
        if (isupper((unsigned char)letter))
            set_invert(set);
        emit(compiler, OP_SET, compiler->pattern->set_count - 1, 0);
    } else {
        emit(compiler, OP_CHAR, unescape(letter), 0);
    }
}

static void parse_alternatives(struct compiler *compiler);

static void parse_group(struct compiler *compiler)
{
    compiler->at++;
    int group = ++compiler->pattern->group_count;
    if (group >= MAX_GROUPS)
        pattern_error(compiler, "too many groups");
    emit(compiler, OP_SAVE, 2 * group, 0);
    parse_alternatives(compiler);
    if (*compiler->at != ')')
        pattern_error(compiler, "group is not closed");
    compiler->at++;
    emit(compiler, OP_SAVE, 2 * group + 1, 0);
}

static void parse_atom(struct compiler *compiler)
{
    char c = *compiler->at;
    switch (c) {
    case '(': parse_group(compiler); return;
    case '{': parse_set(compiler); return;
    case '\\': parse_escape(compiler); return;
    case '*': case '+': case '?':
        pattern_error(compiler, "nothing to repeat");
        return;
    case '.': emit(compiler, OP_ANY, 0, 0); break;
    case '^': emit(compiler, OP_LINE_START, 0, 0); break;
    case '$': emit(compiler, OP_LINE_END, 0, 0); break;
    default: emit(compiler, OP_CHAR, (unsigned char)c, 0); break;
    }
    compiler->at++;
}

static void emit_copy(struct compiler *compiler, const struct instruction *body, int length)
{
    for (int i = 0; i < length; i++)
        emit(compiler, body[i].op, body[i].arg, body[i].other);
}

/* Repeats the fragment that starts at `start`: x? skips a copy, x* loops over it, x+ is xx*. */
static void repeat(struct compiler *compiler, int start, char operator)
{
    struct pattern *pattern = compiler->pattern;
    struct instruction body[MAX_CODE];
    int length = pattern->length - start;

    memcpy(body, &pattern->code[start], (size_t)length * sizeof *body);
    if (operator != '+')
        pattern->length = start;
    if (operator == '?') {
        emit(compiler, OP_SPLIT, 1, length + 1);
        emit_copy(compiler, body, length);
        return;
    }
    int slot = 2 * MAX_GROUPS + pattern->loop_count++;
    if (slot >= SLOTS)
        pattern_error(compiler, "too many loops");
    emit(compiler, OP_SPLIT, 1, length + 4);
    emit(compiler, OP_SAVE, slot, 0);
    emit_copy(compiler, body, length);
    emit(compiler, OP_PROGRESS, slot, 0);
    emit(compiler, OP_JUMP, -(length + 3), 0);
}

static void parse_sequence(struct compiler *compiler)
{
    while (*compiler->at && *compiler->at != '|' && *compiler->at != ')') {
        int start = compiler->pattern->length;
        parse_atom(compiler);
        while (*compiler->at && strchr("*+?", *compiler->at))
            repeat(compiler, start, *compiler->at++);
    }
}

static void parse_alternatives(struct compiler *compiler)
{
    struct instruction *code = compiler->pattern->code;
    int start = emit(compiler, OP_JUMP, 1, 0);   /* becomes a split where an alternative follows */
    parse_sequence(compiler);
    if (*compiler->at == '|') {
        int jump = emit(compiler, OP_JUMP, 0, 0);
        code[start] = (struct instruction){OP_SPLIT, 1, jump + 1 - start};
        compiler->at++;
        parse_alternatives(compiler);
        code[jump].arg = compiler->pattern->length - jump;
    }
}

static void compile(struct pattern *pattern, const char *source)
{
    struct compiler compiler = {source, source, pattern};
    if (!*source)
        pattern_error(&compiler, "empty pattern");
    emit(&compiler, OP_SAVE, 0, 0);
    parse_alternatives(&compiler);
    if (*compiler.at)
        pattern_error(&compiler, "unexpected )");
    emit(&compiler, OP_SAVE, 1, 0);
    emit(&compiler, OP_MATCH, 0, 0);
}

/* ---- the matcher: backtracks over the compiled code ---- */

struct matcher {
    const struct pattern *pattern;
    const char *line;
    int length;
    int slots[SLOTS];   /* start and end of the groups, then the loops' positions; -1 is unset */
    long steps;
};

static bool word_edge(const struct matcher *matcher, int at)
{
    bool before = at > 0 && is_word((unsigned char)matcher->line[at - 1]);
    bool after = at < matcher->length && is_word((unsigned char)matcher->line[at]);
    return before != after;
}

/* Whether an instruction that consumes a character accepts `c`. */
static bool accepts(const struct pattern *pattern, const struct instruction *in, int c)
{
    if (in->op == OP_ANY)
        return true;
    if (in->op == OP_SET)
        return set_has(&pattern->sets[in->arg], c);
    if (pattern->ignore_case)
        return tolower(in->arg) == tolower(c);
    return in->arg == c;
}

/* Runs the code from `pc` at position `at`; a failing branch leaves the slots as they were. */
static bool run(struct matcher *matcher, int pc, int at)
{
    const struct pattern *pattern = matcher->pattern;
    for (;;) {
        const struct instruction *in = &pattern->code[pc];
        int c = at < matcher->length ? (unsigned char)matcher->line[at] : -1;
        if (++matcher->steps > STEP_LIMIT)
            fail("pattern takes too long on this line");
        switch (in->op) {
        case OP_CHAR:
        case OP_ANY:
        case OP_SET:
            if (c < 0 || !accepts(pattern, in, c))
                return false;
            at++;
            break;
        case OP_SPLIT:
            if (run(matcher, pc + in->arg, at))
                return true;
            pc += in->other;
            continue;
        case OP_JUMP:
            pc += in->arg;
            continue;
        case OP_SAVE: {
            int saved = matcher->slots[in->arg];
            matcher->slots[in->arg] = at;
            if (run(matcher, pc + 1, at))
                return true;
            matcher->slots[in->arg] = saved;
            return false;
        }
        case OP_PROGRESS:
            if (matcher->slots[in->arg] == at)
                return false;
            break;
        case OP_LINE_START:
            if (at != 0)
                return false;
            break;
        case OP_LINE_END:
            if (at != matcher->length)
                return false;
            break;
        case OP_WORD_EDGE:
            if (!word_edge(matcher, at))
                return false;
            break;
        case OP_MATCH:
            return true;
        }
        pc++;
    }
}

/* Finds the first match at or behind `from`. */
static bool find(struct matcher *matcher, int from, bool words)
{
    for (int start = from; start <= matcher->length; start++) {
        for (int i = 0; i < SLOTS; i++)
            matcher->slots[i] = -1;
        matcher->steps = 0;
        if (run(matcher, 0, start) &&
            (!words || (word_edge(matcher, start) && word_edge(matcher, matcher->slots[1]))))
            return true;
    }
    return false;
}

/* ---- the replacement ---- */

/* Appends a group; `change` is u for upper case, l for lower case, 0 for neither. */
static void put_group(struct text *out, const struct matcher *matcher, int group, char change)
{
    int start = matcher->slots[2 * group];
    int end = matcher->slots[2 * group + 1];
    for (int i = start; i < end; i++) {
        int c = (unsigned char)matcher->line[i];
        if (change == 'u')
            c = toupper(c);
        else if (change == 'l')
            c = tolower(c);
        text_put(out, (char)c);
    }
}

/* Appends what the reference behind an @ stands for; returns what follows it. */
static const char *put_reference(struct text *out, const char *at, const struct matcher *matcher, int counter)
{
    char change = 0;
    if (*at == '@') {
        text_put(out, '@');
        return at + 1;
    }
    if (*at == 'n') {
        char digits[16];
        text_append(out, digits, snprintf(digits, sizeof digits, "%d", counter));
        return at + 1;
    }
    if (*at == 'u' || *at == 'l')
        change = *at++;
    if (!isdigit((unsigned char)*at))
        fail("bad replacement: group number expected behind @");
    int group = *at - '0';
    if (group > matcher->pattern->group_count)
        fail("bad replacement: there is no group %d", group);
    put_group(out, matcher, group, change);
    return at + 1;
}

static void put_replacement(struct text *out, const char *at, const struct matcher *matcher, int counter)
{
    while (*at) {
        char c = *at++;
        if (c == '\\' && *at)
            text_put(out, unescape(*at++));
        else if (c == '@')
            at = put_reference(out, at, matcher, counter);
        else
            text_put(out, c);
    }
}

/* ---- lines ---- */

/* Writes the edited line to `out`; returns the number of replacements, `done` were made on earlier lines. */
static int edit_line(const struct pattern *pattern, const char *replacement, const struct options *options,
                     const struct text *line, struct text *out, int done)
{
    struct matcher matcher = {.pattern = pattern, .line = line->data ? line->data : "",
                              .length = (int)line->length};
    int copied = 0, from = 0, seen = 0, made = 0;

    while (done + made < options->limit && find(&matcher, from, options->words)) {
        int start = matcher.slots[0];
        int end = matcher.slots[1];
        seen++;
        if (options->nth == 0 || seen == options->nth) {
            made++;
            text_append(out, matcher.line + copied, start - copied);
            put_replacement(out, replacement, &matcher, done + made);
            copied = end;
        }
        if (!options->all && seen >= options->nth)
            break;
        from = end > start ? end : end + 1;   /* an empty match must not be found again */
    }
    text_append(out, matcher.line + copied, matcher.length - copied);
    return made;
}

static int edit_input(const struct pattern *pattern, const char *replacement, const struct options *options)
{
    struct text line = {0}, out = {0};
    int number = 0, total = 0, changed_lines = 0;

    while (read_line(stdin, &line)) {
        number++;
        text_clear(&out);
        int made = edit_line(pattern, replacement, options, &line, &out, total);
        total += made;
        if (made > 0)
            changed_lines++;
        if (!options->count_only && (!options->quiet || made > 0))
            printf("%s\n", out.data ? out.data : "");
    }
    if (options->count_only)
        printf("%d replacement%s in %d of %d lines\n", total, total == 1 ? "" : "s", changed_lines, number);
    free(line.data);
    free(out.data);
    return total;
}

/* ---- the command line ---- */

static int number_option(const char *text, char option)
{
    char *end;
    long number = text ? strtol(text, &end, 10) : 0;
    if (number <= 0 || number > INT_MAX || *end)
        fail("option -%c needs a positive number", option);
    return (int)number;
}

static int parse_options(int argc, char **argv, struct options *options)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1;
        for (const char *flag = argv[i] + 1; *flag; flag++) {
            switch (*flag) {
            case 'g': options->all = true; break;
            case 'i': options->ignore_case = true; break;
            case 'w': options->words = true; break;
            case 'q': options->quiet = true; break;
            case 'c': options->count_only = true; break;
            case 'n': options->nth = number_option(argv[++i], 'n'); break;
            case 'm': options->limit = number_option(argv[++i], 'm'); break;
            default: fail("unknown option -%c", *flag);
            }
            if (strchr("nm", *flag))
                break;
        }
    }
    return i;
}

int main(int argc, char **argv)
{
    static struct pattern pattern;
    struct options options = {.limit = INT_MAX};
    int first = parse_options(argc, argv, &options);

    if (argc - first != 2)
        fail("usage: substitute [-giwqc] [-n N] [-m MAX] PATTERN REPLACEMENT");
    pattern.ignore_case = options.ignore_case;
    compile(&pattern, argv[first]);
    return edit_input(&pattern, argv[first + 1], &options) > 0 ? 0 : 1;
}
