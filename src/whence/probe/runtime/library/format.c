/* Formats of the printf and scanf families: which argument made which bytes.

   A printf format is parsed into conversions, the arguments are fetched once in the order of their numbers, and each
   conversion's length is found by formatting it alone; plain strings and characters need no formatting. */
#include "library/library.h"

#include <inttypes.h>
#include <stdlib.h>
#include <wchar.h>

enum { MOST_CONVERSIONS = 32, MOST_ARGUMENTS = 3 * MOST_CONVERSIONS, NO_ARGUMENT = -1, LONGEST_SCAN = 512 };

enum kind { NO_VALUE, INT, LONG, LONG_LONG, DOUBLE, LONG_DOUBLE, POINTER };

union value {
    int i;
    long l;
    long long ll;
    double d;
    long double ld;
    void *p;
};

/* One conversion of a printf format. Arguments are counted from 0, NO_ARGUMENT where there is none. */
struct conversion {
    const char *start, *end; /* from the "%" to behind the letter */
    char flags[8];
    int width, precision; /* -1 where not given, or given by an argument */
    int argument, width_argument, precision_argument;
    char modifier[3];
    char letter;
    enum kind kind;
};

static const char *number(const char *p, int *value)
{
    *value = 0;
    while (*p >= '0' && *p <= '9')
        *value = *value * 10 + (*p++ - '0');
    return p;
}

/* "3$" gives argument 2; otherwise nothing is taken. */
static const char *position(const char *p, int *argument)
{
    int value;
    const char *end = number(p, &value);
    if (end == p || *end != '$')
        return p;
    *argument = value - 1;
    return end + 1;
}

/* A width or precision: digits, "*" or "*2$". `next` counts the arguments taken in order. */
static const char *size_field(const char *p, int *value, int *argument, int *next)
{
    if (*p != '*')
        return number(p, value);
    p = position(p + 1, argument);
    if (*argument == NO_ARGUMENT)
        *argument = (*next)++;
    return p;
}

static enum kind kind_of(const char *modifier, char letter)
{
    if (strchr("aAeEfFgG", letter))
        return *modifier == 'L' || *modifier == 'q' ? LONG_DOUBLE : DOUBLE;
    if (strchr("spnS", letter))
        return POINTER;
    if (!strchr("diouxXcCbB", letter))
        return NO_VALUE;
    if (!strcmp(modifier, "ll") || strchr("jqL", *modifier ? *modifier : '-'))
        return LONG_LONG;
    return *modifier && strchr("lztZ", *modifier) && letter != 'c' ? LONG : INT;
}

/* Parses the conversion at `p`, which points to a "%". */
static void parse(const char *p, struct conversion *made, int *next)
{
    *made = (struct conversion){.start = p, .width = -1, .precision = -1, .argument = NO_ARGUMENT,
                                .width_argument = NO_ARGUMENT, .precision_argument = NO_ARGUMENT};
    p = position(p + 1, &made->argument);
    for (size_t i = 0; *p && strchr("-+ #0'I", *p); p++)
        if (i < sizeof made->flags - 1)
            made->flags[i++] = *p;
    if (*p == '*' || (*p >= '1' && *p <= '9'))
        p = size_field(p, &made->width, &made->width_argument, next);
    if (*p == '.')
        p = size_field(p + 1, &made->precision, &made->precision_argument, next);
    for (size_t i = 0; *p && strchr("hlLqjztZ", *p); p++)
        if (i < sizeof made->modifier - 1)
            made->modifier[i++] = *p;
    made->letter = *p;
    made->end = *p ? p + 1 : p;
    made->kind = *p ? kind_of(made->modifier, *p) : NO_VALUE;
    if (made->kind != NO_VALUE && made->argument == NO_ARGUMENT)
        made->argument = (*next)++;
}

static int in_range(const struct conversion *one)
{
    return one->argument < MOST_ARGUMENTS && one->width_argument < MOST_ARGUMENTS &&
           one->precision_argument < MOST_ARGUMENTS;
}

/* Parses the conversions up to the first that is too many; what follows counts as literal text. */
static int parse_all(const char *format, struct conversion *all)
{
    int count = 0, next = 0;
    for (const char *p = format; count < MOST_CONVERSIONS && (p = strchr(p, '%')); p = all[count++].end) {
        parse(p, &all[count], &next);
        if (!in_range(&all[count]))
            break;
    }
    return count;
}

