// A pointer to a local of an outer frame, written in an inner one, across a recursion.
int sink;
static void fill(int depth, int *out) {
    if (depth == 0) { //+
        *out = 42; //+
        return;
    }
    int own = depth;
    fill(depth - 1, out); //+
    own++;
}
int main(void) {
    int result = 0;
    int depth = 3; //+
    fill(depth, &result); //+
    sink = result; //?
    return 0;
}
