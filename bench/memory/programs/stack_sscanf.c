/* A word without a width. */
#include <stdio.h>
#ifdef RIGHT
#define FORMAT "%4s"
#else
#define FORMAT "%s"
#endif
int main(void)
{
    char word[5];
    char after[8] = "";
    if (sscanf("lantern 12", FORMAT, word) != 1) //! out-of-bounds
        return 1;
    printf("%c %d\n", word[0], after[7]);
    return 0;
}
