"""What times does the text name?

Admitted: the cron language, civil time, and the search for occurrences. Never: windows, chance, policy, the present.
"""
