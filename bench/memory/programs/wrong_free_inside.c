/* The pointer has moved on before it is given back. */
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char *text = malloc(40), *start = text;
    if (!text)
        return 1;
    while (text < start + 16)
        *text++ = ' ';
    puts("filled");
    fflush(stdout);
#ifdef RIGHT
    text = start;
#endif
    free(text); //! wrong-free
    return 0;
}
