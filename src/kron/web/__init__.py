"""Pages of any scheduler, and what serves HTTP for hosts. Never: click, a daemon or an operator."""
