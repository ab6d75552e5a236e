// The right operand of && runs because the left one was true.
int sink;
int main(void) {
    int a = 1; //+
    int b = 2; //+
    int c = 3;
    int flag = a > 0 && b > 1; //+
    int lazy = a < 0 && c > 1;
    sink = flag; //?
    return lazy;
}
