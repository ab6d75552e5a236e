/* lexer - list the tokens of a Tarn script.

   Tarn describes what a garden's pumps and valves do, and when:

       zone lawn {
           every 2h30m do open(valve_1, 45%) for 90s    # a comment
           when soil.moisture <= 0x1F and not raining? -> alert "dry\n" (: may (: nest :) :)
           until @2024-10-31 }

   usage: lexer [-s] [-c] [-b] [-e] [-t WIDTH] [-m MAX] < script

     -s         summary: how many tokens of each kind
     -c         list comments too
     -b         check that brackets match
     -e         errors only
     -t WIDTH   distance of tab stops, 8 by default
     -m MAX     stop after MAX errors

   Exit status: 1 when the script has errors, 2 for wrong use. */

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    NAME, KEYWORD, INTEGER, REAL, PERCENT, DURATION, DATE, STRING, OPERATOR, BRACKET, COMMENT, ERROR, END,
    KIND_COUNT
};

static const char *const kind_names[KIND_COUNT] = {
    "name", "keyword", "integer", "real", "percent", "duration", "date", "string", "operator", "bracket",
    "comment", "error", "end"
};

/* In alphabetical order, for the binary search. */
static const char *const keywords[] = {
    "alert", "and", "do", "else", "every", "for", "let", "not", "off", "on", "or", "skip", "until", "when",
    "zone"
};

/* Longer operators stand before their own beginnings. */
static const char *const operators[] = {
    "..=", "->", "<=", ">=", "==", "!=", ":=", "..", "<", ">", "=", "+", "-", "*", "/", ".", ",", ":", ";"
};

/* Units of durations, from large to small, as they must follow one another. */
static const struct { const char *name; long milliseconds; } units[] =
    {{"d", 86400000}, {"h", 3600000}, {"ms", 1}, {"m", 60000}, {"s", 1000}};

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

enum { MAX_SOURCE = 20000, MAX_TEXT = 80, MAX_DEPTH = 8, MAX_COUNT = 100000 };

struct token {
    enum kind kind;
    int line, column;
    char text[MAX_TEXT];    /* as written, or decoded for strings, or the message of an error */
    int length;
    long value;             /* integers, durations in milliseconds */
    double real;
};

struct options {
    bool summary, comments, brackets, errors_only;
    int tab_width;
    int max_errors;
};

struct lexer {
    const char *source;
    int at, length;
    int line, column;
    int tab_width;
    struct token token;     /* the one being read */
};

/* ---- characters ---- */

static int peek(const struct lexer *lexer, int distance)
{
    int at = lexer->at + distance;
    return at < lexer->length ? (unsigned char)lexer->source[at] : EOF;
}

static bool looking_at(const struct lexer *lexer, const char *text)
{
    int length = (int)strlen(text);
    return length <= lexer->length - lexer->at && !memcmp(lexer->source + lexer->at, text, (size_t)length);
}

/* Steps over a character and keeps line and column up to date. */
static int advance(struct lexer *lexer)
{
    int c = peek(lexer, 0);
    if (c == EOF)
        return c;
    lexer->at++;
    if (c == '\n') {
        lexer->line++;
        lexer->column = 1;
    } else if (c == '\t') {
        lexer->column += lexer->tab_width - (lexer->column - 1) % lexer->tab_width;
    } else if ((c & 0xC0) != 0x80) {    /* the later bytes of a UTF-8 character take no room */
        lexer->column++;
    }
    return c;
}

static bool is_name_start(int c)
{
    return c == '_' || isalpha(c);
}

static bool is_name_part(int c)
{
    return c == '_' || isalnum(c);
}

/* ---- building tokens ---- */

static void append(struct token *token, int c)
{
    if (token->length < MAX_TEXT - 1)
        token->text[token->length++] = (char)c;
    token->text[token->length] = '\0';
}

static void take(struct lexer *lexer)
{
    append(&lexer->token, advance(lexer));
}

static void error(struct lexer *lexer, const char *message)
{
    struct token *token = &lexer->token;
    token->kind = ERROR;
    token->length = snprintf(token->text, MAX_TEXT, "%s", message);
}

/* Steps over the rest of a malformed number. */
static void skip_name(struct lexer *lexer)
{
    while (is_name_part(peek(lexer, 0)))
        advance(lexer);
}

/* ---- names and keywords ---- */

static bool is_keyword(const char *name)
{
    int low = 0, high = COUNT(keywords) - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        int order = strcmp(name, keywords[middle]);
        if (order == 0)
            return true;
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return false;
}

