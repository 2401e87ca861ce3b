"""Launch scripts in bash: what they export and start, followed without running anything.

``syntax`` parses, ``state`` is what a shell knows at one point, ``words`` expands, ``run``
follows the statements, ``commands`` recognises what is started, ``check`` judges it.
"""
