"""Which share of the tokens each domain gets, and when: pure arithmetic over sizes and wishes."""
