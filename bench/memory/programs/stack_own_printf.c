/* A function of its own prints into a text that is too small. */
#include <stdarg.h>
#include <stdio.h>
#ifdef RIGHT
#define ROOM 40
#else
#define ROOM 12
#endif
static void put(char *to, const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    vsprintf(to, format, rest); //! out-of-bounds
    va_end(rest);
}
int main(void)
{
    struct { char text[ROOM]; } box;
    put(box.text, "%s=%d", "temperature", 21);
    puts("end");
    return 0;
}
