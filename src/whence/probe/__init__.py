"""What is inserted into the IR, and the C runtime that it calls."""
