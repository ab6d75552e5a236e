/* The pointer lies in a structure that is handed on. */
#include <stdio.h>
#ifdef RIGHT
#define ROOM 10
#else
#define ROOM 12
#endif
struct buffer { char *at; int room; };
static void fill(struct buffer *buffer)
{
    for (int i = 0; i < buffer->room; i++)
        buffer->at[i] = 'x'; //! out-of-bounds
}
int main(void)
{
    char bytes[10];
    char after[16] = "";
    struct buffer buffer = {bytes, ROOM};
    fill(&buffer);
    printf("%c %d\n", bytes[0], after[15]);
    return 0;
}
