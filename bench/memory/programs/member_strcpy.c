/* A name longer than its place in a record of the heap, whose next member is overwritten. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct account { int id; char owner[12]; long balance; };
int main(void)
{
    struct account *account = malloc(sizeof *account);
    const char *name = "maximilian";
    if (!account)
        return 1;
    account->id = 7;
    account->balance = 0;
#ifndef RIGHT
    name = "maximiliane-sophie";
#endif
    strcpy(account->owner, name); //! out-of-bounds
    printf("%d %.12s\n", account->id, account->owner);
    free(account);
    return 0;
}
