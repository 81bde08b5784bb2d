"""Curvature lent to features that have next to none of their own, so that Newton directions stay in reach."""

from collections.abc import Callable, Iterator

import numpy as np

Array = np.ndarray

#: Shares of what all rows together would give a feature, lent where mu_j = 0: more where less did not do.
#: None at first: an intercept next to columns far from zero has next to no curvature, yet enough.
SHARES = (0.0, 1e-9, 1e-3, 1.0)
#: So many short steps in a row say that directions reach too far, along features that hardly any row holds at
#: present: their share of what all rows together would give is below STARVED times the usual one. Where that
#: is so for OFTEN of the features or more, it is raised; how far follows the lengths of the steps.
SHORT, MANY = 0.5, 15
FIRST, FACTOR, LEAST = 1e-2, 5.0, 1e-4
STARVED, OFTEN = 1e-2, 0.1


class Damping:
    """Flat features are lent a little always, others only after `MANY` short steps."""

    def __init__(self, mu: Array):
        self.flat = mu == 0.0
        self.bare = True  # may nothing be lent?
        self.spare = np.zeros_like(mu)
        self._caution, self._short = 0.0, 0

    def lend_from(self, spare: Array) -> None:
        """`spare`: the curvature that all rows together would give each feature."""
        self.spare = spare

    def loans(self, own: Callable[[], Array]) -> Iterator[tuple[Array, bool]]:
        """What to add to the curvature of each feature, try after try, and whether more could follow.

        `own()`: the curvature that each has at present, its rows' included.
        """
        any_flat, shares = bool(self.flat.any()), SHARES if self.bare else SHARES[1:]
        least = self._raised(own()) if self._caution else 0.0
        for share in shares if any_flat else shares[:1]:
            lent = np.where(self.flat, share * self.spare, 0.0)
            yield np.maximum(lent, least), any_flat and share < shares[-1]

    def _raised(self, own: Array) -> Array:
        share = own / np.maximum(self.spare, 1e-300)
        starved = share < STARVED * np.median(share)
        if starved.mean() < OFTEN:
            return np.zeros_like(own)
        return np.where(starved, np.maximum(self._caution * self.spare - own, 0.0), 0.0)

    def note(self, length: float) -> None:
        """Learn from the length of the step that was taken."""
        short = length < SHORT
        if self._caution:
            if short:
                self._caution = min(self._caution * FACTOR, 1.0)
            elif length >= 1.0:
                self._caution = max(self._caution / FACTOR, LEAST)
            return
        self._short = self._short + 1 if short else 0
        if self._short >= MANY:
            self._caution = FIRST
