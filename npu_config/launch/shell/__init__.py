"""Launch scripts in bash: what they export and start, followed without running anything.

``syntax`` parses, ``words`` is what a shell knows at one point and what its words expand to,
``follow`` follows the statements, ``commands`` recognises what is started, ``check`` judges it.
"""
