"""What servers tell each other from one second to the next: limits, leases, rests, claims."""
