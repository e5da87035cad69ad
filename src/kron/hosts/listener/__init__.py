"""What hosts that listen have in common: the socket, and the server behind it; no page, no daemon, no operator."""
