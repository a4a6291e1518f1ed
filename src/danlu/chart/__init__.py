"""SVG pictures and the self-contained page that holds them."""
