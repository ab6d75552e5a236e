/*
 * cache - simulate a cache of named values in a fixed piece of memory
 *
 * usage: cache [-m BYTES] [-c ITEMS] [-b BUCKETS] < commands
 *
 *   set KEY VALUE [TICKS]  store a value, for some ticks of the clock if given
 *   get KEY                print it             del KEY         forget it
 *   append KEY TEXT        make it longer       rename OLD NEW  give it another key
 *   show KEY               print all about it   list            the latest used first
 *   tick NUMBER            let time go by       sweep           drop what has expired
 *   stats, table, blocks   the counters, the hash table, the map of the memory
 *
 * Everything lives in an arena of BYTES (1024): the items, their keys and
 * values, and the hash table with BUCKETS (4) chains to begin with.  When the
 * arena is full or there are more than ITEMS (64), the items that were not
 * used for the longest time go.  The status is 0, 2 for wrong use, and 3 when
 * the arena turns out to be damaged.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 16384			/* bytes of the arena at most */
#define USED 0x55534544u
#define FREE 0x46524545u
#define GRAIN 8				/* blocks are a multiple of this */
#define WORDS 4				/* words of a command at most */

/* The arena is a row of blocks without gaps. */
struct block {
	uint32_t size;			/* bytes behind the header */
	uint32_t mark;			/* USED or FREE */
	struct block *next;		/* the next free block; only while it is free */
};

#define HEADER offsetof(struct block, next)

struct item {
	struct item *older, *newer;	/* neighbours in order of use */
	struct item *chain;		/* the next item in the same bucket */
	char *key, *value;
	uint32_t hash;
	int expires;			/* the tick at which it is gone, 0 for never */
	int uses;
};

static _Alignas(16) unsigned char arena[LARGEST];
static size_t arena_size = 1024;
static size_t in_use;			/* bytes in used blocks */
static struct block *free_list;		/* in order of address */

static struct item **table;
static unsigned buckets = 4;
static struct item *newest, *oldest;
static int items, most_items = 64;
static int now = 1;
static int hits, misses, evicted, expired;

static void damaged(const void *where)
{
	printf("the arena is damaged at %d\n", (int)((const unsigned char *)where - arena));
	exit(3);
}

static struct block *behind(struct block *b)
{
	return (struct block *)((unsigned char *)b + HEADER + b->size);
}

static void arena_start(void)
{
	free_list = (struct block *)arena;
	free_list->size = arena_size - HEADER;
	free_list->mark = FREE;
	free_list->next = NULL;
}

/* The first free block that is large enough (its rest stays free), or NULL. */
static void *arena_take(size_t length)
{
	size_t size = (length + GRAIN - 1) / GRAIN * GRAIN;
	struct block **link = &free_list, *b;

	while (*link != NULL && (*link)->size < size)
		link = &(*link)->next;
	b = *link;
	if (b == NULL)
		return NULL;
	if (b->size >= size + HEADER + GRAIN) {
		size_t left = b->size - size - HEADER;
		struct block *next = b->next;

		b->size = size;
		*link = behind(b);
		(*link)->size = left;
		(*link)->mark = FREE;
		(*link)->next = next;
	} else {
		*link = b->next;
	}
	b->mark = USED;
	in_use += b->size;
	return &b->next;
}

static void merge_with_next(struct block *b)
{
	struct block *next = b->next;

	if (next == NULL || next != behind(b))
		return;
	b->size += HEADER + next->size;
	b->next = next->next;
}

static void arena_give(void *memory)
{
	struct block *b, *before = NULL;

	if (memory == NULL)
		return;
	b = (struct block *)((unsigned char *)memory - HEADER);
	if (b->mark != USED)
		damaged(b);
	b->mark = FREE;
	in_use -= b->size;
	b->next = free_list;
	while (b->next != NULL && b->next < b) {
		before = b->next;
		b->next = before->next;
	}
	merge_with_next(b);
	if (before == NULL) {
		free_list = b;
	} else {
		before->next = b;
		merge_with_next(before);
	}
}

static uint32_t hash_of(const char *key)
{
	uint32_t hash = 2166136261u;

	for (; *key != '\0'; key++)
		hash = (hash ^ (unsigned char)*key) * 16777619u;
	return hash;
}

static void link_newest(struct item *item)
{
	item->newer = NULL;
	item->older = newest;
	if (newest != NULL)
		newest->newer = item;
	else
		oldest = item;
	newest = item;
}

static void unlink_order(struct item *item)
{
	if (item->newer != NULL)
		item->newer->older = item->older;
	else
		newest = item->older;
	if (item->older != NULL)
		item->older->newer = item->newer;
	else
		oldest = item->newer;
}

