// An element's value depends on the store into it and on the index that chose it.
int sink;
int main(void) {
    int a[5];
    int at = 2; //+
    int where = 1;
    for (int i = 0; i < 5; i++) //+
        a[i] = i * i; //+
    a[where] = 77;
    sink = a[at]; //?
    return 0;
}
