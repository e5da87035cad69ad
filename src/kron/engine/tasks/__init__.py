"""Tasks under the declarative contracts: one mutable record each, at most one run owed."""
