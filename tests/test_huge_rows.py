"""Index arithmetic beyond 2^31 and 2^32 entries, on arrays that need next to no memory.

Two kinds of arrays stand in for a huge matrix. A sparse file mapped into memory has a value of its own at
every position, and takes disk space only where something was written. An array of stride 0 takes none at
all; all its entries are the same, so it shows how many entries a row has, not where they are.
"""

import contextlib

import numpy as np
import pytest

import zerogap as zg
from zerogap._jit import kernel
from zerogap.data.rows import Dense, DenseRows, Sparse, column, entry, span
from zerogap.problem.regularizers import Free
from zerogap.solver.averaging import Lazy
from zerogap.solver.kernels import Schedule, State, ardca_epoch, sdca_epoch
from zerogap.solver.schedules import fill_table

#: Rows 1, 3, 5 and 7 are short and lie at, across and beyond the limits of narrow integers. The even rows,
#: never visited, fill the space between them.
STARTS = (2**31 - 1, 2**31 + 5, 2**32 - 2, 2**32 + 9)
LENGTH = 4
SHORT_ROWS = (1, 3, 5, 7)
END = STARTS[-1] + LENGTH
T = 6


def pointers():
    edges = [[start, start + LENGTH] for start in STARTS]
    return np.array([0, *np.ravel(edges)], dtype=np.uint64)


@contextlib.contextmanager
def mapped(path, dtype, size):
    """A zero array of that size in a sparse file."""
    try:
        array = np.memmap(path, dtype=dtype, mode="w+", shape=(size,))
    except OSError as error:
        pytest.skip(f"no sparse file of {size} entries here: {error}")
    try:
        yield array.view(np.ndarray)
    finally:
        path.unlink()


@pytest.fixture(params=[np.uint32, np.uint64], ids=["uint32", "uint64"])
def huge(request, tmp_path):
    """(compiled rows, the short rows as a dense matrix in the place of all rows)."""
    rng = np.random.default_rng(0)
    full = np.zeros((len(STARTS) * 2, T))
    with (
        mapped(tmp_path / "data", np.float32, END) as data,
        mapped(tmp_path / "indices", request.param, END) as indices,
    ):
        for row, start in zip(SHORT_ROWS, STARTS, strict=True):
            columns = rng.permutation(T)[:LENGTH]
            values = rng.standard_normal(LENGTH).astype(np.float32)
            data[start : start + LENGTH], indices[start : start + LENGTH] = values, columns
            full[row, columns] = values
        yield Sparse(data, indices, pointers()), full


@kernel
def densify(rows, i, out):
    first, stop = span(rows, i)
    for p in range(first, stop):
        out[column(rows, p, first)] += entry(rows, p)
    return stop - first


def regression(full):
    rng = np.random.default_rng(1)
    return zg.Problem(
        full, rng.standard_normal(len(full)), loss="absolute", regularizer=zg.ElasticNet(0.1, 0.01)
    )


@pytest.mark.parametrize("kind", [np.uint32, np.int64, np.uint64])
def test_sparse_rows_are_found(huge, kind):
    rows, full = huge
    for row, start in zip(SHORT_ROWS, STARTS, strict=True):
        assert tuple(map(int, span(rows, kind(row)))) == (start, start + LENGTH)
        out = np.zeros(T)
        assert densify(rows, kind(row), out) == LENGTH
        np.testing.assert_array_equal(out, full[row])


def test_an_sdca_epoch_on_a_huge_matrix(huge):
    """The same numbers as on the small matrix that holds the short rows only."""
    rows, full = huge
    problem = regression(full)
    order = np.tile(np.array(SHORT_ROWS, dtype=np.uint32), 50)
    tau = np.full(len(full), 0.3)
    f = problem.penalty.compiled(Free(0.0, 0.0))
    small = DenseRows(full).compiled()
    outcome = []
    for matrix in (rows, small):
        u, s = np.zeros(len(full)), np.zeros(T + 1)
        sdca_epoch(order, matrix, problem.terms, f, u, s, tau)
        outcome.append((u, s))
    (u, s), (u_small, s_small) = outcome
    assert np.flatnonzero(u).tolist() == list(SHORT_ROWS)
    np.testing.assert_allclose(u, u_small, rtol=1e-12)
    np.testing.assert_allclose(s, s_small, rtol=1e-12, atol=1e-15)


