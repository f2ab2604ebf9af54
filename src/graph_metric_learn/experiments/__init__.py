"""The paper's experiments: protocol, records, tables and figures."""
