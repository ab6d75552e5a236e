/* A function that fills what it is given is told a wrong size of a member of a static record. */
#include <stdio.h>
struct line { int number; char key[8]; char value[8]; };
static struct line line = {1, "", "kept"};
static void fill(char *to, int size, char with)
{
    for (char *end = to + size; to < end; to++)
        *to = with; //! out-of-bounds
}
int main(void)
{
    int size = sizeof line.key + sizeof line.value;
#ifdef RIGHT
    size = sizeof line.key;
#endif
    fill(line.key, size, '-');
    printf("%.8s\n", line.key);
    return 0;
}
