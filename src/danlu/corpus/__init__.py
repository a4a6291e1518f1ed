"""The pipeline from sources to a clean corpus, and its funnel."""
