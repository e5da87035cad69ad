"""The `kron` command. Admitted: reading arguments, calling the core, drawing the answer. Never: a calculation."""
