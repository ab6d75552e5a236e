/* A structure in static memory keeps the place of the next byte. */
#include <stdio.h>
struct pen { char *next; int written; };
static char paper[12];
static char margin[12];
static struct pen pen = {paper, 0};
#ifdef RIGHT
#define WORDS 2
#else
#define WORDS 3
#endif
static void draw(const char *text)
{
    while (*text) {
        *pen.next++ = *text++; //! out-of-bounds
        pen.written++;
    }
}
int main(void)
{
    for (int i = 0; i < WORDS; i++)
        draw("wave ");
    printf("%d\n", margin[11]);
    return 0;
}
