/*
 * json - check, print and query a JSON text
 *
 * usage: json [-c] [-k] [-s] [-i WIDTH] COMMAND [PATH]
 *
 *   check   say whether the input is valid, or where it is not
 *   print   print it, indented
 *   count   print how many items or characters a value has
 *   sum     sum, mean, least and greatest of the numbers
 *
 *   -c  compact, all on one line       -s  strict: refuse duplicate keys
 *   -k  sort the members by key        -i  width of the indent (2)
 *
 * A PATH is a row of steps: .name, [3], [-1] (from the end) or [*] (all items
 * or members); none means the whole input, which is read from standard input.
 * The status is 0, 1 for bad input or a path without a value, 2 for wrong use.
 */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 20			/* nesting beyond this is refused */

enum kind { NULL_VALUE, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT };

static const char *const kind_names[] = { "null", "boolean", "number", "string", "array", "object" };

struct value {
	enum kind kind;
	struct value *next;		/* the next item of the same array or object */
	char *key;			/* in an object: the member's name */
	double number;			/* 0 or 1 for a boolean */
	char *text;
	struct value *first;		/* of an array or object */
	int count;			/* its items, or the characters of a string */
};

/* A string that grows; the bytes are always terminated. */
struct buffer {
	char *bytes;
	size_t length, capacity;
};

static struct {
	bool compact, sorted, strict;
	int indent;
} options = { .indent = 2 };

static struct {
	const char *text;
	size_t at;
	int line, column;
	int depth, values;
} in = { .line = 1, .column = 1 };

static FILE *report;			/* where complaints about the input go */

/* Nothing is ever released: the tree is needed until the end. */
static void *checked(void *memory)
{
	if (memory == NULL) {
		fprintf(stderr, "json: out of memory\n");
		exit(3);
	}
	return memory;
}

static void put_byte(struct buffer *b, char byte)
{
	if (b->length + 1 >= b->capacity) {
		b->capacity = b->capacity ? 2 * b->capacity : 16;
		b->bytes = checked(realloc(b->bytes, b->capacity));
	}
	b->bytes[b->length++] = byte;
	b->bytes[b->length] = '\0';
}

static void misuse(const char *why, const char *where)
{
	fprintf(stderr, "json: %s '%s'\nusage: json [-c] [-k] [-s] [-i WIDTH] COMMAND [PATH]\n", why, where);
	exit(2);
}

static void complain(const char *format, ...)
{
	va_list arguments;

	fprintf(report, "%d:%d: ", in.line, in.column);
	va_start(arguments, format);
	vfprintf(report, format, arguments);
	va_end(arguments);
	fputc('\n', report);
	exit(1);
}

static void require(bool fulfilled, const char *otherwise)
{
	if (!fulfilled)
		complain("%s", otherwise);
}

static int peek(void)
{
	return (unsigned char)in.text[in.at];
}

static int take(void)
{
	int c = peek();

	require(c != '\0', "unexpected end of input");
	in.at++;
	if (c == '\n') {
		in.line++;
		in.column = 1;
	} else if ((c & 0xC0) != 0x80) {	/* a character, not each of its bytes */
		in.column++;
	}
	return c;
}

static void skip_space(void)
{
	while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')
		take();
}

static bool accept(int wanted)
{
	if (peek() != wanted)
		return false;
	take();
	return true;
}

static void put_utf8(struct buffer *b, unsigned code)
{
	int more = code >= 0x10000 ? 3 : code >= 0x800 ? 2 : code >= 0x80 ? 1 : 0;

	put_byte(b, more == 0 ? code : 0xFF00 >> (more + 1) | code >> 6 * more);
	while (more-- > 0)
		put_byte(b, 0x80 | (code >> 6 * more & 0x3F));
}

