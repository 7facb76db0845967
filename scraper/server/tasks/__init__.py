"""Tool calls that outlive their request: their state is in the store, so that any server answers for them."""
