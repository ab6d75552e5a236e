/* A number needs more digits than there is room. */
#include <stdio.h>
#ifdef RIGHT
#define NUMBER 999
#else
#define NUMBER 123456
#endif
struct label { char text[4]; int kind; char more[8]; };
int main(void)
{
    char text[4];
    char spare[8] = "";
    sprintf(text, "%d", NUMBER); //! out-of-bounds
    printf("%c %d\n", text[0], spare[7]);
    return 0;
}
