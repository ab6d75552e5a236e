/* stats - describe the numbers of a column of text.

   usage: stats [options] < data

     -c N           read column N (1)
     -d CHAR        columns are separated by CHAR instead of white space
     -s             skip the first line
     -p DIGITS      digits behind the point, 0 to 9 (3)
     -t PERCENT     leave out so many percent of the values at each end, below 50
     -q P[,P...]    quantiles, each from 0 to 1
     -b BINS        histogram with so many bars, 1 to 40
     -r N           linear regression of the column on column N
     -o             list outliers by the rule of the quartiles
     -m SIZE        moving mean over SIZE values
     -u             sample figures: divide sums of squares by n - 1

   Without -q, -b, -r, -o and -m a summary is printed. Empty lines and lines that start with # are left out,
   lines without a number in the column are counted as missing. Exit status: 1 without values, 2 for wrong use. */

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 400, MAX_QUANTILES = 10, MAX_BINS = 40, BAR_WIDTH = 30 };

struct options {
    int column, other_column;       /* other_column is 0 without a regression */
    char separator;                 /* 0 for white space */
    bool skip_header, sample, outliers;
    int digits;
    double trim;                    /* share at each end */
    double quantiles[MAX_QUANTILES];
    int quantile_count;
    int bins, window;
};

struct series {
    double *values;
    size_t length, capacity;
};

struct moments {
    double mean, variance, skewness;
};

