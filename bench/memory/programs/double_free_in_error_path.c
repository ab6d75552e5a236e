/* The error path frees what the loop has freed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int read_all(const char *const *texts, int n)
{
    char *last = NULL;
    for (int i = 0; i < n; i++) {
        last = strdup(texts[i]);
        if (!last)
            return -1;
        if (last[0] == '!')
            goto failed;
        free(last);
#ifdef RIGHT
        last = NULL;
#endif
        if (texts[i][0] == '?')
            goto failed;
    }
    return 0;
failed:
    free(last); //! double-free
    return 1;
}
int main(void)
{
    const char *const texts[] = {"one", "?two", "!three"};
    printf("%d\n", read_all(texts, 3));
    return 0;
}
