// A criterion names one execution of its line: the second one, before the third value was there.
int sink;
int main(void) {
    int n = 1;
    for (int i = 0; i < 3; i++) { //+
        sink = n; //?2
        if (i == 0) //+
            n = 2; //+
        else
            n = 3;
    }
    return 0;
}
