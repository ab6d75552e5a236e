// Atomic operations load and store at once.
#include <stdatomic.h>
#include <stdio.h>
int sink;
static atomic_int counter;
static _Atomic long wide = 5;
static _Atomic struct pair { int a, b; } both;
static atomic_flag flag = ATOMIC_FLAG_INIT;
int main(void) {
    atomic_store(&counter, 3); //+
    atomic_fetch_add(&wide, 10);
    atomic_fetch_sub(&counter, 1); //+
    int expected = 7;
    int swapped = atomic_compare_exchange_strong(&counter, &expected, 9);
    printf("%d %d\n", swapped, expected);
    expected = 2;
    swapped = atomic_compare_exchange_weak_explicit(&wide, &(long){15}, 100, memory_order_acq_rel, memory_order_relaxed);
    wide |= 8;
    wide ^= 3;
    both = (struct pair){1, 2};
    struct pair got = both;
    printf("%d %ld %d %d\n", swapped, wide, got.a, got.b);
    printf("%d %d\n", atomic_flag_test_and_set(&flag), atomic_flag_test_and_set(&flag));
    unsigned char small = 200;
    printf("%d\n", __sync_fetch_and_add(&small, 100));
    __sync_synchronize();
    printf("%d %d\n", small, __atomic_exchange_n(&expected, 4, __ATOMIC_SEQ_CST));
    sink = atomic_load(&counter); //?
    return 0;
}
