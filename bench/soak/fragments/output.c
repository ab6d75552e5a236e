//// flood
static long flood(long n) { for (;;) printf("line %ld\n", n++); return n; }
//// flood_errors
static long flood_errors(long n) { for (;;) fprintf(stderr, "warning %ld\n", n++); return n; }
//// flood_file
static long flood_file(long n) { FILE *f = fopen("log", "w"); for (;;) fprintf(f, "%ld %0200d\n", n++, K); return n; }
//// flood_raw
static long flood_raw(long n) { static char page[1 << 16]; for (;;) if (write(1, page, sizeof page) < 0) exit(8); return n; }
//// many_files
static long many_files(long n) { char name[32]; for (int i = 0; i < 3000; i++) { sprintf(name, "f%d-%ld", i, n); close(open(name, O_CREAT | O_WRONLY, i % 2 ? 0 : 0600)); } exit(9); }
//// sparse_file
static long sparse_file(long n) { int f = open("hole", O_CREAT | O_RDWR, 0600); if (ftruncate(f, 1L << 40) < 0) exit(10); return n; }
//// zero_bytes
static long zero_bytes(long n) { for (int i = 0; i < K; i++) { putchar(0); putchar('a' + i % 26); } return n; }
//// invalid_text
static long invalid_text(long n) { for (int i = 128; i < 256; i++) putchar(i); printf("\xff\xfe\xc3(%ld\n", n); fputs("\xf0\x28\x8c\x28 failed\n", stderr); exit(11); }
//// escape_sequences
static long escape_sequences(long n) { printf("\033[2J\033]0;title\007\033[31mred %ld\033[0m\r\b\b\x9b" "5m\n", n); fprintf(stderr, "\033c\033[1m<b>&\"'</b></script>\n"); exit(12); }
//// very_long_line
static long very_long_line(long n) { for (long i = 0; i < 300000; i++) putchar('a' + (int)((i + n) % 26)); putchar('\n'); exit(13); }
//// surrogates
static long surrogates(long n) { printf("\xed\xa0\x80 \xef\xbf\xbf \xf4\x90\x80\x80 %ld\n", n); return 1; }
//// markup
static long markup(long n) { printf("[bold]%ld[/bold] [/] [link=x]{{ n }} ${n} <script>alert(1)</script>\n", n); fprintf(stderr, "prog.c:1: [red]not markup[/nothing]\n"); exit(14); }
//// closed_output
static long closed_output(long n) { fclose(stdout); printf("lost %ld\n", n); fclose(stdin); return n; }
//// output_redirected
static long output_redirected(long n) { fflush(stdout); int f = open("elsewhere", O_CREAT | O_RDWR, 0600); dup2(f, 1); printf("hidden %ld\n", n); return n; }
//// all_closed
static long all_closed(long n) { for (int i = 0; i < 1024; i++) close(i); exit(n > 0 ? 15 : 0); }
//// descriptors_exhausted
static long descriptors_exhausted(long n) { while (dup(1) >= 0) n++; FILE *f = fopen("/dev/null", "r"); exit(f ? 0 : 16); }
//// everything_written_to
static long everything_written_to(long n) { for (int i = 3; i < 300; i++) { ssize_t w = write(i, "garbage garbage garbage garbage ", 32); n += w; } exit(17); }
//// everything_read
static long everything_read(long n) { char buffer[64]; for (int i = 3; i < 300; i++) { fcntl(i, F_SETFL, O_NONBLOCK); ssize_t got = read(i, buffer, sizeof buffer); n += got; lseek(i, 0, SEEK_SET); } exit(18); }
//// everything_truncated
static long everything_truncated(long n) { for (int i = 3; i < 300; i++) n += ftruncate(i, 0); exit(19); }
//// unbuffered_bytes
static long unbuffered_bytes(long n) { setvbuf(stdout, NULL, _IONBF, 0); for (int i = 0; i < K * 20; i++) putchar('.'); printf("%ld", n); return n; }
//// unread_input_pushed
static long unread_input_pushed(long n) { ungetc('x', stdin); lseek(0, 0, SEEK_SET); int c = getchar(), d = getchar(); printf("%d %d %ld\n", c, d, n); return c; }