static void note_kind(enum kind *kinds, int argument, enum kind kind)
{
    if (argument >= 0)
        kinds[argument] = kind;
}

static void fetch(enum kind kind, union value *value, va_list *arguments)
{
    switch (kind) {
    case NO_VALUE: break;
    case INT: value->i = va_arg(*arguments, int); break;
    case LONG: value->l = va_arg(*arguments, long); break;
    case LONG_LONG: value->ll = va_arg(*arguments, long long); break;
    case DOUBLE: value->d = va_arg(*arguments, double); break;
    case LONG_DOUBLE: value->ld = va_arg(*arguments, long double); break;
    case POINTER: value->p = va_arg(*arguments, void *); break;
    }
}

/* Where the next argument of a kind lies that a list holds (System V ABI for x86-64, section 3.5.7); NULL: not known. */
static const void *next_place(enum kind kind, const void *list)
{
#ifdef __x86_64__
    const struct {
        unsigned general, vector;
        const char *stacked, *saved;
    } *at = list;
    if (kind == DOUBLE && at->vector < 176)
        return at->saved + at->vector;
    if (kind != DOUBLE && kind != LONG_DOUBLE && at->general < 48)
        return at->saved + at->general;
    return at->stacked + (kind == LONG_DOUBLE ? -(uintptr_t)at->stacked & 15 : 0);
#else
    (void)kind, (void)list;
    return NULL;
#endif
}

static size_t size_of(enum kind kind)
{
    switch (kind) {
    case NO_VALUE: return 0;
    case INT: return sizeof(int);
    case LONG_DOUBLE: return sizeof(long double);
    default: return 8;
    }
}

/* Fetches the values of all arguments that the conversions use, and where they lie; stops at a gap, whose type nobody
   knows. */
static void fetch_all(const struct conversion *all, int count, va_list arguments, union value *values,
                      const void **places)
{
    enum kind kinds[MOST_ARGUMENTS] = {NO_VALUE};
    for (int i = 0; i < count; i++) {
        note_kind(kinds, all[i].width_argument, INT);
        note_kind(kinds, all[i].precision_argument, INT);
        note_kind(kinds, all[i].argument, all[i].kind);
    }
    va_list rest;
    va_copy(rest, arguments);
    for (int i = 0; i < MOST_ARGUMENTS && kinds[i] != NO_VALUE; i++) {
        places[i] = next_place(kinds[i], rest);
        fetch(kinds[i], &values[i], &rest);
    }
    va_end(rest);
}

/* Puts values that come from arguments into the conversion; a negative width is a flag and a width to snprintf too. */
static void resolve(struct conversion *one, const union value *values)
{
    if (one->width_argument >= 0) {
        one->width = values[one->width_argument].i;
        if (one->width < 0) {
            strcat(one->flags, strlen(one->flags) < sizeof one->flags - 1 ? "-" : "");
            one->width = -one->width;
        }
    }
    if (one->precision_argument >= 0)
        one->precision = values[one->precision_argument].i;
}

/* Length of the conversion's text, by formatting it alone. */
static int formatted_length(const struct conversion *one, const union value *value)
{
    char format[64], width[16] = "", precision[16] = "";
    if (one->width >= 0)
        snprintf(width, sizeof width, "%d", one->width);
    if (one->precision >= 0)
        snprintf(precision, sizeof precision, ".%d", one->precision);
    snprintf(format, sizeof format, "%%%s%s%s%s%c", one->flags, width, precision, one->modifier, one->letter);
    switch (one->kind) {
    case NO_VALUE: return snprintf(NULL, 0, format, 0);
    case INT: return snprintf(NULL, 0, format, value->i);
    case LONG: return snprintf(NULL, 0, format, value->l);
    case LONG_LONG: return snprintf(NULL, 0, format, value->ll);
    case DOUBLE: return snprintf(NULL, 0, format, value->d);
    case LONG_DOUBLE: return snprintf(NULL, 0, format, value->ld);
    case POINTER: return snprintf(NULL, 0, format, value->p);
    }
    return 0;
}

static int is_plain_string(const struct conversion *one, const union value *value)
{
    return one->letter == 's' && !*one->modifier && value->p;
}

/* Number of the string's bytes that the conversion prints. */
static size_t string_length(const struct conversion *one, const char *text)
{
    return one->precision >= 0 ? strnlen(text, (size_t)one->precision) : strlen(text);
}

