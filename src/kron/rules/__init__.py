"""May it run now, and what follows?

Admitted: pure rules over values that other packages load and store. Never: I/O, the present except as an argument.
"""
