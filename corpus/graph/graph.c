/*
 * graph - questions about a small weighted graph
 *
 * usage: graph [-u] [-r] COMMAND [ARGUMENT ...] [COMMAND ...] < edges
 *
 *   path A B     cheapest path from A to B       dist A      cost of all nodes from A
 *   all          costs between all pairs         components  nodes that hang together
 *   topo         an order along the edges        tree        cheapest spanning forest
 *   walks A B K  number of walks of K edges from A to B
 *
 *   -u  edges lead both ways                     -r  turn every edge round
 *
 * A line of the input is `FROM TO [WEIGHT]`, `node NAME`, empty, or a comment
 * behind #.  A weight is a whole number from 0 to a million, 1 when left
 * out.  Nodes keep the order in which the input names them.  The status is 0, 1
 * when an answer does not exist, 2 for bad input or wrong use.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 32
#define EDGES 256
#define NAME 12				/* with the terminator */
#define HEAVIEST 1000000L		/* the greatest weight of an edge */
#define MODULUS 1000000007L		/* walks are counted modulo this */
#define FAR LONG_MAX			/* the cost where no path leads */
#define NONE (-1)

struct edge {
	int from, to;
	long weight;
	int next;			/* the next edge out of the same node */
};

typedef long matrix[NODES][NODES];

static char names[NODES][NAME];
static int first[NODES];		/* the first edge out of each node */
static int nodes, edges;
static struct edge edge[EDGES];
static bool undirected, reversed;
static int status;

static void fail(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "graph: ");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(2);
}

