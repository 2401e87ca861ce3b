"""A folder for ``PYTHONPATH``: packages under the vendor's names that serve its modules."""
