/* A leading blank is removed by copying a text onto itself. */
#include <stdio.h>
#include <string.h>
int main(void)
{
    char text[16] = " buoy";
#ifdef RIGHT
    memmove(text, text + 1, strlen(text));
#else
    strcpy(text, text + 1); //! overlapping-copy
#endif
    printf("%c\n", text[0]);
    return 0;
}
