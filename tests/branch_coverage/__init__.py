"""How many branches of the package the tests of `make test` run: `make coverage`."""
