/* A function returns the address of its own array. */
#include <stdio.h>
#ifdef RIGHT
#define STORAGE static
#else
#define STORAGE
#endif
static char *spell(int number)
{
    STORAGE char text[8];
    char *place = text;
    text[0] = (char)('0' + number);
    text[1] = 0;
    return place;
}
int main(void)
{
    char *text = spell(4);
    printf("%d\n", text[0] < 1000); //! use-after-return
    return 0;
}
