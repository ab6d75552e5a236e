// Recursion without an end
//: ends signal 11
static int dig(int n) {
    volatile char area[1000];
    area[n % 1000] = (char)n;
    return dig(n + 1) + area[0]; //!
}
int main(void) { return dig(0); }
