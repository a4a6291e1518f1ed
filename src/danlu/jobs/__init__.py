"""Running many tasks of one kind: here, in a pool of processes, under Ray or as a Slurm array; the same bytes out."""
