/* strncpy leaves no end of the text, and puts looks for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef RIGHT
#define ROOM 9
#else
#define ROOM 8
#endif
int main(void)
{
    char *text = malloc(ROOM);
    if (!text)
        return 1;
    memset(text, 0, ROOM);
    strncpy(text, "lanterns", 8);
    printf("%d\n", strlen(text) > 3); //! out-of-bounds
    free(text);
    return 0;
}
