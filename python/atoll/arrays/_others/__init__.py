"""Distributed arrays from and to those of other libraries."""
