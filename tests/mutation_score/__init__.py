"""The mutation score: small bugs in the code, one at a time, and how many of them the tests find: `make mutation`."""
