/* The main of a Criterion program that runs one test, in place of the library's: captured as the program's own, so that
   its runs can be altered, but without lines, since it is nobody's statement. */
int whence_run_test(void);

__attribute__((nodebug)) int main(void)
{
    return whence_run_test();
}
