/* A local array is given back. */
#include <stdio.h>
#include <stdlib.h>
struct text { char *bytes; int owned; };
static void drop(struct text *text)
{
    if (text->owned)
        free(text->bytes); //! wrong-free
}
int main(void)
{
    char local[32] = "local";
    struct text text = {local, 1};
#ifdef RIGHT
    text.owned = 0;
#endif
    puts(local);
    fflush(stdout);
    drop(&text);
    return 0;
}
