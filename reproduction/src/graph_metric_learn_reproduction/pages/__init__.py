"""How results are shown: prose with tables as Markdown, the same as one HTML page, and figures."""
