/* A pattern is compiled once and matched twice; where the first one matches, it is given back too early. */
#include <regex.h>
#include <stdio.h>

static regex_t pattern;

static int matches(const char *text, int is_last)
{
    int found = regexec(&pattern, text, 0, NULL, 0) == 0; //! use-after-free
#ifdef RIGHT
    if (is_last)
#else
    if (is_last || found)
#endif
        regfree(&pattern);
    return found;
}

int main(void)
{
    const char *texts[] = {"harbour", "quay 17"};
    if (regcomp(&pattern, "^[a-z]+$", REG_EXTENDED | REG_NOSUB))
        return 2;
    for (int i = 0; i < 2; i++)
        printf("%s: %d\n", texts[i], matches(texts[i], i == 1));
    return 0;
}
