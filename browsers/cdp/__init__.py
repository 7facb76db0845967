"""Chrome DevTools Protocol: sessions with a browser and its tabs, and their transports."""
