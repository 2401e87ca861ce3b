"""What dump and overflow settings left on disk: listed, read, exported, explained, compared.

Headers, lists, overflow records and graphs are read without numpy; arrays, statistics and
comparisons need it (``pip install "npu_config[compare]"``).  Nothing here needs the vendor's
library.
"""
