// A copied structure keeps its members apart.
int sink;
struct point { int x, y, z; };
struct box { struct point low, high; };
int main(void) {
    struct box b;
    b.low.x = 1;
    b.low.y = 2;
    b.low.z = 3;
    b.high.x = 4;
    b.high.y = 5; //+
    b.high.z = 6;
    struct box copy = b; //+
    struct point p = copy.high; //+
    p.x = 7;
    sink = p.y; //?
    return 0;
}
