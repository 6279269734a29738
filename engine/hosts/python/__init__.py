"""Agents written in Python: one module for each framework, and a decorator for any function.

A module imports its framework; nothing else in Ringfence does.
"""
