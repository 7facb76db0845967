"""The wall, spoken to as a browser speaks to it: SOCKS5 over real sockets."""
