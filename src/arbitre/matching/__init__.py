"""Matching of two lists: which items are paired, and which are missing or spurious.

The names are listed in `__init__.pyi`. Each is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
