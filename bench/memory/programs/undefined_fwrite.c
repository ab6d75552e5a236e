/* A record is written to a file before anybody filled it. */
#include <stdio.h>
struct record { char tag; long value; };
int main(void)
{
    struct record record;
#ifdef RIGHT
    record.tag = 'r'; /* and padding behind it */
    record.value = 5;
#endif
    FILE *file = tmpfile();
    if (!file)
        return 1;
    fwrite(&record, sizeof record, 1, file); //! uninitialised
    fclose(file);
    return 0;
}
