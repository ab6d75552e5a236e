/* A structure that outlives the function points to a local array. */
#include <stdio.h>
struct view { const char *text; int length; };
static void describe(struct view *view, int number)
{
#ifdef RIGHT
    static char text[20];
#else
    char text[20];
#endif
    view->length = snprintf(text, sizeof text, "number %d", number);
    view->text = text;
}
int main(void)
{
    struct view view;
    describe(&view, 5);
    char first = view.text[0]; //! use-after-return
    printf("%d %d\n", view.length, first == first);
    return 0;
}
