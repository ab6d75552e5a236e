extern int shared;
static int state = 1;
static int step(int n) {
    state *= 3;
    return n * state;
}
int one(int n) { return step(step(n)); }
int (*pick(int n))(int) { return n ? one : step; }
