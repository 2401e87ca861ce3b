"""Documented troubles of training that no configuration shows.

Each situation is declared once: its rule (id, severity, page) and where it shows: ``text`` (the
script), ``graph`` (a stored one), ``run`` (what sessions did), ``ranks`` (several runs compared).
Nothing is recognised here: recognisers live where their input does, ``script.checks`` for the
text, ``diagnosis.graph`` for graphs, ``runner`` for runs and ranks, and make findings of these
rules.  A rule that another room declares names its situation by ``situation=``.
"""
