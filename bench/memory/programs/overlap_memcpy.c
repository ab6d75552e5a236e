/* A gap is closed with memcpy. */
#include <stdio.h>
#include <string.h>
#ifdef RIGHT
#define MOVE memmove
#else
#define MOVE memcpy
#endif
int main(void)
{
    char text[32] = "abcdefghijklmnop";
    MOVE(text + 2, text, 12); //! overlapping-copy
    printf("%c\n", text[2]);
    return 0;
}
