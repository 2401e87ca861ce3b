"""Small synthetic data sets in the formats that public networks read.

``python -m tools.synthetic KIND PATH [--seed N] [name=value ...]`` makes one; the kinds are in
:data:`tools.synthetic.kinds.KINDS`, the words of a field (``int:10@20``) in
:mod:`tools.synthetic.fields`.  The same kind, path, seed and values give the same bytes.
Needs numpy; pictures need Pillow, ``.mat`` files scipy, ``.h5`` files h5py.
"""
