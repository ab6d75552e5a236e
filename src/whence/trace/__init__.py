"""What a run recorded, as columns: decoding, memory history, dependence, slices."""
