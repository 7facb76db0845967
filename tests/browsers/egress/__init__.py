"""The egress proxy, used like a browser uses it: SOCKS5 over real sockets."""
