"""Which instant do we choose in this period?

Admitted: the inputs of a choice, their texts, and the calculation itself. Never: policy, the present, records.
"""
