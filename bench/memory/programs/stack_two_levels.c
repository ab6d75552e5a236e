/* The pointer is found through two others. */
#include <stdio.h>
#ifdef RIGHT
#define AT 3
#else
#define AT 5
#endif
struct leaf { int *cells; };
struct node { struct leaf *leaf; };
static void set(struct node **node, int at) { (*node)->leaf->cells[at] = 7; } //! out-of-bounds
int main(void)
{
    int cells[4] = {0, 0, 0, 0}, others[4] = {0, 0, 0, 0};
    struct leaf leaf = {cells};
    struct node node = {&leaf}, *link = &node;
    set(&link, AT);
    printf("%d\n", cells[0] + others[3]);
    return 0;
}
