// A swap through pointers: each keeps the other's origin.
int sink;
static void swap(int *a, int *b) {
    int kept = *a; //+
    *a = *b;
    *b = kept; //+
}
int main(void) {
    int x = 1; //+
    int y = 2;
    swap(&x, &y); //+
    sink = y; //?
    return x - 2;
}
