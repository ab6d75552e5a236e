extern int shared;
static int state = 10;
static int step(int n) {
    shared = 4;
    return n - state;
}
int two(int n) { return step(n); }
int which(void) { return 2; }
