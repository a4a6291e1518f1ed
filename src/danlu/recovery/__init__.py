"""What a run does when it is stopped, killed, or computes a number that is not finite."""
