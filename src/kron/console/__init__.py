"""What the programs share on a terminal. Admitted: click, and drawing. Never: a command, or a calculation."""
