// Each call's slice goes to its own caller, not to the others of the same function.
int sink;
static int increase(int n) {
    return n + 1; //+
}
static int outer(int n) {
    int wrapped = increase(n); //+
    return wrapped * 2; //+
}
int main(void) {
    int first = 10;
    int second = 20; //+
    int ignored = outer(first);
    int kept = outer(second); //+
    sink = kept; //?
    return ignored != 22;
}
