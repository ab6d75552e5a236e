"""A debugger over the recording of a run: forwards and backwards, by the Debug Adapter Protocol."""
