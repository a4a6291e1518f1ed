"""One file of one format to texts and damages: which bytes are a document, and which are lost."""
