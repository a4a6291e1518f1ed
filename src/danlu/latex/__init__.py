"""LaTeX sources to text: macros expanded, formulae kept as source, layout, figures and the bibliography left out."""
