"""Books and papers as their publishers ship them: EPUB, PDF, DOCX and Project Gutenberg's texts, to sections."""
