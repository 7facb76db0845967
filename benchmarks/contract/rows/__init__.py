"""Requirements of the contract documents: one row each, with a check from a client."""
