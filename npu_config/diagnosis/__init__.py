"""What surrounds a configuration on disk: graphs, profiling tables, logs, the host."""
