"""P = diag(mu) + F'F, block by block: the curvature of a quadratic program as data rows.

    1/2 x'Px = sum_j mu_j/2 x_j^2 + sum_i (F_i . x)^2 / 2

A positive definite block lends mu_j most of its least eigenvalue, so that the dual bound is always finite;
a semidefinite one has mu_j = 0, and its null space is left to the solver's proximal steps.
"""

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.csgraph
import scipy.sparse.linalg

from zerogap.exceptions import ProblemError

Array = np.ndarray

#: Eigenvalues relative to the largest: above the first a block counts as definite, below the second as
#: indefinite; what is between is rounding, and counts as zero.
DEFINITE, INDEFINITE = 1e-11, -1e-9
#: Share of the least eigenvalue that becomes mu.
SHARE = 0.9
#: Blocks up to this size are factorised as dense ones; up to the second with all eigenvectors at once.
DENSE, ALL = 1500, 150
#: Shifts that a large sparse block is tried with, relative to its largest diagonal entry.
_SHIFTS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 0.0, -1e-12)


def split(P: Any) -> tuple[Array, Any]:
    """mu and F (dense when P is, None when P is diagonal)."""
    dense = isinstance(P, np.ndarray)
    matrix = sp.csr_array(P)
    matrix.eliminate_zeros()
    mu = matrix.diagonal()
    count, labels = scipy.sparse.csgraph.connected_components(matrix, directed=False)
    sizes = np.bincount(labels, minlength=count)
    alone = sizes[labels] == 1
    if (mu[alone] < 0).any():
        j = int(np.flatnonzero(alone & (mu < 0))[0])
        raise _indefinite(mu[j], f"P[{j}, {j}]")
    if alone.all():
        return mu, None
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    blocks = []
    for index in members:
        if index.size > 1:
            part = P[np.ix_(index, index)] if dense else matrix[index][:, index]
            mu[index], factor = _block(part, index)
            spread = sp.csr_array(
                (np.ones(index.size), (np.arange(index.size), index)), shape=(index.size, mu.size)
            )
            blocks.append(factor if dense and index.size == mu.size else sp.csr_array(factor) @ spread)
    if len(blocks) == 1 and isinstance(blocks[0], np.ndarray):
        return mu, blocks[0]
    stacked = sp.csr_array(sp.vstack(blocks, format="csr"))
    return mu, stacked.toarray() if dense else stacked


def _indefinite(value: float, where: str) -> ProblemError:
    return ProblemError(
        f"P: expected a positive semidefinite matrix (a convex objective); {where} is {value:.6g}"
    )


def _block(part: Any, index: Array) -> tuple[float, Any]:
    if not isinstance(part, np.ndarray):
        if index.size > DENSE:
            return _sparse_block(sp.csc_array(part), index)
        part = part.toarray()
    if index.size > ALL:
        ends = [float(scipy.linalg.eigvalsh(part, subset_by_index=[k, k])[0]) for k in (0, index.size - 1)]
        if ends[0] > DEFINITE * ends[1]:
            mu = SHARE * ends[0]
            return mu, scipy.linalg.cholesky(part - mu * np.eye(index.size))
    values, vectors = scipy.linalg.eigh(part)
    largest = max(abs(values[0]), abs(values[-1]))
    if values[0] < INDEFINITE * largest:
        raise _indefinite(values[0], "its least eigenvalue")
    mu = SHARE * values[0] if values[0] > DEFINITE * largest else 0.0
    kept = values > DEFINITE * largest
    return mu, (vectors[:, kept] * np.sqrt(values[kept] - mu)).T


def _sparse_block(part: Any, index: Array) -> tuple[float, Any]:
    """By a sparse L D L' of P - shift, the largest shift that leaves D positive."""
    diagonal = part.diagonal()
    if (diagonal <= 0).any():
        j = int(np.argmin(diagonal))
        raise _indefinite(diagonal[j], f"P[{index[j]}, {index[j]}], in a row with other entries,")
    identity = sp.eye_array(index.size, format="csc")
    for shift in np.array(_SHIFTS) * float(diagonal.max()):
        factor = _positive_factor(part - shift * identity)
        if factor is not None:
            return max(float(shift), 0.0), factor
    least = scipy.sparse.linalg.eigsh(part, k=1, which="SA", return_eigenvectors=False, tol=1e-6)
    raise _indefinite(float(least[0]), "its least eigenvalue")


def _positive_factor(matrix: Any) -> Any:
    """F with F'F = matrix, or None where the matrix is not positive definite."""
    try:
        lu = scipy.sparse.linalg.splu(
            sp.csc_matrix(matrix),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # a zero pivot
        return None
    pivots = lu.U.diagonal()
    if not np.array_equal(lu.perm_r, lu.perm_c) or not (pivots > 0).all():
        return None
    return sp.csr_array((sp.diags_array(np.sqrt(pivots)) @ lu.L.T).tocsc()[:, lu.perm_r])
