"""Jobs for engines that start processes on many machines: ssh, Slurm, Kubernetes with Volcano.

Each module turns a :class:`~npu_config.launch.environment.job.Job` into the text that the engine
takes; what a person still has to do is on the page about distributed jobs.
"""
