"""Did it behave? The judge, and proofs that it can be trusted."""
