// A large structure given by value is copied by the call, a large result is written through a hidden pointer.
int sink;
struct large { int values[20]; };
static struct large make(int first, int second) {
    struct large made;
    made.values[3] = first;
    made.values[7] = second; //+
    return made;
}
static int seventh(struct large given) {
    given.values[3] = 0;
    return given.values[7]; //+
}
int main(void) {
    int a = 3;
    int b = 4; //+
    struct large l = make(a, b); //+
    sink = seventh(l); //?
    return 0;
}
