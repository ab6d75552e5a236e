// Floating point of every width, with the rounding of the plain program.
#include <math.h>
#include <stdio.h>
int sink;
static long double series(int n) {
    long double total = 0;
    for (int i = 1; i <= n; i++)
        total += 1.0L / i / i;
    return total;
}
static float half(float x) { return x * 0.5f + 0.1f; }
int main(void) {
    double a = 0.1, b = 0.2, c = 0;
    volatile float f = 16777216.0f;
    f += 1.0f;
    for (int i = 0; i < 10; i++)
        c = c * a + b;
    long double l = series(50);
    long double copy = l;
    printf("%.17g %.17g %.9g %.21Lg\n", a + b, c, f, copy);
    printf("%.9g %d %d %.17g\n", half(0.3f), (int)-2.7, (unsigned char)3.9, sqrt(2) * sin(1));
    printf("%d %d %g %g\n", 0.0 == -0.0, isnan(0.0 / c * 0.0) != 0, 1 / -0.0, fmod(7.5, 2));
    double x = 2.5; //+
    float narrow = (float)x; //+
    long double wide = narrow; //+
    double ignored = wide * 2;
    sink = (int)wide; //?
    return ignored > 10;
}