static void touch(struct item *item)
{
	unlink_order(item);
	link_newest(item);
	item->uses++;
}

static void link_chain(struct item *item)
{
	struct item **bucket = &table[item->hash % buckets];

	item->chain = *bucket;
	*bucket = item;
}

static void unlink_chain(struct item *item)
{
	struct item **link = &table[item->hash % buckets];

	while (*link != item)
		link = &(*link)->chain;
	*link = item->chain;
}

static void forget(struct item *item)
{
	unlink_chain(item);
	unlink_order(item);
	arena_give(item->key);
	arena_give(item->value);
	arena_give(item);
	items--;
}

/* Memory for length bytes; the oldest items go for it, but not keep.  NULL when that is not enough. */
static void *room(size_t length, const struct item *keep)
{
	void *memory;

	while ((memory = arena_take(length)) == NULL) {
		if (oldest == NULL || oldest == keep)
			return NULL;
		forget(oldest);
		evicted++;
	}
	return memory;
}

/* The item with that key, unless its time has run out. */
static struct item *find(const char *key)
{
	uint32_t hash = hash_of(key);

	for (struct item *item = table[hash % buckets]; item != NULL; item = item->chain) {
		if (item->hash != hash || strcmp(item->key, key) != 0)
			continue;
		if (item->expires == 0 || item->expires > now)
			return item;
		forget(item);
		expired++;
		break;
	}
	return NULL;
}

/* Double the table once there are more than two items a bucket, if memory allows. */
static void grow(void)
{
	struct item **old = table, **larger;

	if (items <= 2 * (int)buckets)
		return;
	larger = arena_take(2 * buckets * sizeof *larger);
	if (larger == NULL)
		return;
	table = larger;
	buckets *= 2;
	for (unsigned i = 0; i < buckets; i++)
		table[i] = NULL;
	for (struct item *item = newest; item != NULL; item = item->older)
		link_chain(item);
	arena_give(old);
}

/* Give item a new value; 0 when there is no room, and the old one stays. */
static int store(struct item *item, const char *text)
{
	char *value = room(strlen(text) + 1, item);

	if (value == NULL)
		return 0;
	strcpy(value, text);
	arena_give(item->value);
	item->value = value;
	return 1;
}

/* A new item with key and value; NULL when there is no room. */
static struct item *create(const char *key, const char *text)
{
	struct item *item = room(sizeof *item, NULL);

	if (item == NULL)
		return NULL;
	item->key = room(strlen(key) + 1, NULL);
	item->value = room(strlen(text) + 1, NULL);
	if (item->key == NULL || item->value == NULL) {
		arena_give(item->key);
		arena_give(item->value);
		arena_give(item);
		return NULL;
	}
	strcpy(item->key, key);
	strcpy(item->value, text);
	item->hash = hash_of(key);
	item->uses = 0;
	link_newest(item);
	link_chain(item);
	items++;
	grow();
	return item;
}

static void command_set(char **word)
{
	struct item *item = find(word[1]);
	int ticks = word[3] != NULL ? atoi(word[3]) : 0, known = item != NULL;

	if (known)
		touch(item);
	else
		item = create(word[1], word[2]);
	if (item == NULL || (known && !store(item, word[2]))) {
		printf("no room\n");
		return;
	}
	printf(known ? "replaced\n" : "stored\n");
	item->expires = ticks > 0 ? now + ticks : 0;
	while (items > most_items) {
		forget(oldest);
		evicted++;
	}
}

/* The item for a command that needs one; counts hits and misses. */
static struct item *wanted(const char *key)
{
	struct item *item = find(key);

	if (item == NULL) {
		misses++;
		printf("%s is not there\n", key);
		return NULL;
	}
	hits++;
	touch(item);
	return item;
}

static void command_get(char **word)
{
	struct item *item = wanted(word[1]);

	if (item != NULL)
		printf("%s\n", item->value);
}

static void command_del(char **word)
{
	struct item *item = find(word[1]);

	if (item != NULL)
		forget(item);
	printf(item != NULL ? "deleted\n" : "%s is not there\n", word[1]);
}

static void command_append(char **word)
{
	struct item *item = wanted(word[1]);
	size_t length;
	char *text;

	if (item == NULL)
		return;
	length = strlen(item->value);
	text = room(length + strlen(word[2]) + 1, item);
	if (text == NULL) {
		printf("no room\n");
		return;
	}
	memcpy(text, item->value, length);
	strcpy(text + length, word[2]);
	arena_give(item->value);
	item->value = text;
	printf("%d bytes\n", (int)strlen(text));
}

