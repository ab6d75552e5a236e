/* A structure with the pointer is copied before it is used. */
#include <stdio.h>
#include <string.h>
#ifdef RIGHT
#define AT 2
#else
#define AT 3
#endif
struct view { long stamp; int *first; int count; };
static int last(struct view view) { return view.first[AT]; } //! out-of-bounds
int main(void)
{
    int cells[3] = {1, 2, 3};
    struct view one = {5, cells, 3}, two, three[2];
    two = one;
    memcpy(&three[1], &two, sizeof two);
    printf("%d\n", last(three[1]) != 77);
    return 0;
}
