/* A wide text is copied into an array of too few wide characters. */
#include <wchar.h>
#include <stdio.h>
#ifdef RIGHT
#define ROOM 16
#else
#define ROOM 8
#endif
int main(void)
{
    wchar_t name[ROOM];
    const wchar_t *given = L"wide text";
    wcscpy(name, given); //! out-of-bounds
    printf("%d\n", (int)wcslen(name));
    return 0;
}
