// A loop's body runs because the test let it run again; the first time it just runs.
#include <stdio.h>
int main(void) {
    int n = 5; //+
    int product = 1; //+
    int noise = 0;
    do {
        product *= n; //+
        noise += product;
        n--; //+
    } while (n > 1); //+
    int other = noise;
    printf("%d\n", product); //?
    return other == 0;
}
