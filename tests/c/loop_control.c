// What runs in a loop runs because of its test, and of every test before it.
int sink;
int main(void) {
    int limit = 4; //+
    int total = 0; //+
    int noise = 7;
    for (int i = 0; i < limit; i++) { //+
        total += 5; //+
        noise += total;
    }
    sink = total; //?
    return noise == 0;
}
