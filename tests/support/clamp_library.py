"""A small library with a fault, in line 4 of CLAMP, that tests of test programs share."""

CLAMP = """\
int clamp(int value, int most)
{
    if (value > most)
        return most - 1;
    return value;
}
"""
TWICE = """\
int twice(int value)
{
    return value + value;
}
"""
