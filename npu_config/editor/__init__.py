"""The language server: what an editor shows of the files that it has open.

``server`` speaks the protocol, ``files`` knows what is open and has it checked by a ``worker``,
a process of its own; ``cursor`` says what stands at a place of a text, and ``completion``,
``hover``, ``links`` and ``actions`` answer from that.  What a file is checked with, and the pages
that are shown, come from the command that starts the server (``cli/lsp.py``): a finding here is
a finding of ``npu-config check``.
"""