def test_an_ardca_epoch_on_a_huge_matrix(huge):
    rows, full = huge
    problem = regression(full)
    order = np.tile(np.array(SHORT_ROWS, dtype=np.uint32), 25)
    tau, table = np.full(len(full), 0.3), np.empty((order.size + 1, 3))
    fill_table(table, 1.0 / 4.0, False)
    f = problem.penalty.compiled(Free(0.0, 0.0))
    outcome = []
    for matrix in (rows, DenseRows(full).compiled()):
        state = State(*np.zeros((2, len(full))), *np.zeros((2, T + 1)))
        average = Lazy(np.zeros(T + 1), np.zeros(T + 1, np.uint32), table)
        ardca_epoch(order, matrix, problem.terms, f, state, tau, average, Schedule(table, 4.0))
        outcome.append([*state, average.total])
    assert np.max(np.abs(outcome[0][0])) > 0.1
    for ours, exact in zip(*outcome, strict=True):
        np.testing.assert_allclose(ours, exact, rtol=1e-10, atol=1e-12)


def test_rows_across_the_limits_keep_their_length():
    """With pointers narrowed to 32 bits a row that starts below a limit and ends beyond it would be empty."""
    data = np.broadcast_to(np.float64(0.5), (END,))
    indices = np.broadcast_to(np.uint32(2), (END,))
    assert data.strides == indices.strides == (0,)
    rows = Sparse(data, indices, pointers())
    for row in SHORT_ROWS:
        out = np.zeros(T)
        assert densify(rows, np.uint32(row), out) == LENGTH
        assert out.tolist() == [0.0, 0.0, 0.5 * LENGTH, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("kind", [np.uint32, np.int64, np.uint64])
def test_dense_rows_beyond_the_limits(tmp_path, kind):
    """i * width passes 2^31 and 2^32 although i and the width are small."""
    width, n = 2**13 + 1, 2**19 + 8
    wanted = [2**31 // width, 2**31 // width + 1, 2**32 // width, 2**32 // width + 1, n - 1]
    assert wanted[-1] * width > 2**32
    with mapped(tmp_path / "values", np.float32, n * width) as values:
        for row in wanted:
            values[row * width : (row + 1) * width] = np.arange(width) + row % 7
        rows = Dense(values, width)
        for row in wanted:
            out = np.zeros(width)
            assert densify(rows, kind(row), out) == width
            np.testing.assert_array_equal(out, np.arange(width) + row % 7)


def test_a_dense_epoch_beyond_the_limits(tmp_path):
    width, n = 2**16 + 1, 2**16 + 4
    last = np.arange(n - 3, n, dtype=np.uint32)
    with mapped(tmp_path / "values", np.float32, n * width) as values:
        rng = np.random.default_rng(2)
        for row in last.astype(np.int64):
            values[row * width : (row + 1) * width] = rng.standard_normal(width)
        matrix = values.reshape(n, width)
        y = rng.standard_normal(n)
        terms = zg.Problem(np.ones((n, 1)), y, loss="squared", regularizer=zg.L2(1.0)).terms
        f = zg.L2(1.0).bind(width).compiled(Free(0.0, 0.0))
        u, s, tau = np.zeros(n), np.zeros(width + 1), np.full(n, 1e-5)
        sdca_epoch(last, DenseRows(matrix).compiled(), terms, f, u, s, tau)
        assert np.flatnonzero(u).tolist() == last.tolist()
        np.testing.assert_allclose(s[:-1], (u[last] / n) @ matrix[last].astype(float), rtol=1e-11, atol=1e-18)


def test_scipy_hands_over_wide_pointers_unchanged():
    """SparseRows on a matrix with int64 pointers: no narrowing on the way to the kernels."""

    class Huge:
        """What SparseRows uses of a CSR matrix; scipy itself would look at every entry."""

        shape, dtype = (8, T), np.dtype(np.float64)
        data = np.broadcast_to(np.float64(0.5), (END,))
        indices = np.broadcast_to(np.int64(2), (END,))
        indptr = pointers().astype(np.int64)
        nnz = END

    rows = zg.data.rows.SparseRows(Huge())
    assert rows.nonzeros == END
    np.testing.assert_array_equal(rows.compiled().indptr, pointers())
    assert rows.compiled().indices.dtype == np.uint64
