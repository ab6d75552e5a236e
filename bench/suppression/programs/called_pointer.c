/* A text runs over a table of functions. */
#include <stdio.h>
#include <string.h>
#ifdef RIGHT
#define TITLE "small"
#else
#define TITLE "a title that does not fit"
#endif
static int twice(int n) { return 2 * n; }
static int thrice(int n) { return 3 * n; }
static struct {
    char title[12];
    int (*actions[2])(int);
} menu = {"", {twice, thrice}};
int main(void)
{
    int sum = 0;
    snprintf(menu.title, sizeof menu.title + (sizeof TITLE > 12 ? 20 : 0), "%s", TITLE); //! out-of-bounds
    for (int i = 0; i < 50; i++)
        sum += i;
    sum += menu.actions[1](sum);
    printf("%d\n", sum);
    return 0;
}