static void command_rename(char **word)
{
	struct item *item = wanted(word[1]), *other;
	char *key;

	if (item == NULL || strcmp(word[1], word[2]) == 0)
		return;
	other = find(word[2]);
	if (other != NULL)
		forget(other);
	key = room(strlen(word[2]) + 1, item);
	if (key == NULL) {
		printf("no room\n");
		return;
	}
	strcpy(key, word[2]);
	unlink_chain(item);
	arena_give(item->key);
	item->key = key;
	item->hash = hash_of(key);
	link_chain(item);
	printf(other != NULL ? "renamed, replacing\n" : "renamed\n");
}

static void command_tick(char **word)
{
	now += atoi(word[1]);
	printf("tick %d\n", now);
}

/* Clear away what has expired. */
static void command_sweep(char **word)
{
	struct item *next;

	(void)word;
	for (struct item *item = newest; item != NULL; item = next) {
		next = item->older;
		if (item->expires != 0 && item->expires <= now) {
			forget(item);
			expired++;
		}
	}
	printf("%d items\n", items);
}

static void command_list(char **word)
{
	(void)word;
	for (struct item *item = newest; item != NULL; item = item->older)
		printf("%s%s", item->key, item->older != NULL ? " " : "");
	printf("\n");
}

static void command_show(char **word)
{
	struct item *item = find(word[1]);

	if (item == NULL) {
		printf("%s is not there\n", word[1]);
		return;
	}
	printf("%s=%s uses %d", item->key, item->value, item->uses);
	if (item->expires != 0)
		printf(" left %d", item->expires - now);
	printf("\n");
}

static void command_stats(char **word)
{
	(void)word;
	printf("hits %d misses %d evicted %d expired %d\n", hits, misses, evicted, expired);
}

static void command_table(char **word)
{
	(void)word;
	printf("%d items in", items);
	for (unsigned i = 0; i < buckets; i++) {
		int length = 0;

		for (struct item *item = table[i]; item != NULL; item = item->chain)
			length++;
		printf(" %d", length);
	}
	printf("\n");
}

static void command_blocks(char **word)
{
	(void)word;
	for (struct block *b = (struct block *)arena; (unsigned char *)b < arena + arena_size; b = behind(b)) {
		if (b->mark != USED && b->mark != FREE)
			damaged(b);
		printf("%s%d", b->mark == USED ? " " : " -", (int)b->size);
	}
	printf(" (%d in use)\n", (int)in_use);
}

static const struct command {
	const char *name;
	int words;			/* that it needs, with its name */
	void (*run)(char **word);
} commands[] = {
	{ "set", 3, command_set }, { "get", 2, command_get }, { "del", 2, command_del },
	{ "append", 3, command_append }, { "rename", 3, command_rename },
	{ "tick", 2, command_tick }, { "sweep", 1, command_sweep }, { "list", 1, command_list },
	{ "show", 2, command_show }, { "stats", 1, command_stats }, { "table", 1, command_table },
	{ "blocks", 1, command_blocks }
};

static void run_line(char *line)
{
	char *word[WORDS + 1] = { NULL };
	int words = 0;

	for (char *w = strtok(line, " \t\n"); w != NULL && words < WORDS; w = strtok(NULL, " \t\n"))
		word[words++] = w;
	if (words == 0 || word[0][0] == '#')
		return;
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		if (strcmp(word[0], commands[i].name) != 0)
			continue;
		if (words < commands[i].words)
			printf("%s: too few words\n", word[0]);
		else
			commands[i].run(word);
		return;
	}
	printf("%s: unknown command\n", word[0]);
}

static int usage(void)
{
	fprintf(stderr, "usage: cache [-m BYTES] [-c ITEMS] [-b BUCKETS] < commands\n");
	return 2;
}

int main(int argc, char **argv)
{
	char line[256];

	for (int i = 1; i < argc; i += 2) {
		int number = i + 1 < argc ? atoi(argv[i + 1]) : 0;

		if (number <= 0)
			return usage();
		if (strcmp(argv[i], "-m") == 0)
			arena_size = number / GRAIN * GRAIN;
		else if (strcmp(argv[i], "-c") == 0)
			most_items = number;
		else if (strcmp(argv[i], "-b") == 0)
			buckets = number;
		else
			return usage();
	}
	if (arena_size < 256 || arena_size > LARGEST || buckets > 16)
		return usage();
	arena_start();
	table = arena_take(buckets * sizeof *table);
	for (unsigned i = 0; i < buckets; i++)
		table[i] = NULL;
	while (fgets(line, sizeof line, stdin) != NULL)
		run_line(line);
	return 0;
}
