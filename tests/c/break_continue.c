// break and continue decide over the rest of their loop.
int sink;
int main(void) {
    int values[] = {3, -1, 4, 0, 5}; //+
    int total = 0; //+
    int skipped = 0;
    for (int i = 0; i < 5; i++) { //+
        if (values[i] < 0) { //+
            skipped++;
            continue;
        }
        if (values[i] == 0) //+
            break;
        total += values[i]; //+
    }
    sink = total; //?
    return skipped != 1;
}
