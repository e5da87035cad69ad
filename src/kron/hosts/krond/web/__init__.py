"""The listener of a daemon: its door, who may come in, what is shown. Starlette and uvicorn live here alone."""
