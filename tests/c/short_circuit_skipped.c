// The right operand that did not run has no part in the value.
int sink;
int main(void) {
    int a = 0; //+
    int b = 2;
    int flag = a > 0 && b > 1; //+
    sink = flag; //?
    return 0;
}
