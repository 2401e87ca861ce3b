"""Python as it is written: text and places, nodes, what a scope binds.  Nothing is run."""