static size_t length_of(const struct conversion *one, const union value *value)
{
    if (one->letter == '%' || one->letter == 'n')
        return one->letter == '%';
    size_t width = one->width > 0 ? (size_t)one->width : 0;
    size_t length;
    if (is_plain_string(one, value))
        length = string_length(one, value->p);
    else if (one->letter == 'c' && !*one->modifier)
        length = 1;
    else
        return (size_t)abs(formatted_length(one, value));
    return length > width ? length : width;
}

/* What a string conversion read. In a buffer, bytes that were taken over unchanged are copies. */
static void string_read(const struct conversion *one, const char *text, size_t offset, size_t length,
                        struct formatted to)
{
    size_t read = string_length(one, text);
    int stopped = one->precision >= 0 && read == (size_t)one->precision;
    if (to.buffer && read == length)
        copy_bytes(to.buffer + offset, text, length);
    else
        read_bytes(text, stopped ? read : read + 1);
}

/* At most as many characters as the precision has bytes, each of which takes one or more. */
static void wide_string_read(const wchar_t *text, int precision)
{
    size_t limit = precision >= 0 ? (size_t)precision : SIZE_MAX / sizeof *text, length = text ? wcsnlen(text, limit) : 0;
    if (text)
        read_bytes(text, (length + (length < limit)) * sizeof *text);
}

static size_t stored_size(const char *modifier)
{
    if (!strcmp(modifier, "hh"))
        return 1;
    return *modifier == 'h' ? 2 : *modifier ? sizeof(long) : sizeof(int);
}

/* Records one conversion, whose text stands at `offset`; returns its length. What it fetched from a list lies at `place`
   (NULL: not known, or no list): that is read right before its piece, and not where it has none beside others. */
static size_t convert(const struct conversion *one, const union value *value, const void *place, unsigned argument,
                      size_t offset, struct formatted to)
{
    size_t length = length_of(one, value);
    size_t visible = offset >= to.length ? 0 : length < to.length - offset ? length : to.length - offset;
    if (place && (to.buffer || !to.length || visible))
        read_bytes(place, size_of(one->kind));
    if (one->kind != NO_VALUE && !to.buffer)
        piece(argument, offset, visible);
    if (is_plain_string(one, value))
        string_read(one, value->p, offset, visible, to);
    else if (one->letter == 'S' || (one->letter == 's' && *one->modifier))
        wide_string_read(value->p, one->precision);
    else if (one->letter == 'n')
        write_bytes(value->p, stored_size(one->modifier));
    return length;
}

void whence_format_pieces(const char *format, va_list arguments, unsigned first, int listed, struct formatted text)
{
    struct conversion all[MOST_CONVERSIONS];
    union value values[MOST_ARGUMENTS];
    const void *places[MOST_ARGUMENTS] = {NULL};
    memset(values, 0, sizeof values);
    int count = parse_all(format, all);
    fetch_all(all, count, arguments, values, places);
    size_t offset = 0;
    const char *literal = format;
    for (int i = 0; i < count; i++) {
        int argument = all[i].argument;
        offset += (size_t)(all[i].start - literal);
        literal = all[i].end;
        resolve(&all[i], values);
        unsigned shown = listed || argument < 0 ? first : first + (unsigned)argument;
        const void *place = listed && argument >= 0 ? places[argument] : NULL;
        offset += convert(&all[i], &values[argument < 0 ? 0 : argument], place, shown, offset, text);
    }
}

/* One conversion of a scanf format. */
struct scanned {
    const char *start, *end;
    int suppressed, allocated, width, argument;
    char modifier[3];
    char letter;
};

/* End of a set "[^]a-z]": a "]" that comes first belongs to it. */
static const char *set_end(const char *p)
{
    p += *p == '^';
    p += *p == ']';
    const char *end = strchr(p, ']');
    return end ? end + 1 : p + strlen(p);
}

static void parse_scanned(const char *p, struct scanned *made, int *next)
{
    *made = (struct scanned){.start = p, .width = 1, .argument = NO_ARGUMENT};
    p = position(p + 1, &made->argument);
    for (; *p && strchr("*'mI", *p); p++) {
        made->suppressed |= *p == '*';
        made->allocated |= *p == 'm';
    }
    if (*p >= '0' && *p <= '9')
        p = number(p, &made->width);
    for (size_t i = 0; *p && strchr("hlLqjztZm", *p); p++) {
        made->allocated |= *p == 'm';
        if (*p != 'm' && i < sizeof made->modifier - 1)
            made->modifier[i++] = *p;
    }
    made->letter = *p;
    made->end = !*p ? p : *p == '[' ? set_end(p + 1) : p + 1;
    made->suppressed |= !*p || *p == '%';
    if (!made->suppressed && made->argument == NO_ARGUMENT)
        made->argument = (*next)++;
}

