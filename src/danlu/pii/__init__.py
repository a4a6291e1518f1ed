"""Personal data in texts: found, counted, masked with typed placeholders, or a reason to drop a document."""
