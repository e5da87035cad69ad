"""May it run now, and what follows?

Admitted: pure rules over values that somebody else loads and stores. Never: I/O, the present except as an argument.
"""
