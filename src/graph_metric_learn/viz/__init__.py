"""HTML pages, figures and the demo."""
