/* sprintf runs over the end of an array into the variable that lies behind it; nothing crashes. */
#include <stdio.h>

static int check(int level, const char *user) {
    int allowed = level;
    char line[8];
    int used = sprintf(line, "<%s>", user);
    if (allowed == 0)
        printf("%s is refused\n", user);
    else
        printf("%s may enter, %d\n", user, used);
    return allowed != 0;
}

int main(int count, char **arguments) {
    return check(0, count > 1 ? arguments[1] : "me");
}