/* Bytes that a conversion stored at `target`. */
static size_t scanned_size(const struct scanned *one, const void *target)
{
    size_t character = one->letter == 'C' || one->letter == 'S' || *one->modifier == 'l' ? sizeof(wchar_t) : 1;
    if (strchr("sS[", one->letter))
        return character == 1 ? strlen(target) + 1 : (wcslen(target) + 1) * character;
    if (strchr("cC", one->letter))
        return (size_t)one->width * character;
    if (strchr("aAeEfFgG", one->letter))
        return *one->modifier == 'L' ? sizeof(long double) : *one->modifier ? sizeof(double) : sizeof(float);
    return one->letter == 'p' ? sizeof(void *) : stored_size(one->modifier);
}

/* Adds to a format the text from `from` on up to a conversion, and the conversion as one that stores nothing; 0: there is
   no room. */
static int add_suppressed(char *made, const char *from, const struct scanned *one)
{
    size_t literal = (size_t)(one->start - from);
    const char *letter = one->letter == '[' ? strchr(one->start, '[') : one->end - 1;
    char *to = made + strlen(made);
    if (to - made + one->end - from + 8 > LONGEST_SCAN)
        return 0;
    memcpy(to, from, literal);
    to += literal;
    if (one->letter != 'n') {
        *to++ = '%';
        if (one->letter != '%')
            *to++ = '*';
        for (const char *p = one->start + 1; p < one->end; p++)
            if (p >= letter || !strchr("*m", *p))
                *to++ = *p;
    }
    *to = 0;
    return 1;
}

/* How many characters of `text` the last of some conversions took, a string: what it stored may have been written over by
   one behind it. The same is scanned once more, without storing anything; -1: that does not tell. */
static int taken(const char *format, const struct scanned *all, int count, const char *text)
{
    char made[LONGEST_SCAN] = "";
    int first = -1, last = -1;
    const char *from = format;
    for (int i = 0; i < count; from = all[i++].end)
        if (!add_suppressed(made, from, &all[i]))
            return -1;
    const struct scanned *one = &all[count];
    struct scanned before = {.start = one->start, .end = one->start, .letter = 'n'};
    if (!add_suppressed(made, from, &before))
        return -1;
    strcat(made, one->letter == '[' ? "%n" : " %n");
    if (!add_suppressed(made, one->start, one))
        return -1;
    strcat(made, "%n");
    sscanf(text, made, &first, &last);
    return last < 0 ? -1 : last - first;
}

static void scan_write(const struct scanned *one, void *target)
{
    if (one->allocated) {
        write_bytes(target, sizeof(void *));
        target = *(void **)target;
        whence_block_allocated(target, scanned_size(one, target));
    }
    write_bytes(target, scanned_size(one, target));
}

/* `text` is what was scanned, NULL where it came from a stream. */
void whence_scan_writes(const char *format, va_list arguments, int assigned, const char *text)
{
    struct scanned all[MOST_CONVERSIONS];
    void *targets[MOST_ARGUMENTS];
    int count = 0, next = 0;
    for (const char *p = format; count < MOST_CONVERSIONS && (p = strchr(p, '%')); p = all[count++].end)
        parse_scanned(p, &all[count], &next);
    int most = next;
    for (int i = 0; i < count; i++)
        if (all[i].argument >= most && all[i].argument < MOST_ARGUMENTS)
            most = all[i].argument + 1;
    va_list rest;
    va_copy(rest, arguments);
    for (int i = 0; i < most; i++)
        targets[i] = va_arg(rest, void *);
    va_end(rest);
    for (int i = 0; i < count && (assigned > 0 || all[i].letter == 'n'); i++) {
        if (all[i].suppressed)
            continue;
        if (all[i].argument >= 0 && all[i].argument < most) {
            void *target = targets[all[i].argument];
            int is_text = text && !all[i].allocated && !*all[i].modifier && strchr("s[", all[i].letter);
            int length = is_text && !strchr(format, '$') ? taken(format, all, i, text) : -1;
            if (length < 0)
                scan_write(&all[i], target);
            else
                write_bytes(target, (size_t)length + 1);
        }
        assigned -= all[i].letter != 'n';
    }
}
