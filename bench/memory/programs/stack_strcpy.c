/* Text with its end does not fit. */
#include <stdio.h>
#include <string.h>
#ifdef RIGHT
#define NAME "harbour"
#else
#define NAME "harbours"
#endif
int main(void)
{
    char name[8];
    char rest[8] = "";
    strcpy(name, NAME); //! out-of-bounds
    printf("%c %d\n", name[0], rest[1]);
    return 0;
}
