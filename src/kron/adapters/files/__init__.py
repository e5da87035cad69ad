"""Files of this host that other users may have written: which ones are job files, and which users to trust."""