static int find_node(const char *name)
{
	for (int i = 0; i < nodes; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return NONE;
}

static int add_node(const char *name)
{
	int node = find_node(name);

	if (node != NONE)
		return node;
	if (nodes == NODES)
		fail("more than %d nodes", NODES);
	if (strlen(name) >= NAME)
		fail("the name '%s' is too long", name);
	strcpy(names[nodes], name);
	first[nodes] = NONE;
	return nodes++;
}

/* Edges out of a node stay in the order of the input. */
static void add_edge(int from, int to, long weight)
{
	int *link = &first[from];

	if (edges == EDGES)
		fail("more than %d edges", EDGES);
	while (*link != NONE)
		link = &edge[*link].next;
	*link = edges;
	edge[edges] = (struct edge){ from, to, weight, NONE };
	edges++;
}

static void read_line(char *line, int number)
{
	char *word[4];
	int words = 0;
	long weight = 1;
	int from, to;

	line[strcspn(line, "#\n")] = '\0';
	for (char *w = strtok(line, " \t"); w != NULL && words < 4; w = strtok(NULL, " \t"))
		word[words++] = w;
	if (words == 0)
		return;
	if (words == 2 && strcmp(word[0], "node") == 0) {
		add_node(word[1]);
		return;
	}
	if (words == 3) {
		char *end;

		weight = strtol(word[2], &end, 10);
		if (*end != '\0' || weight < 0 || weight > HEAVIEST)
			fail("line %d: '%s' is not a weight", number, word[2]);
	} else if (words != 2) {
		fail("line %d: expected FROM TO [WEIGHT]", number);
	}
	from = add_node(word[0]);
	to = add_node(word[1]);
	if (reversed)
		add_edge(to, from, weight);
	else
		add_edge(from, to, weight);
	if (undirected && from != to)
		add_edge(to, from, weight);
}

static long cost[NODES];
static int came_by[NODES];		/* the edge that reached each node */
static bool settled[NODES];

static struct entry { long cost; int node; } heap[EDGES + 1];
static int heap_size;

static void heap_swap(int a, int b)
{
	struct entry entry = heap[a];

	heap[a] = heap[b];
	heap[b] = entry;
}

static void heap_push(long c, int node)
{
	int i = heap_size++;

	heap[i] = (struct entry){ c, node };
	while (i > 0 && heap[(i - 1) / 2].cost > heap[i].cost) {
		heap_swap(i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

/* Take the node with the least cost off the heap. */
static int heap_pop(void)
{
	int node = heap[0].node, i = 0;

	heap[0] = heap[--heap_size];
	for (;;) {
		int least = i, left = 2 * i + 1, right = 2 * i + 2;

		if (left < heap_size && heap[left].cost < heap[least].cost)
			least = left;
		if (right < heap_size && heap[right].cost < heap[least].cost)
			least = right;
		if (least == i)
			return node;
		heap_swap(i, least);
		i = least;
	}
}

/* Whether edge e makes the way to its end cheaper; if so it is taken. */
static bool relax(int e)
{
	int from = edge[e].from, to = edge[e].to;

	if (cost[from] + edge[e].weight >= cost[to])
		return false;
	cost[to] = cost[from] + edge[e].weight;
	came_by[to] = e;
	return true;
}

/* The costs of all nodes from start (Dijkstra's algorithm). */
static void search(int start)
{
	for (int i = 0; i < nodes; i++) {
		cost[i] = FAR;
		came_by[i] = NONE;
		settled[i] = false;
	}
	cost[start] = 0;
	heap_push(0, start);
	while (heap_size > 0) {
		int node = heap_pop();

		if (settled[node])
			continue;	/* an old entry: a cheaper way was found since */
		settled[node] = true;
		for (int e = first[node]; e != NONE; e = edge[e].next)
			if (relax(e))
				heap_push(cost[edge[e].to], edge[e].to);
	}
}

static void print_way(int node)
{
	if (came_by[node] != NONE) {
		print_way(edge[came_by[node]].from);
		printf(" -> ");
	}
	printf("%s", names[node]);
}

static void command_path(int from, int to)
{
	search(from);
	if (cost[to] == FAR) {
		printf("no path from %s to %s\n", names[from], names[to]);
		status = 1;
		return;
	}
	printf("%ld: ", cost[to]);
	print_way(to);
	printf("\n");
}

static void print_cost(long c)
{
	if (c == FAR)
		printf("%6s", "-");
	else
		printf("%6ld", c);
}

static void command_dist(int from)
{
	search(from);
	for (int i = 0; i < nodes; i++) {
		printf("%-12s", names[i]);
		print_cost(cost[i]);
		printf("\n");
	}
}

static void all_pairs(matrix d)
{
	for (int i = 0; i < nodes; i++)
		for (int j = 0; j < nodes; j++)
			d[i][j] = i == j ? 0 : FAR;
	for (int e = 0; e < edges; e++)
		if (edge[e].weight < d[edge[e].from][edge[e].to])
			d[edge[e].from][edge[e].to] = edge[e].weight;
	for (int via = 0; via < nodes; via++)
		for (int i = 0; i < nodes; i++)
			for (int j = 0; j < nodes; j++)
				if (d[i][via] != FAR && d[via][j] != FAR && d[i][via] + d[via][j] < d[i][j])
					d[i][j] = d[i][via] + d[via][j];
}

static void command_all(void)
{
	matrix d;
	long diameter = 0;

	all_pairs(d);
	for (int i = 0; i < nodes; i++) {
		for (int j = 0; j < nodes; j++) {
			print_cost(d[i][j]);
			if (d[i][j] != FAR && d[i][j] > diameter)
				diameter = d[i][j];
		}
		printf("  %s\n", names[i]);
	}
	printf("diameter %ld\n", diameter);
}

static int parent[NODES], size[NODES];

static void make_sets(void)
{
	for (int i = 0; i < nodes; i++) {
		parent[i] = i;
		size[i] = 1;
	}
}

static int root_of(int node)
{
	while (parent[node] != node) {
		parent[node] = parent[parent[node]];
		node = parent[node];
	}
	return node;
}

/* Join the sets of a and b; false when they are one already. */
static bool join(int a, int b)
{
	a = root_of(a);
	b = root_of(b);
	if (a == b)
		return false;
	if (size[a] < size[b]) {
		int swap = a;

		a = b;
		b = swap;
	}
	parent[b] = a;
	size[a] += size[b];
	return true;
}

static void command_components(void)
{
	int count = nodes;

	make_sets();
	for (int e = 0; e < edges; e++)
		if (join(edge[e].from, edge[e].to))
			count--;
	printf("%d component%s\n", count, count == 1 ? "" : "s");
	for (int i = 0; i < nodes; i++) {
		bool leads = true;

		for (int j = 0; j < i; j++)
			if (root_of(j) == root_of(i))
				leads = false;
		if (!leads)
			continue;
		printf("%d:", size[root_of(i)]);
		for (int j = i; j < nodes; j++)
			if (root_of(j) == root_of(i))
				printf(" %s", names[j]);
		printf("\n");
	}
}

static void command_topo(void)
{
	int missing[NODES] = { 0 }, queue[NODES];
	int head = 0, tail = 0;

	for (int e = 0; e < edges; e++)
		missing[edge[e].to]++;
	for (int i = 0; i < nodes; i++)
		if (missing[i] == 0)
			queue[tail++] = i;
	while (head < tail) {
		int node = queue[head++];

		printf("%s%s", head > 1 ? " " : "", names[node]);
		for (int e = first[node]; e != NONE; e = edge[e].next)
			if (--missing[edge[e].to] == 0)
				queue[tail++] = edge[e].to;
	}
	printf("\n");
	if (tail < nodes) {
		printf("cycle:");
		for (int i = 0; i < nodes; i++)
			if (missing[i] > 0)
				printf(" %s", names[i]);
		printf("\n");
		status = 1;
	}
}

static int by_weight(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	if (edge[x].weight != edge[y].weight)
		return edge[x].weight < edge[y].weight ? -1 : 1;
	return x - y;
}

static void command_tree(void)
{
	int order[EDGES], taken = 0;
	long total = 0;

	make_sets();
	for (int e = 0; e < edges; e++)
		order[e] = e;
	qsort(order, edges, sizeof *order, by_weight);
	for (int i = 0; i < edges && taken < nodes - 1; i++) {
		const struct edge *e = &edge[order[i]];

		if (join(e->from, e->to)) {
			printf("%s %s %ld\n", names[e->from], names[e->to], e->weight);
			total += e->weight;
			taken++;
		}
	}
	printf("%d edges, weight %ld\n", taken, total);
}

/* product = a * b; product may be one of them. */
static void multiply(matrix product, matrix a, matrix b)
{
	matrix result;

	for (int i = 0; i < nodes; i++) {
		for (int j = 0; j < nodes; j++) {
			long sum = 0;

			for (int k = 0; k < nodes; k++)
				sum = (sum + a[i][k] * b[k][j]) % MODULUS;
			result[i][j] = sum;
		}
	}
	memcpy(product, result, sizeof result);
}

static void raise(matrix result, long exponent)
{
	matrix base = { { 0 } };

	for (int e = 0; e < edges; e++)
		base[edge[e].from][edge[e].to]++;
	for (int i = 0; i < nodes; i++)
		for (int j = 0; j < nodes; j++)
			result[i][j] = i == j;
	while (exponent > 0) {
		if (exponent % 2 == 1)
			multiply(result, result, base);
		multiply(base, base, base);
		exponent /= 2;
	}
}

static void command_walks(int from, int to, long length)
{
	matrix counts;

	raise(counts, length);
	printf("%ld walks of %ld from %s to %s\n", counts[from][to], length, names[from], names[to]);
}

static int node_argument(const char *name)
{
	int node = name != NULL ? find_node(name) : NONE;

	if (node == NONE)
		fail("there is no node '%s'", name != NULL ? name : "");
	return node;
}

static long length_argument(const char *text)
{
	char *end;
	long length = text != NULL ? strtol(text, &end, 10) : -1;

	if (length < 0 || *end != '\0')
		fail("expected a number of edges");
	return length;
}

/* Run the command that args begins with; returns what follows it. */
static char **run(char **args)
{
	const char *command = *args++;

	if (strcmp(command, "all") == 0) {
		command_all();
	} else if (strcmp(command, "components") == 0) {
		command_components();
	} else if (strcmp(command, "topo") == 0) {
		command_topo();
	} else if (strcmp(command, "tree") == 0) {
		command_tree();
	} else if (strcmp(command, "dist") == 0) {
		command_dist(node_argument(*args++));
	} else if (strcmp(command, "path") == 0) {
		int from = node_argument(args[0]);

		command_path(from, node_argument(args[1]));
		args += 2;
	} else if (strcmp(command, "walks") == 0) {
		int from = node_argument(args[0]), to = node_argument(args[1]);

		command_walks(from, to, length_argument(args[2]));
		args += 3;
	} else {
		fail("unknown command '%s'", command);
	}
	return args;
}

int main(int argc, char **argv)
{
	char line[200], **args = argv + (argc > 0);

	for (; *args != NULL && (*args)[0] == '-'; args++) {
		if (strcmp(*args, "-u") == 0)
			undirected = true;
		else if (strcmp(*args, "-r") == 0)
			reversed = true;
		else
			fail("unknown option '%s'", *args);
	}
	if (*args == NULL)
		fail("expected a command");
	for (int number = 1; fgets(line, sizeof line, stdin) != NULL; number++)
		read_line(line, number);
	if (nodes == 0)
		fail("the graph is empty");
	while (*args != NULL)
		args = run(args);
	return status;
}