static unsigned read_hex(void)
{
	unsigned code = 0;

	for (int i = 0; i < 4; i++) {
		int c = peek();

		require(isxdigit(c), "expected four hexadecimal digits after \\u");
		take();
		code = code * 16 + (isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
	}
	return code;
}

static void read_unicode_escape(struct buffer *b)
{
	unsigned code = read_hex();

	if (code >= 0xD800 && code <= 0xDFFF) {		/* half of a surrogate pair */
		unsigned low;

		require(code < 0xDC00 && take() == '\\' && take() == 'u', "lone surrogate");
		low = read_hex();
		require(low >= 0xDC00 && low <= 0xDFFF, "lone surrogate");
		code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
	}
	require(code != 0, "\\u0000 is not supported");
	put_utf8(b, code);
}

static void read_escape(struct buffer *b)
{
	static const char letters[] = "\"\\/bfnrt";
	static const char meanings[] = "\"\\/\b\f\n\r\t";
	int c = take();
	const char *found = strchr(letters, c);

	if (c == 'u')
		read_unicode_escape(b);
	else if (found != NULL)
		put_byte(b, meanings[found - letters]);
	else
		complain("unknown escape '\\%c'", c);
}

/* The rest of a string behind its first quote; count becomes its number of characters. */
static char *read_string(int *count)
{
	struct buffer b = { 0 };

	while (!accept('"')) {
		require(peek() == '\0' || peek() >= ' ', "control character in a string");
		if (accept('\\'))
			read_escape(&b);
		else
			put_byte(&b, take());
	}
	*count = 0;
	for (size_t i = 0; i < b.length; i++)
		if ((b.bytes[i] & 0xC0) != 0x80)
			++*count;
	return b.bytes != NULL ? b.bytes : checked(calloc(1, 1));
}

static double power_of_ten(int exponent)
{
	double result = 1, factor = 10;

	while (exponent > 0) {
		if (exponent % 2 == 1)
			result *= factor;
		factor *= factor;
		exponent /= 2;
	}
	return result;
}

/* Continue number with the digits that follow; returns how many there are. */
static int read_digits(double *number)
{
	int count = 0;

	for (; isdigit(peek()); count++)
		*number = *number * 10 + (take() - '0');
	require(count > 0, "expected a digit");
	return count;
}

static int read_exponent(void)
{
	double exponent = 0;
	bool negative = false;

	take();
	if (!accept('+'))
		negative = accept('-');
	read_digits(&exponent);
	require(exponent <= 300, "exponent out of range");
	return negative ? -exponent : exponent;
}

static double read_number(void)
{
	double number = 0;
	int exponent = 0;
	bool negative = accept('-'), zero = peek() == '0';

	require(read_digits(&number) == 1 || !zero, "a number must not begin with 0");
	if (peek() == '.') {
		take();
		exponent = -read_digits(&number);
	}
	if (peek() == 'e' || peek() == 'E')
		exponent += read_exponent();
	if (exponent < 0)
		number /= power_of_ten(-exponent);
	else
		number *= power_of_ten(exponent);
	require(!isinf(number), "number out of range");
	return negative ? -number : number;
}

/* Put item at the end, or in front of the first member with a greater key. */
static void add(struct value *parent, struct value *item)
{
	bool sorted = options.sorted && parent->kind == OBJECT;
	struct value **link = &parent->first;

	while (*link != NULL && (!sorted || strcmp((*link)->key, item->key) <= 0))
		link = &(*link)->next;
	item->next = *link;
	*link = item;
	parent->count++;
}

static struct value *find_member(const struct value *object, const char *key, size_t length)
{
	struct value *found = NULL;

	for (struct value *m = object->first; m != NULL; m = m->next)
		if (strncmp(m->key, key, length) == 0 && m->key[length] == '\0')
			found = m;	/* the last of duplicates counts */
	return found;
}

static struct value *read_value(void);

static char *read_key(const struct value *object)
{
	char *key;
	int ignored;

	skip_space();
	require(accept('"'), "expected a key in quotes");
	key = read_string(&ignored);
	if (options.strict && find_member(object, key, strlen(key)) != NULL)
		complain("duplicate key \"%s\"", key);
	skip_space();
	require(accept(':'), "expected ':' after a key");
	return key;
}

static void read_items(struct value *v)
{
	do {
		char *key = v->kind == OBJECT ? read_key(v) : NULL;
		struct value *item = read_value();

		item->key = key;
		add(v, item);
		skip_space();
	} while (accept(','));
}

static void read_container(struct value *v)
{
	char end = v->kind == ARRAY ? ']' : '}';

	take();
	require(++in.depth <= DEEPEST, "nested too deeply");
	skip_space();
	if (!accept(end)) {
		read_items(v);
		require(accept(end), end == ']' ? "expected ',' or ']'" : "expected ',' or '}'");
	}
	in.depth--;
}

static void read_word(struct value *v)
{
	char word[8] = "";
	size_t length = 0;

	while (islower(peek()) && length < sizeof word - 1)
		word[length++] = take();
	if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
		v->kind = BOOLEAN;
		v->number = word[0] == 't';
	} else if (strcmp(word, "null") != 0) {
		complain(length > 0 ? "unknown word '%s'" : "expected a value", word);
	}
}

