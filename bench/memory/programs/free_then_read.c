/* The length of a list is asked for after the list is gone. */
#include <stdio.h>
#include <stdlib.h>
struct list { int length; int *cells; };
#ifdef RIGHT
#define EARLY(list) list->length
#else
#define EARLY(list) 0
#endif
int main(void)
{
    struct list *list = malloc(sizeof *list);
    if (!list)
        return 1;
    list->length = 3;
    list->cells = NULL;
    int length = EARLY(list);
    free(list);
    if (!length)
        length = list->length; //! use-after-free
    printf("%d\n", length != 77);
    return 0;
}
