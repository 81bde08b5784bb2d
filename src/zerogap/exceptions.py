"""Errors raised before any work is done. Outcomes of a solver are not exceptions: see `Status`."""


class ZeroGapError(ValueError):
    """Base class of every error that zerogap raises."""


class DataError(ZeroGapError):
    """The numbers handed in cannot be used: shapes, non-finite values, labels, weights."""


class ProblemError(ZeroGapError):
    """The pieces do not form a problem: unknown loss, impossible regulariser, contradictory constraint."""


class SettingsError(ZeroGapError):
    """An algorithm or an option is unknown or does not fit the problem."""
