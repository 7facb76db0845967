"""What the contract documents ask for, one row a requirement, each with a client's check."""
