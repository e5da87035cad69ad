"""What serves HTTP for hosts: sockets, bounded connections. Never: click, a daemon or an operator."""
