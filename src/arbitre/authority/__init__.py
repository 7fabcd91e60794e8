"""Authority files for the normaliser `authority`."""

from arbitre.authority.authority_file import OPTIONS, Authority, AuthorityFile, read_authority

__all__ = ["OPTIONS", "Authority", "AuthorityFile", "read_authority"]
