"""The published rules of web-scale curation: each measures a text, then decides by thresholds in the recipe."""
