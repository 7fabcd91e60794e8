"""Adapters to other frameworks, one module each. A module imports its framework; `arbitre` imports none of them."""
