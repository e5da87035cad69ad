"""With what? Admitted: one file per thing outside the program. Never: one adapter importing another, or a rule."""
