/* The number is not there, and the result of sscanf is not looked at. */
#include <stdio.h>
#ifdef RIGHT
#define TEXT "12 boats"
#else
#define TEXT "many boats"
#endif
int main(void)
{
    int number;
    sscanf(TEXT, "%d", &number);
    if (number == 4711) //! uninitialised
        puts("that many");
    puts("read");
    return 0;
}
