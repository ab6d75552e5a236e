"""The static view of a captured program: IR reader, CFG, control dependence, debug information."""
