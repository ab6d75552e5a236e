// Values that travel through globals, with overwritten ones left out.
int sink;
static int level, other;
static void raise(int by) { level += by; } //+
static void reset(void) { level = 2; } //+
int main(void) {
    level = 50;
    other = 3;
    reset(); //+
    raise(4); //+
    other += level;
    sink = level; //?
    return 0;
}
