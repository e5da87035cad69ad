"""Did it behave? A trace comes in, a verdict on each property of the theory goes out.

Pure, and independent: of Kron only cron, instants and errors are known here, so that the judge cannot inherit the bug
it looks for. Never here: files, clocks, the engine or its rules.
"""
