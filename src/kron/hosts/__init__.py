"""For whom? Admitted: composition, and what people type and see. Never: a rule that another host would need too."""
