"""HTTP server: ASGI application, middleware, sockets and probes."""
