"""The documentation: what writes the reference, and what checks that the pages are true."""
