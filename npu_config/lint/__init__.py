"""What surrounds a run of checks: the project's settings, baselines, ignore comments, walking."""
