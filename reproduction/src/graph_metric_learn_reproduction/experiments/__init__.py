"""The paper's experiments: what is run (settings), how (protocol), results on disk (records), tables, the page."""
