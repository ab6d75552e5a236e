/* invoice: reads the lines of an invoice and prints what is to be paid.

       item NAME QUANTITY CENTS     an article, its quantity and its price
       coupon PERCENT               a reduction on the articles
       express                      quick delivery
       pay                          prints the sums and starts the next invoice */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum delivery { STANDARD, EXPRESS };

struct invoice {
    int number;
    int articles; /* cents, before reductions */
    int pieces;
    int percent; /* of the coupon */
    enum delivery delivery;
};

/* Large quantities are cheaper. */
static int quantity_reduction(int quantity)
{
    if (quantity >= 100)
        return 10;
    if (quantity >= 20)
        return 5;
    return 0;
}

static void add_item(struct invoice *invoice, int quantity, int cents)
{
    int sum = quantity * cents;
    sum -= sum * quantity_reduction(quantity) / 100;
    invoice->articles += sum;
    invoice->pieces += quantity;
}

static int shipping(const struct invoice *invoice)
{
    int cost = 490;
    if (invoice->delivery == EXPRESS)
        cost += 800;
    else if (invoice->articles >= 10000)
        cost = 0;
    if (invoice->pieces > 50)
        cost += 1500;
    return cost;
}

static void print_line(const char *what, int cents)
{
    printf("  %-10s %7d.%02d\n", what, cents / 100, abs(cents) % 100);
}

static void pay(struct invoice *invoice)
{
    int delivery = shipping(invoice);
    int reduction = 0;
    if (invoice->percent > 0)
        reduction = (invoice->articles + delivery) * invoice->percent / 100;
    printf("invoice %d\n", invoice->number);
    print_line("articles", invoice->articles);
    print_line("coupon", -reduction);
    print_line("delivery", delivery);
    print_line("to pay", invoice->articles - reduction + delivery);
    *invoice = (struct invoice){.number = invoice->number + 1};
}

int main(void)
{
    struct invoice invoice = {.number = 1};
    char line[100], name[40];
    int quantity, cents;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "item %39s %d %d", name, &quantity, &cents) == 3) {
            add_item(&invoice, quantity, cents);
        } else if (strncmp(line, "coupon ", 7) == 0) {
            invoice.percent = atoi(line + 7);
        } else if (strcmp(line, "express\n") == 0) {
            invoice.delivery = EXPRESS;
        } else if (strcmp(line, "pay\n") == 0) {
            pay(&invoice);
        } else {
            fprintf(stderr, "invoice: cannot read: %s", line);
            return 1;
        }
    }
    return 0;
}
