"""What a run will cost, before it starts: parameters, FLOPs, memory, time."""
