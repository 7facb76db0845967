"""The same job read by many machines: blocks of whole hosts, given out by Ray Data. Nobody else knows Ray."""
