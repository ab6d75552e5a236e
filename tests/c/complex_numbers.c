// Complex numbers are pairs, passed in registers or memory by their width.
#include <complex.h>
#include <stdio.h>
static double complex square(double complex z) { return z * z; }
static float complex turn(float complex z) { return z * I; }
static long double complex wide(long double complex z) { return z + 1.0L; }
int main(void) {
    double complex z = square(3 + 4 * I);
    float complex f = turn(1.5f + 2 * I);
    long double complex l = wide(2.5L * I);
    double complex q = z / (1 + I);
    printf("%g %g %g %g\n", creal(z), cimag(z), (double)crealf(f), (double)cimagf(f));
    printf("%g %g %g %g\n", (double)creall(l), (double)cimagl(l), creal(q), cimag(q));
    return 0;
}
