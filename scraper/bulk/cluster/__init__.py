"""Read a job on a Ray cluster, whose processes get blocks of whole hosts. Only this package imports Ray."""
