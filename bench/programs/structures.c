/* Pointers and branches: a hash table with chains, a binary search tree and a heap sort over the same keys.
   Usage: structures ROUNDS. Prints a checksum that depends on all of the work, then the rounds, which depend on none. */
#include <stdio.h>
#include <stdlib.h>

#define KEYS 2000
#define BUCKETS 512

struct entry {
    unsigned key, count;
    struct entry *next;
};

struct node {
    unsigned key;
    struct node *left, *right;
};

static struct entry *buckets[BUCKETS];
static struct entry entries[KEYS];
static struct node nodes[KEYS];
static unsigned keys[KEYS];
static int entries_used, nodes_used;
static unsigned state = 12345;

static unsigned random_number(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static void count_key(unsigned key)
{
    unsigned bucket = (key * 2654435761u) >> 23;
    struct entry *entry = buckets[bucket];
    while (entry && entry->key != key)
        entry = entry->next;
    if (!entry) {
        entry = &entries[entries_used++];
        entry->key = key;
        entry->count = 0;
        entry->next = buckets[bucket];
        buckets[bucket] = entry;
    }
    entry->count++;
}

static struct node *insert(struct node *root, unsigned key)
{
    if (!root) {
        struct node *node = &nodes[nodes_used++];
        node->key = key;
        node->left = node->right = NULL;
        return node;
    }
    if (key < root->key)
        root->left = insert(root->left, key);
    else if (key > root->key)
        root->right = insert(root->right, key);
    return root;
}

static unsigned depth_sum(const struct node *root, unsigned depth)
{
    return root ? depth + depth_sum(root->left, depth + 1) + depth_sum(root->right, depth + 1) : 0;
}

static void sift(int root, int end)
{
    int child;
    while ((child = 2 * root + 1) < end) {
        if (child + 1 < end && keys[child] < keys[child + 1])
            child++;
        if (keys[root] >= keys[child])
            return;
        unsigned swapped = keys[root];
        keys[root] = keys[child];
        keys[child] = swapped;
        root = child;
    }
}

static void heap_sort(void)
{
    for (int i = KEYS / 2 - 1; i >= 0; i--)
        sift(i, KEYS);
    for (int end = KEYS - 1; end > 0; end--) {
        unsigned largest = keys[0];
        keys[0] = keys[end];
        keys[end] = largest;
        sift(0, end);
    }
}

static unsigned one_round(void)
{
    struct node *root = NULL;
    unsigned checksum = 0;
    entries_used = nodes_used = 0;
    for (int i = 0; i < BUCKETS; i++)
        buckets[i] = NULL;
    for (int i = 0; i < KEYS; i++) {
        keys[i] = random_number() % (4 * KEYS);
        count_key(keys[i]);
        root = insert(root, keys[i]);
    }
    heap_sort();
    for (int i = 0; i < KEYS; i++)
        checksum = checksum * 31 + keys[i];
    for (int i = 0; i < entries_used; i++)
        checksum += entries[i].count * entries[i].key;
    return checksum + depth_sum(root, 0);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    unsigned checksum = 0;
    for (int i = 0; i < rounds; i++)
        checksum = checksum * 7 + one_round();
    printf("checksum %u\n", checksum);
    printf("rounds %d\n", rounds);
    return 0;
}
