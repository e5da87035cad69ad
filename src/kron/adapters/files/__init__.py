"""Files of this host that others may have written: which ones are job files, and whom to trust."""
