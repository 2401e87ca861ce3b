"""Scripts for the NPU run on any machine, unchanged.

``finder`` serves the vendor's modules, ``script`` runs a file as ``python`` would, ``watch`` sees
the sessions that it makes, ``run`` fills in what a launcher would have set and puts these
together, ``ranks`` starts several processes, ``report`` is what was seen.
"""
