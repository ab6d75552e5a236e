"""The meaning of a recorded run as logic: terms over bit-vectors, an encoder from traces, domains that decide them."""
