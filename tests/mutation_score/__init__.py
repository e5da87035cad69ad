"""Small bugs put into the code one at a time, and how many of them the tests find: `make mutation`."""
