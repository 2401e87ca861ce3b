"""Launch scripts in bash: what they export and start, followed without running anything.

``plain`` reads statements from their text and ``syntax`` parses the others, ``state`` is what a
shell knows at one point, ``words`` expands, ``run`` follows the statements (``assignments``,
``simple`` commands, those that are ``built_in``, ``control``), ``commands`` recognises what is
started, ``check`` judges it.
"""
