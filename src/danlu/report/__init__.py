"""What a run's files say, as pictures, tables and sentences."""
