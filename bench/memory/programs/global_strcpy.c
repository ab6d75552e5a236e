/* Names of a fixed length in static memory. */
#include <stdio.h>
#include <string.h>
#ifdef RIGHT
#define TEXT "pier"
#else
#define TEXT "piers and docks"
#endif
char current[8];
char previous[16];
int main(void)
{
    strcpy(current, TEXT); //! out-of-bounds
    printf("%c %d\n", current[0], previous[15]);
    return 0;
}
