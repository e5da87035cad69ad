"""Jobs with periods: what each of them is about to do, does and did. May hold what krond and the operator have in
common; no process, no cluster.
"""
