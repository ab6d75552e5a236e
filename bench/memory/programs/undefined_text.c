/* The end of a text is never written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *word = malloc(8);
    if (!word)
        return 1;
    word[0] = 'a';
    word[1] = 'b';
#ifdef RIGHT
    word[2] = 0;
#endif
    word[7] = 0;
    printf("%d\n", strlen(word) > 0); //! uninitialised
    free(word);
    return 0;
}
