"""The environment of the processes of a job: variables, their rules, launchers."""
