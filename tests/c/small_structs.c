// Small structures travel in registers: their members can no longer be told apart, but nothing else comes in.
int sink;
struct pair { int a, b; };
static struct pair make(int a, int b) {
    struct pair made;
    made.a = a; //+
    made.b = b; //+
    return made; //+
}
static int second(struct pair p) { return p.b; } //+
int main(void) {
    int a = 1; //+
    int b = 2; //+
    int c = 3;
    struct pair p = make(a, b); //+
    struct pair q = make(c, c);
    sink = second(p); //?
    return q.a - 3;
}
