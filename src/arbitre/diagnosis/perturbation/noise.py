"""Recognition errors in texts, and random values."""

from __future__ import annotations

from string import ascii_lowercase, digits
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np

    from arbitre.values import Json

SHARE: Final = 0.1
"""Share of the letters and digits of a noisy text that are replaced; at least one is."""

LOOK_ALIKES: Final = {
    **dict(zip("aceghilmnorstuvBDEGIOSZ", ("o", "e", "c", "q", "b", "l", "1", "rn", "u", "c", "n", "5", "f", "n", "y",
                                            "8", "O", "F", "C", "l", "0", "5", "2"), strict=True)),
    **dict(zip("0123456789", "OlZBASG1Bg", strict=True)),
}  # fmt: skip
"""Characters that text recognition may read in place of a letter or a digit."""


def add_noise(text: str, rng: np.random.Generator) -> str:
    """Replace one letter or digit in ten, at least one, by one that looks alike, or else by a random letter."""
    characters = list(text)
    places = [at for at, char in enumerate(text) if char.isalnum()]
    for at in rng.permutation(places)[: max(1, round(SHARE * len(places)))].tolist() if places else ():
        char = characters[at]
        characters[at] = LOOK_ALIKES.get(char) or _other(char, ascii_lowercase, rng)
    return "".join(characters)


def invent(value: Json, rng: np.random.Generator) -> Json:
    """Return a random value of the same shape: other letters, other digits, as many items, the same keys."""
    if isinstance(value, dict):
        return {key: invent(inner, rng) for key, inner in value.items()}
    if isinstance(value, list):
        return [invent(item, rng) for item in value]
    if isinstance(value, str):
        return "".join(_like(char, rng) for char in value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        size = len(str(abs(value)))
        return int(rng.integers(10 ** (size - 1), 10**size)) if size <= 18 else value + 1  # noqa: PLR2004  (int64)
    return value * float(rng.uniform(0.1, 10.0))


def _like(char: str, rng: np.random.Generator) -> str:
    """Return a random letter of the same case for a letter, a random digit for a digit, else the character."""
    if char.isdecimal():
        return _other(char, digits, rng)
    letter = _other(char.lower(), ascii_lowercase, rng)
    return char if not char.isalpha() else letter.upper() if char.isupper() else letter


def _other(char: str, letters: str, rng: np.random.Generator) -> str:
    others = letters.replace(char, "")
    return others[int(rng.integers(len(others)))]
