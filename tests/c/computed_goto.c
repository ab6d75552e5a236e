// A tiny interpreter that jumps through a table of labels.
#include <stdio.h>
int main(void) {
    static void *const labels[] = {&&push, &&add, &&dup, &&print, &&stop};
    static const int code[] = {0, 5, 0, 7, 1, 2, 1, 3, 4};
    int stack[8], top = 0, at = 0;
    goto *labels[code[at++]];
push:
    stack[top++] = code[at++];
    goto *labels[code[at++]];
add:
    top--;
    stack[top - 1] += stack[top];
    goto *labels[code[at++]];
dup:
    stack[top] = stack[top - 1];
    top++;
    goto *labels[code[at++]];
print:
    printf("%d\n", stack[top - 1]);
    goto *labels[code[at++]];
stop:
    return 0;
}