static void read_name(struct lexer *lexer)
{
    struct token *token = &lexer->token;
    while (is_name_part(peek(lexer, 0)))
        take(lexer);
    token->kind = is_keyword(token->text) ? KEYWORD : NAME;
    if (token->kind == NAME && peek(lexer, 0) == '?')
        take(lexer);
}

/* ---- numbers, durations, dates ---- */

/* The value of a hexadecimal digit; larger than any base for other characters. */
static int digit_value(int c)
{
    if (isdigit(c))
        return c - '0';
    return isxdigit(c) ? tolower(c) - 'a' + 10 : INT_MAX;
}

/* Reads digits of a base with single underscores between them; returns false after reporting an error. */
static bool read_digits(struct lexer *lexer, int base)
{
    struct token *token = &lexer->token;
    bool wanted = true;     /* a digit must follow */
    token->value = 0;
    for (;;) {
        int digit = digit_value(peek(lexer, 0));
        if (digit < base) {
            if (token->value > (LONG_MAX - digit) / base) {
                error(lexer, "number too large");
                skip_name(lexer);
                return false;
            }
            token->value = token->value * base + digit;
            wanted = false;
            take(lexer);
        } else if (peek(lexer, 0) == '_' && !wanted) {
            wanted = true;
            advance(lexer);
        } else {
            break;
        }
    }
    if (wanted)
        error(lexer, "digit expected");
    return !wanted;
}

static void read_fraction(struct lexer *lexer)
{
    struct token *token = &lexer->token;
    token->kind = REAL;
    take(lexer);
    while (isdigit(peek(lexer, 0)))
        take(lexer);
    if (tolower(peek(lexer, 0)) == 'e') {
        take(lexer);
        if (peek(lexer, 0) == '+' || peek(lexer, 0) == '-')
            take(lexer);
        if (!isdigit(peek(lexer, 0))) {
            error(lexer, "exponent without digits");
            return;
        }
    }
    while (isdigit(peek(lexer, 0)))
        take(lexer);
    token->real = strtod(token->text, NULL);
}

/* Finds the unit that stands at the current place; -1 where there is none. */
static int find_unit(const struct lexer *lexer)
{
    for (int i = 0; i < COUNT(units); i++)
        if (looking_at(lexer, units[i].name) && !is_name_start(peek(lexer, (int)strlen(units[i].name))))
            return i;
    return -1;
}

/* Goes on behind the first number of a duration, as in 1h30m. */
static void read_duration(struct lexer *lexer, int unit)
{
    struct token *token = &lexer->token;
    long total = 0, previous = LONG_MAX;
    token->kind = DURATION;
    while (unit >= 0) {
        if (units[unit].milliseconds >= previous || token->value > MAX_COUNT) {
            error(lexer, token->value > MAX_COUNT ? "duration too long" : "units out of order");
            skip_name(lexer);
            return;
        }
        previous = units[unit].milliseconds;
        total += token->value * previous;
        for (const char *c = units[unit].name; *c; c++)
            take(lexer);
        if (!isdigit(peek(lexer, 0)))
            break;
        if (!read_digits(lexer, 10))
            return;
        unit = find_unit(lexer);
        if (unit < 0)
            error(lexer, "unit expected");
    }
    token->value = total;
}

