"""The vocabulary in which JSON files and rank tables are declared, and what reads by it.

A format is a :class:`~npu_config.sidefiles.schema.kinds.Schema`: its keys, what each holds,
which must be there, since when, and where that is known from.  ``reading`` judges a document
by one.
"""
