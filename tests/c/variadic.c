// What va_arg yields comes from the arguments of the right call.
#include <stdarg.h>
#include <stdio.h>
static int sum(int count, ...) {
    int total = 0; //+
    va_list list;
    va_start(list, count); //+
    for (int i = 0; i < count; i++) //+
        total += va_arg(list, int); //+
    va_end(list);
    return total; //+
}
static double mean(int count, ...) {
    double total = 0;
    va_list list, copy;
    va_start(list, count);
    va_copy(copy, list);
    for (int i = 0; i < count; i++)
        total += va_arg(copy, double);
    va_end(copy);
    va_end(list);
    return total / count;
}
static int deep(const char *format, va_list list) {
    int result = 0;
    for (; *format; format++)
        result = result * 10 + (*format == 'i' ? va_arg(list, int) : (int)va_arg(list, long));
    return result;
}
static int many(const char *format, ...) {
    va_list list;
    va_start(list, format);
    int result = deep(format, list);
    va_end(list);
    return result;
}
int main(void) {
    int other = 1;
    int a = 20; //+
    int b = 30; //+
    int unused = sum(1, other);
    int total = sum(2, a, b); //+
    printf("%d %g\n", unused, mean(3, 1.5, 2.5, 3.5));
    printf("%d\n", many("iliililiilil", 1, 2L, 3, 4, 5L, 6, 7L, 8, 9, 1L, 2, 3L));
    printf("%d\n", total); //?
    return 0;
}