static struct value *read_value(void)
{
	struct value *v = checked(calloc(1, sizeof *v));

	skip_space();
	in.values++;
	if (peek() == '{' || peek() == '[') {
		v->kind = peek() == '{' ? OBJECT : ARRAY;
		read_container(v);
	} else if (accept('"')) {
		v->kind = STRING;
		v->text = read_string(&v->count);
	} else if (peek() == '-' || isdigit(peek())) {
		v->kind = NUMBER;
		v->number = read_number();
	} else {
		read_word(v);
	}
	return v;
}

static void print_string(const char *text)
{
	putchar('"');
	while (*text != '\0') {
		int c = (unsigned char)*text++;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c == '\n')
			printf("\\n");
		else if (c < ' ')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

/* With as few digits as bring the number back. */
static void print_number(double number)
{
	char digits[40];

	if (number == floor(number) && fabs(number) < 1e15) {
		printf("%.0f", number);
		return;
	}
	snprintf(digits, sizeof digits, "%.15g", number);
	if (strtod(digits, NULL) != number)
		snprintf(digits, sizeof digits, "%.17g", number);
	printf("%s", digits);
}

static void new_line(int depth)
{
	if (options.compact)
		return;
	putchar('\n');
	for (int i = 0; i < depth * options.indent; i++)
		putchar(' ');
}

static void print_value(const struct value *v, int depth);

static void print_container(const struct value *v, int depth)
{
	putchar(v->kind == ARRAY ? '[' : '{');
	for (const struct value *item = v->first; item != NULL; item = item->next) {
		new_line(depth + 1);
		if (v->kind == OBJECT) {
			print_string(item->key);
			printf(options.compact ? ":" : ": ");
		}
		print_value(item, depth + 1);
		if (item->next != NULL)
			putchar(',');
	}
	if (v->first != NULL)
		new_line(depth);
	putchar(v->kind == ARRAY ? ']' : '}');
}

static void print_value(const struct value *v, int depth)
{
	if (v->kind == ARRAY || v->kind == OBJECT)
		print_container(v, depth);
	else if (v->kind == STRING)
		print_string(v->text);
	else if (v->kind == NUMBER)
		print_number(v->number);
	else if (v->kind == BOOLEAN)
		printf(v->number != 0 ? "true" : "false");
	else
		printf("null");
}

struct totals {
	int found, numbers;
	double sum, least, greatest;
};

typedef void visitor(const struct value *v, struct totals *totals);

static void walk(const struct value *v, const char *path, visitor *visit, struct totals *totals);

static void walk_name(const struct value *v, const char *name, visitor *visit, struct totals *totals)
{
	size_t length = strcspn(name, ".[");
	const struct value *member = v->kind == OBJECT ? find_member(v, name, length) : NULL;

	if (length == 0)
		misuse("a name is missing in the path at", name);
	if (member != NULL)
		walk(member, name + length, visit, totals);
}

static void walk_index(const struct value *v, const char *path, visitor *visit, struct totals *totals)
{
	char *end;
	long index = strtol(path, &end, 10);
	const struct value *item = v->first;

	if (end == path || *end != ']')
		misuse("expected [number] or [*] in the path at", path);
	if (index < 0)
		index += v->count;
	if (v->kind != ARRAY || index < 0 || index >= v->count)
		return;
	while (index-- > 0)
		item = item->next;
	walk(item, end + 1, visit, totals);
}

/* Visit every value that the path leads to from v. */
static void walk(const struct value *v, const char *path, visitor *visit, struct totals *totals)
{
	if (*path == '\0') {
		totals->found++;
		visit(v, totals);
	} else if (*path == '.') {
		walk_name(v, path + 1, visit, totals);
	} else if (strncmp(path, "[*]", 3) == 0) {
		for (const struct value *item = v->first; item != NULL; item = item->next)
			walk(item, path + 3, visit, totals);
	} else if (*path == '[') {
		walk_index(v, path + 1, visit, totals);
	} else {
		misuse("expected . or [ in the path at", path);
	}
}

static void visit_print(const struct value *v, struct totals *unused)
{
	(void)unused;
	print_value(v, 0);
	putchar('\n');
}

static void visit_count(const struct value *v, struct totals *unused)
{
	(void)unused;
	printf("%s %d\n", kind_names[v->kind], v->count);
}

static void visit_sum(const struct value *v, struct totals *totals)
{
	if (v->kind != NUMBER)
		return;
	if (totals->numbers == 0 || v->number < totals->least)
		totals->least = v->number;
	if (totals->numbers == 0 || v->number > totals->greatest)
		totals->greatest = v->number;
	totals->sum += v->number;
	totals->numbers++;
}

static void print_totals(const struct totals *t)
{
	printf("%d of %d values are numbers\n", t->numbers, t->found);
	if (t->numbers > 0)
		printf("sum %.10g mean %.10g least %.10g greatest %.10g\n", t->sum, t->sum / t->numbers,
		       t->least, t->greatest);
}

static int query(const struct value *root, const char *path, visitor *visit)
{
	struct totals totals = { 0 };

	walk(root, path, visit, &totals);
	if (totals.found == 0) {
		fprintf(stderr, "json: there is no value at %s\n", path);
		return 1;
	}
	if (visit == visit_sum)
		print_totals(&totals);
	return 0;
}

static const struct command { const char *name; visitor *visit; } commands[] = {
	{ "check", NULL }, { "print", visit_print }, { "count", visit_count }, { "sum", visit_sum }, { NULL, NULL }
};

/* Set the options; returns the index of the first other argument. */
static int read_options(char **argv)
{
	int i = 1;

	for (; argv[i] != NULL && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "-c") == 0)
			options.compact = true;
		else if (strcmp(argv[i], "-k") == 0)
			options.sorted = true;
		else if (strcmp(argv[i], "-s") == 0)
			options.strict = true;
		else if (strcmp(argv[i], "-i") == 0 && argv[i + 1] != NULL)
			options.indent = atoi(argv[++i]);
		else
			misuse("unknown option", argv[i]);
	}
	return i;
}

int main(int argc, char **argv)
{
	const struct command *command = commands;
	int c, status = 0, first = read_options(argv);
	static struct buffer input;
	static struct value *root;

	if (first == argc || argc > first + 2)
		misuse("expected a command and perhaps a path", "");
	while (command->name != NULL && strcmp(command->name, argv[first]) != 0)
		command++;
	if (command->name == NULL)
		misuse("unknown command", argv[first]);
	report = command->visit == NULL ? stdout : stderr;
	while ((c = getchar()) != EOF)
		put_byte(&input, c);
	in.text = input.bytes != NULL ? input.bytes : "";
	root = read_value();
	skip_space();
	require(peek() == '\0', "unexpected text after the value");
	if (command->visit == NULL)
		printf("valid: %d values\n", in.values);
	else
		status = query(root, first + 1 < argc ? argv[first + 1] : "", command->visit);
	return status;
}
