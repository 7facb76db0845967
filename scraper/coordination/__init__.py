"""Short-lived state that servers share: rate limits, leases, cooldowns and claims on work."""
