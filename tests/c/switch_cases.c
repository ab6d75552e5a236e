// A case runs because of the switch, and falls through.
#include <stdio.h>
static int name(int n) {
    int result = 0;
    int noise = n * 2;
    switch (n) { //+
    case 1:
        result = 10;
        break;
    case 2:
        result = 20; //+
        /* fall through */
    case 3:
        result += 3; //+
        noise++;
        break;
    case 100 ... 200:
        result = 100;
        break;
    default:
        result = -1;
    }
    noise++;
    return result; //+
}
int main(void) {
    int two = 2; //+
    printf("%d %d %d %d\n", name(1), name(3), name(150), name(7));
    int r = name(two); //+
    printf("%d\n", r); //?
    return 0;
}
