"""Launch scripts in bash: what they export and start, followed without running anything.

``syntax`` parses, ``state`` is what a shell knows at one point, ``words`` expands, ``run`` reads
and follows the statements (``assignments``, ``simple`` commands, ``control``), ``commands``
recognises what is started, ``check`` judges it.
"""
