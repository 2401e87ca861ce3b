"""What every other room builds on: findings, rule declarations, settings, target, files.

Standard library and attrs only; nothing here knows an option, a format or a file of the vendor's.
"""