static void read_number(struct lexer *lexer)
{
    static const struct { char letter; int base; } prefixes[] = {{'x', 16}, {'o', 8}, {'b', 2}};
    struct token *token = &lexer->token;
    int base = 10;

    token->kind = INTEGER;
    for (int i = 0; i < COUNT(prefixes); i++)
        if (peek(lexer, 0) == '0' && peek(lexer, 1) == prefixes[i].letter) {
            base = prefixes[i].base;
            take(lexer);
            take(lexer);
        }
    if (!read_digits(lexer, base))
        return;
    if (base == 10 && find_unit(lexer) >= 0)
        read_duration(lexer, find_unit(lexer));
    else if (base == 10 && peek(lexer, 0) == '.' && isdigit(peek(lexer, 1)))
        read_fraction(lexer);
    if ((token->kind == INTEGER || token->kind == REAL) && peek(lexer, 0) == '%') {
        if (token->kind == INTEGER)
            token->real = (double)token->value;
        token->kind = PERCENT;
        take(lexer);
    }
    if (token->kind != ERROR && is_name_part(peek(lexer, 0))) {
        error(lexer, "letters follow the number");
        skip_name(lexer);
    }
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

/* A date is @YYYY-MM-DD. Its value is YYYYMMDD. */
static void read_date(struct lexer *lexer)
{
    static const char shape[] = "@dddd-dd-dd";
    struct token *token = &lexer->token;
    token->kind = DATE;
    for (int i = 0; shape[i]; i++) {
        int c = peek(lexer, 0);
        if (shape[i] == 'd' ? !isdigit(c) : c != shape[i]) {
            error(lexer, "date must be @YYYY-MM-DD");
            return;
        }
        take(lexer);
    }
    int year = atoi(token->text + 1), month = atoi(token->text + 6), day = atoi(token->text + 9);
    if (month < 1 || month > 12)
        error(lexer, "no such month");
    else if (day < 1 || day > days_in_month(year, month))
        error(lexer, "no such day");
    else
        token->value = year * 10000L + month * 100 + day;
}

/* ---- strings and comments ---- */

/* Decodes what follows a backslash; returns false for an unknown escape. */
static bool read_escape(struct lexer *lexer)
{
    static const char letters[] = "nt\"\\", values[] = "\n\t\"\\";
    int c = advance(lexer);
    const char *found = c > 0 ? strchr(letters, c) : NULL;
    int high = digit_value(peek(lexer, 0)), low = digit_value(peek(lexer, 1));

    if (found) {
        append(&lexer->token, values[found - letters]);
        return true;
    }
    if (c != 'x' || high >= 16 || low >= 16)
        return false;
    advance(lexer);
    advance(lexer);
    append(&lexer->token, high * 16 + low);
    return true;
}

static void read_string(struct lexer *lexer)
{
    bool good_escapes = true;
    lexer->token.kind = STRING;
    advance(lexer);
    while (peek(lexer, 0) != '"') {
        if (peek(lexer, 0) == EOF || peek(lexer, 0) == '\n') {
            error(lexer, "string is not closed");
            return;
        }
        int c = advance(lexer);
        if (c != '\\')
            append(&lexer->token, c);
        else if (!read_escape(lexer))
            good_escapes = false;
    }
    advance(lexer);
    if (!good_escapes)
        error(lexer, "unknown escape in string");
}

static void read_line_comment(struct lexer *lexer)
{
    lexer->token.kind = COMMENT;
    while (peek(lexer, 0) != '\n' && peek(lexer, 0) != EOF)
        take(lexer);
}

static void read_block_comment(struct lexer *lexer)
{
    int depth = 0;
    lexer->token.kind = COMMENT;
    do {
        if (peek(lexer, 0) == EOF) {
            error(lexer, "comment is not closed");
            return;
        }
        if (looking_at(lexer, "(:")) {
            depth++;
            take(lexer);
        } else if (looking_at(lexer, ":)")) {
            depth--;
            take(lexer);
        }
        take(lexer);
    } while (depth > 0);
}

/* ---- the next token ---- */

static void read_operator(struct lexer *lexer)
{
    for (int i = 0; i < COUNT(operators); i++) {
        if (looking_at(lexer, operators[i])) {
            lexer->token.kind = OPERATOR;
            while (lexer->token.length < (int)strlen(operators[i]))
                take(lexer);
            return;
        }
    }
    advance(lexer);
    error(lexer, "unknown character");
}

static void next_token(struct lexer *lexer)
{
    while (peek(lexer, 0) != EOF && isspace(peek(lexer, 0)))
        advance(lexer);
    lexer->token = (struct token){.kind = END, .line = lexer->line, .column = lexer->column};
    int c = peek(lexer, 0);
    if (c == EOF)
        return;
    if (is_name_start(c)) {
        read_name(lexer);
    } else if (isdigit(c)) {
        read_number(lexer);
    } else if (c == '@') {
        read_date(lexer);
    } else if (c == '"') {
        read_string(lexer);
    } else if (c == '#') {
        read_line_comment(lexer);
    } else if (looking_at(lexer, "(:")) {
        read_block_comment(lexer);
    } else if (c && strchr("()[]{}", c)) {
        lexer->token.kind = BRACKET;
        take(lexer);
    } else {
        read_operator(lexer);
    }
}

/* ---- brackets ---- */

struct brackets {
    struct token open[MAX_DEPTH];
    int depth;
    int errors;
};

static void check_bracket(struct brackets *brackets, const struct token *token)
{
    char bracket = token->text[0];
    if (strchr("([{", bracket)) {
        if (brackets->depth < MAX_DEPTH)
            brackets->open[brackets->depth] = *token;
        brackets->depth++;
        return;
    }
    if (brackets->depth == 0) {
        printf("%d:%d error: '%c' closes nothing\n", token->line, token->column, bracket);
        brackets->errors++;
        return;
    }
    if (--brackets->depth >= MAX_DEPTH)
        return;     /* too deep to remember */
    const struct token *open = &brackets->open[brackets->depth];
    if (strchr("()[]{}", open->text[0])[1] != bracket) {
        printf("%d:%d error: '%c' closes '%c' of %d:%d\n", token->line, token->column, bracket,
               open->text[0], open->line, open->column);
        brackets->errors++;
    }
}

static void check_end(struct brackets *brackets)
{
    while (brackets->depth > 0) {
        if (--brackets->depth < MAX_DEPTH) {
            const struct token *open = &brackets->open[brackets->depth];
            printf("%d:%d error: '%c' is never closed\n", open->line, open->column, open->text[0]);
        }
        brackets->errors++;
    }
}

static void print_string(const struct token *token)
{
    printf(" %d \"", token->length);
    for (int i = 0; i < token->length; i++) {
        unsigned char c = (unsigned char)token->text[i];
        if (c < ' ' || c == '"' || c == '\\' || c >= 0x7F)
            printf("\\x%02x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_token(const struct token *token)
{
    printf("%d:%d %s", token->line, token->column, kind_names[token->kind]);
    switch (token->kind) {
    case END: break;
    case ERROR: printf(": %s", token->text); break;
    case INTEGER: case DATE: printf(" %ld", token->value); break;
    case DURATION: printf(" %s = %ld ms", token->text, token->value); break;
    case REAL: printf(" %g", token->real); break;
    case PERCENT: printf(" %g%%", token->real); break;
    case STRING: print_string(token); break;
    default: printf(" %s", token->text); break;
    }
    putchar('\n');
}

static void print_summary(const int counts[KIND_COUNT])
{
    int total = 0;
    for (int kind = 0; kind < END; kind++) {
        if (counts[kind] > 0)
            printf("%-9s %4d\n", kind_names[kind], counts[kind]);
        total += counts[kind];
    }
    printf("%-9s %4d\n", "all", total);
}

/* Lists the script as the options say; returns the number of errors. */
static int list_tokens(struct lexer *lexer, const struct options *options)
{
    struct brackets brackets = {.depth = 0};
    int counts[KIND_COUNT] = {0};
    struct token *token = &lexer->token;

    do {
        next_token(lexer);
        counts[token->kind]++;
        if (options->brackets && token->kind == BRACKET)
            check_bracket(&brackets, token);
        if (token->kind == ERROR ||
            (!options->errors_only && !options->summary && (token->kind != COMMENT || options->comments)))
            print_token(token);
        if (counts[ERROR] == options->max_errors) {
            printf("too many errors\n");
            break;
        }
    } while (token->kind != END);
    if (options->summary)
        print_summary(counts);
    check_end(&brackets);
    return counts[ERROR] + brackets.errors;
}

/* ---- the command line ---- */

static _Noreturn void usage(void)
{
    fputs("usage: lexer [-s] [-c] [-b] [-e] [-t WIDTH] [-m MAX] < script\n", stderr);
    exit(2);
}

static int number_option(const char *text, int maximum)
{
    int number = text ? atoi(text) : 0;
    if (number < 1 || number > maximum)
        usage();
    return number;
}

static void parse_options(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || strlen(argv[i]) != 2)
            usage();
        switch (argv[i][1]) {
        case 's': options->summary = true; break;
        case 'c': options->comments = true; break;
        case 'b': options->brackets = true; break;
        case 'e': options->errors_only = true; break;
        case 't': options->tab_width = number_option(argv[++i], 16); break;
        case 'm': options->max_errors = number_option(argv[++i], INT_MAX); break;
        default: usage();
        }
    }
}

int main(int argc, char **argv)
{
    static char source[MAX_SOURCE];
    struct options options = {.tab_width = 8, .max_errors = 20};

    parse_options(argc, argv, &options);
    struct lexer lexer = {.source = source, .line = 1, .column = 1, .tab_width = options.tab_width};
    lexer.length = (int)fread(source, 1, sizeof source, stdin);
    return list_tokens(&lexer, &options) > 0 ? 1 : 0;
}
