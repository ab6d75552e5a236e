/* A read behind a block whose slack nobody wrote. */
#include <stdio.h>
#include <stdlib.h>
#ifdef RIGHT
#define AT 2
#else
#define AT 3
#endif
int main(void)
{
    char *cells = calloc(3, 1);
    int seen = 0;
    if (!cells)
        return 1;
    for (int i = 0; i <= AT; i++)
        seen += cells[i] == 1; //! out-of-bounds
    printf("%d\n", seen < 10);
    free(cells);
    return 0;
}
