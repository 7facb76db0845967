"""Tools: from the arguments of a call to an answer, independent of the protocol."""
