/* Floating point in regular loops: a matrix product, then a five-point stencil over the result.
   Usage: matrix ROUNDS. Prints a checksum that depends on all of the work, then the rounds, which depend on none. */
#include <stdio.h>
#include <stdlib.h>

#define SIZE 48
#define SWEEPS 8

static double left[SIZE][SIZE], right[SIZE][SIZE], product[SIZE][SIZE], smoothed[SIZE][SIZE];

static void fill(int seed)
{
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            left[i][j] = (double)((i * 7 + j * 3 + seed) % 19) / 19.0;
            right[i][j] = (double)((i * 5 + j * 11 + seed) % 23) / 23.0;
        }
}

static void multiply(void)
{
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += left[i][k] * right[k][j];
            product[i][j] = sum;
        }
}

static void smooth(void)
{
    for (int i = 1; i < SIZE - 1; i++)
        for (int j = 1; j < SIZE - 1; j++)
            smoothed[i][j] = (product[i][j] * 4 + product[i - 1][j] + product[i + 1][j] + product[i][j - 1] +
                              product[i][j + 1]) / 8;
    for (int i = 1; i < SIZE - 1; i++)
        for (int j = 1; j < SIZE - 1; j++)
            product[i][j] = smoothed[i][j];
}

static double trace(void)
{
    double sum = 0;
    for (int i = 0; i < SIZE; i++)
        sum += product[i][i];
    return sum;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    double checksum = 0;
    for (int i = 0; i < rounds; i++) {
        fill(i);
        multiply();
        for (int sweep = 0; sweep < SWEEPS; sweep++)
            smooth();
        checksum += trace();
    }
    printf("checksum %.6f\n", checksum);
    printf("rounds %d\n", rounds);
    return 0;
}
