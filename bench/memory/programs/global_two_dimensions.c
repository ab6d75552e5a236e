/* The last row has no next one. */
#include <stdio.h>
#ifdef RIGHT
#define ROWS 3
#else
#define ROWS 4
#endif
static char board[3][5];
static char score[64];
int main(void)
{
    int marks = 0;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < 5; column++)
            board[row][column] = 'o'; //! out-of-bounds
    for (int i = 0; i < 64; i++)
        marks += score[i] == 'x';
    printf("%d\n", marks);
    return 0;
}
