/* A field that another path fills is followed while it is still null. */
#include <stdio.h>
#include <stdlib.h>
struct parser {
    struct parser *parent;
    int depth;
};
static struct parser *open_parser(struct parser *parent)
{
    struct parser *made = calloc(1, sizeof *made);
#ifdef RIGHT
    made->parent = parent ? parent : made;
#else
    made->parent = parent; //! null-pointer
#endif
    made->depth = parent ? parent->depth + 1 : 0;
    return made;
}
static int outer_depth(struct parser *parser, int levels)
{
    for (int i = 0; i < levels; i++)
        parser = parser->parent;
    return parser->depth;
}
int main(void)
{
    struct parser *outer = open_parser(NULL), *inner = open_parser(outer);
    printf("%d\n", outer_depth(inner, 2));
    return 0;
}
