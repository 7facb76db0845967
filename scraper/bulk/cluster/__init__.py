"""Read a job on a Ray cluster: Ray Data distributes blocks of whole hosts. Only this package imports Ray."""
