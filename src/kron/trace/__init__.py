"""From a running scheduler to a judged trace. Admitted: what records, completes and judges it. Never: a rule."""