static _Noreturn void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("stats: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

/* ---- input ---- */

static void series_add(struct series *series, double value)
{
    if (series->length == series->capacity) {
        series->capacity = series->capacity ? 2 * series->capacity : 16;
        series->values = realloc(series->values, series->capacity * sizeof *series->values);
        if (!series->values)
            fail("out of memory");
    }
    series->values[series->length++] = value;
}

/* Finds column `wanted` of a line and copies it to `field`; returns false when the line has fewer columns. */
static bool find_field(const char *line, int wanted, char separator, char *field)
{
    const char *at = line;
    for (int column = 1;; column++) {
        size_t length;
        if (separator) {
            length = strcspn(at, (char[]){separator, '\n', '\0'});
        } else {
            at += strspn(at, " \t");
            length = strcspn(at, " \t\n");
            if (length == 0)
                return false;
        }
        if (column == wanted) {
            memcpy(field, at, length);
            field[length] = '\0';
            return true;
        }
        at += length;
        if (*at == '\0' || *at == '\n')
            return false;
        if (separator)
            at++;
    }
}

/* Reads a finite number with nothing but spaces around it. */
static bool parse_number(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    if (end == text)
        return false;
    while (isspace((unsigned char)*end))
        end++;
    return *end == '\0' && isfinite(*number);
}

static bool read_value(const char *line, int column, const struct options *options, double *value)
{
    char field[MAX_LINE];
    return find_field(line, column, options->separator, field) && parse_number(field, value);
}

/* Reads the values, and those of the other column where there is one; returns the number of missing ones. */
static int read_series(const struct options *options, struct series *values, struct series *others)
{
    char line[MAX_LINE];
    int missing = 0;
    bool first = true;

    while (fgets(line, sizeof line, stdin)) {
        double value, other = 0;
        bool header = first && options->skip_header;
        first = false;
        if (header || line[0] == '#' || line[strspn(line, " \t\n")] == '\0')
            continue;
        if (!read_value(line, options->column, options, &value) ||
            (options->other_column > 0 && !read_value(line, options->other_column, options, &other))) {
            missing++;
            continue;
        }
        series_add(values, value);
        if (options->other_column > 0)
            series_add(others, other);
    }
    return missing;
}

/* ---- figures ---- */

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static struct series sorted_copy(const struct series *series)
{
    struct series copy = {malloc(series->length * sizeof(double) + 1), series->length, series->length};
    if (!copy.values)
        fail("out of memory");
    memcpy(copy.values, series->values, series->length * sizeof(double));
    qsort(copy.values, copy.length, sizeof(double), compare);
    return copy;
}

/* Leaves out a share of the sorted values at each end. */
static void trim(struct series *sorted, double share)
{
    size_t cut = (size_t)floor(share * (double)sorted->length);
    memmove(sorted->values, sorted->values + cut, (sorted->length - 2 * cut) * sizeof(double));
    sorted->length -= 2 * cut;
}

/* Quantile `p` of sorted values, interpolated between the two nearest. */
static double quantile(const struct series *sorted, double p)
{
    double position = p * (double)(sorted->length - 1);
    size_t below = (size_t)position;
    double share = position - (double)below;
    if (below + 1 >= sorted->length)
        return sorted->values[sorted->length - 1];
    return sorted->values[below] + share * (sorted->values[below + 1] - sorted->values[below]);
}

/* What sums of squares are divided by. */
static double divisor(size_t length, bool sample)
{
    return sample && length > 1 ? (double)length - 1 : (double)length;
}

static struct moments moments(const struct series *series, bool sample)
{
    struct moments result = {0};
    double n = (double)series->length, squares = 0, cubes = 0;

    for (size_t i = 0; i < series->length; i++)
        result.mean += series->values[i] / n;
    for (size_t i = 0; i < series->length; i++) {
        double deviation = series->values[i] - result.mean;
        squares += deviation * deviation;
        cubes += deviation * deviation * deviation;
    }
    result.variance = squares / divisor(series->length, sample);
    if (squares > 0)
        result.skewness = (cubes / n) / pow(squares / n, 1.5);
    return result;
}

/* The most frequent value of sorted ones, the smallest of several; `count` receives how often it occurs. */
static double mode(const struct series *sorted, int *count)
{
    double best = sorted->values[0];
    int run = 0;
    *count = 0;
    for (size_t i = 0; i < sorted->length; i++) {
        if (i > 0 && sorted->values[i] == sorted->values[i - 1])
            run++;
        else
            run = 1;
        if (run > *count) {
            *count = run;
            best = sorted->values[i];
        }
    }
    return best;
}

/* ---- output ---- */

static void print_figure(const char *name, double value, const struct options *options)
{
    if (fabs(value) < 0.5 * pow(10, -options->digits))
        value = 0;      /* no negative zero */
    printf("%-10s %*.*f\n", name, 12, options->digits, value);
}

static void print_summary(const struct series *sorted, const struct options *options)
{
    struct moments figures = moments(sorted, options->sample);
    int count;
    double most = mode(sorted, &count);

    print_figure("minimum", sorted->values[0], options);
    print_figure("quartile 1", quantile(sorted, 0.25), options);
    print_figure("median", quantile(sorted, 0.5), options);
    print_figure("quartile 3", quantile(sorted, 0.75), options);
    print_figure("maximum", sorted->values[sorted->length - 1], options);
    print_figure("mean", figures.mean, options);
    print_figure("deviation", sqrt(figures.variance), options);
    print_figure("skewness", figures.skewness, options);
    if (figures.mean != 0)
        print_figure("variation", sqrt(figures.variance) / fabs(figures.mean), options);
    if (count > 1)
        print_figure("mode", most, options);
}

static void print_quantiles(const struct series *sorted, const struct options *options)
{
    for (int i = 0; i < options->quantile_count; i++) {
        char name[24];
        snprintf(name, sizeof name, "q %g", options->quantiles[i]);
        print_figure(name, quantile(sorted, options->quantiles[i]), options);
    }
}

static void print_histogram(const struct series *sorted, const struct options *options)
{
    int counts[MAX_BINS] = {0}, highest = 0;
    double low = sorted->values[0], high = sorted->values[sorted->length - 1];
    double width = high > low ? (high - low) / options->bins : 1;

    for (size_t i = 0; i < sorted->length; i++) {
        int bin = (int)((sorted->values[i] - low) / width);
        if (bin >= options->bins)
            bin = options->bins - 1;    /* the maximum belongs to the last bar */
        counts[bin]++;
        if (counts[bin] > highest)
            highest = counts[bin];
    }
    for (int bin = 0; bin < options->bins; bin++) {
        int length = (counts[bin] * BAR_WIDTH + highest / 2) / highest;
        printf("%12.*f %5d ", options->digits, low + bin * width, counts[bin]);
        while (length-- > 0)
            putchar('*');
        putchar('\n');
    }
}

/* Least squares: value = a + b * other. */
static void print_regression(const struct series *values, const struct series *others,
                             const struct options *options)
{
    double mean_x = moments(others, false).mean, mean_y = moments(values, false).mean;
    double xx = 0, xy = 0, yy = 0;

    for (size_t i = 0; i < values->length; i++) {
        double x = others->values[i] - mean_x, y = values->values[i] - mean_y;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    if (xx == 0) {
        printf("no regression: column %d does not vary\n", options->other_column);
        return;
    }
    double slope = xy / xx;
    double rest = yy - slope * xy;
    print_figure("intercept", mean_y - slope * mean_x, options);
    print_figure("slope", slope, options);
    print_figure("r squared", yy > 0 ? xy * xy / (xx * yy) : 1, options);
    if (values->length > 2)
        print_figure("error", sqrt(fmax(rest, 0) / ((double)values->length - 2)), options);
}

/* Values beyond one and a half times the distance of the quartiles, and far ones beyond three times. */
static void print_outliers(const struct series *sorted, const struct options *options)
{
    double first = quantile(sorted, 0.25), third = quantile(sorted, 0.75);
    double reach = 1.5 * (third - first);
    int found = 0;

    for (size_t i = 0; i < sorted->length; i++) {
        double value = sorted->values[i];
        if (value >= first - reach && value <= third + reach)
            continue;
        found++;
        bool far = value < first - 2 * reach || value > third + 2 * reach;
        print_figure(far ? "far" : "outlier", value, options);
    }
    printf("%d outlier%s\n", found, found == 1 ? "" : "s");
}

/* The mean of each value and those before it, as many as fit into the window. */
static void print_moving_mean(const struct series *values, const struct options *options)
{
    double sum = 0;
    size_t window = (size_t)options->window;
    for (size_t i = 0; i < values->length; i++) {
        sum += values->values[i];
        if (i >= window)
            sum -= values->values[i - window];
        if (i + 1 >= window)
            print_figure("moving", sum / (double)window, options);
    }
}

/* ---- the command line ---- */

static int whole_option(const char *text, char option, int minimum, int maximum)
{
    double number;
    if (!text || !parse_number(text, &number) || number != floor(number) ||
        number < minimum || number > maximum)
        fail("option -%c needs a whole number from %d to %d", option, minimum, maximum);
    return (int)number;
}

static void quantile_option(char *text, struct options *options)
{
    if (!text)
        fail("option -q needs a list of numbers");
    for (char *part = strtok(text, ","); part; part = strtok(NULL, ",")) {
        double p;
        if (!parse_number(part, &p) || p < 0 || p > 1)
            fail("quantile %s is not from 0 to 1", part);
        if (options->quantile_count == MAX_QUANTILES)
            fail("more than %d quantiles", MAX_QUANTILES);
        options->quantiles[options->quantile_count++] = p;
    }
}

static void parse_options(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || !argv[i][1] || argv[i][2])
            fail("unknown argument %s", argv[i]);
        switch (argv[i][1]) {
        case 's': options->skip_header = true; break;
        case 'u': options->sample = true; break;
        case 'o': options->outliers = true; break;
        case 'c': options->column = whole_option(argv[++i], 'c', 1, 100); break;
        case 'r': options->other_column = whole_option(argv[++i], 'r', 1, 100); break;
        case 'p': options->digits = whole_option(argv[++i], 'p', 0, 9); break;
        case 'b': options->bins = whole_option(argv[++i], 'b', 1, MAX_BINS); break;
        case 'm': options->window = whole_option(argv[++i], 'm', 1, 1000); break;
        case 't': options->trim = whole_option(argv[++i], 't', 0, 49) / 100.0; break;
        case 'q': quantile_option(argv[++i], options); break;
        case 'd':
            if (++i == argc || strlen(argv[i]) != 1)
                fail("option -d needs one character");
            options->separator = argv[i][0];
            break;
        default: fail("unknown option -%c", argv[i][1]);
        }
    }
}

static void report(const struct series *values, const struct series *others, const struct options *options)
{
    struct series sorted = sorted_copy(values);
    trim(&sorted, options->trim);
    if (options->quantile_count > 0)
        print_quantiles(&sorted, options);
    if (options->bins > 0)
        print_histogram(&sorted, options);
    if (options->other_column > 0)
        print_regression(values, others, options);
    if (options->outliers)
        print_outliers(&sorted, options);
    if (options->window > 0)
        print_moving_mean(values, options);
    if (!(options->quantile_count || options->bins || options->other_column || options->outliers ||
          options->window))
        print_summary(&sorted, options);
    free(sorted.values);
}

int main(int argc, char **argv)
{
    struct options options = {.column = 1, .digits = 3};
    struct series values = {0}, others = {0};

    parse_options(argc, argv, &options);
    int missing = read_series(&options, &values, &others);
    printf("%zu values", values.length);
    if (missing > 0)
        printf(", %d missing", missing);
    putchar('\n');
    if (values.length > 0)
        report(&values, &others, &options);
    int status = values.length > 0 ? 0 : 1;
    free(values.values);
    free(others.values);
    return status;
}
