"""How fast is Kron beside its peers?

Admitted: measurements, their peers, and the tables made from them. Never: an assertion on a time, or what Kron needs.
"""
