// A loop without an end: the time limit kills it.
//: ends killed
//: time 0.2
int main(void) {
    volatile unsigned n = 0;
    for (;;)
        n++;
}
