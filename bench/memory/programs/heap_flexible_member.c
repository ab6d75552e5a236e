/* The room behind the structure is reckoned without its last byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef RIGHT
#define END 1
#else
#define END 0
#endif
struct message { size_t length; char text[]; };
int main(void)
{
    const char *text = "a message of 24 letters.";
    struct message *m = malloc(sizeof *m + strlen(text) + END);
    if (!m)
        return 1;
    m->length = strlen(text);
    for (size_t i = 0; i <= m->length; i++)
        m->text[i] = text[i]; //! out-of-bounds
    printf("%d\n", (int)m->length);
    free(m);
    return 0;
}
