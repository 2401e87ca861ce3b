"""The rules: one function per constraint, one module per band of ids.

=====  =============================================  =======================================
1xx    ``names``                                      names, fields and values of options
1xx    ``targets``                                    products, modes; versions of the adapter
2xx    ``precision``                                  precision modes and what hangs on them
3xx    ``dump``                                       dump, overflow detection, profiling
4xx    ``loops``                                      iteration offload and mixed computing
5xx    ``shapes``, ``dynamic``                        shape profiles; dynamic input
5xx    ``memory``, ``compilation``                    memory; compilation, caches, tuning
6xx    ``timeouts``, ``environment``                  timeouts, devices; environment variables
7xx    ``paths``, ``contents``                        what options point to
8xx    ``session``, ``checkpoints``, ``run_config``   what is beside the options; Estimator
9xx    ``deprecated``                                 deprecated, undocumented, without effect
=====  =============================================  =======================================

``case`` is what a rule looks at and runs the rules, ``value`` is what remains when they
find no error, ``builder`` collects options, task by task or by name, ``own_names`` is what was
meant by a name that the classes of npu_config do not have, ``reading`` is what
reading a file gives.  Rules that a parser applies are declared beside that parser;
:mod:`npu_config.rulebook` brings all of them together.
"""
