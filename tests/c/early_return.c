// A return that was not taken decided over what follows it.
int sink;
static int check(int a, int b) {
    if (a < 0) //+
        return -1;
    int unused = a * 2;
    if (b == 7) //+
        return b + 1; //+
    return unused;
}
int main(void) {
    int a = 1; //+
    int b = 7; //+
    int c = 3;
    sink = check(a, b); //?
    return c - 3;
}
