"""Row storages: every verb against dense NumPy, no copies, precision, and odd inputs."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import zerogap as zg
from zerogap._jit import kernel
from zerogap.data.blocks import BlockDiagonalRows
from zerogap.data.prepare import check_matrix
from zerogap.data.rows import (
    DenseRows,
    SparseRows,
    as_constraint_rows,
    as_rows,
    column,
    entry,
    span,
    split_last_column,
    stack_sparse,
)
from zerogap.data.stacked import StackedRows
from zerogap.problem.regularizers import Free, Quadratic
from zerogap.solver.kernels import add_row
from zerogap.solver.views import Plain

N, T = 12, 7
seeds = st.integers(0, 2**32 - 1)
STORAGES = ["dense", "sparse", "stacked", "stacked-intercept", "stacked-sparse-intercept"]
each_storage = pytest.mark.parametrize("storage", STORAGES)
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def random_matrix(rng, n=N, t=T, dtype=np.float64):
    """About half of the entries are zero; row 3 and column 2 are empty."""
    matrix = np.where(rng.random((n, t)) < 0.5, rng.standard_normal((n, t)), 0.0)
    matrix[3], matrix[:, 2] = 0.0, 0.0
    return matrix.astype(dtype)


def make(storage, rng, dtype=np.float64):
    """Rows, and the same as one dense float64 matrix (the intercept's column last)."""
    top = random_matrix(rng, dtype=dtype)
    rows = as_rows(sp.csr_array(top) if "sparse" in storage else top, "X")
    if "stacked" not in storage:
        return rows, top.astype(np.float64)
    bottom, constants = random_matrix(rng, 5), rng.standard_normal(5)
    constants[1] = 0.0
    intercept = "intercept" in storage
    stacked = StackedRows(rows, as_constraint_rows(bottom, "J")[0], constants, intercept)
    full = np.vstack([top.astype(np.float64), bottom])
    return stacked, np.column_stack([full, np.append(np.ones(N), constants)]) if intercept else full


# ---- Python verbs
@each_dtype
@each_storage
@given(seed=seeds)
def test_verbs_are_matrix_products(storage, dtype, seed):
    """float64 results of float64 accuracy, whatever the stored precision."""
    rng = np.random.default_rng(seed)
    rows, full = make(storage, rng, dtype)
    n, t = full.shape
    x, u, weights = rng.standard_normal(t), rng.standard_normal(n), rng.random(n)
    assert rows.shape == full.shape
    close = {"rtol": 1e-13, "atol": 1e-14}
    for ours, exact in [
        (rows.dot(x), full @ x),
        (rows.tdot(u), full.T @ u),
        (rows.gram(weights), full.T @ np.diag(weights) @ full),
        (rows.take(np.array([0, 2, 3, n - 1])).dot(x), full[[0, 2, 3, n - 1]] @ x),
    ]:
        assert ours.dtype == np.float64
        np.testing.assert_allclose(ours, exact, **close)


@each_storage
def test_square_norms(storage):
    rng = np.random.default_rng(1)
    rows, full = make(storage, rng)
    metric = rng.random(T)
    squares = full[:, :T] ** 2
    np.testing.assert_allclose(rows.square_norms(metric), squares @ metric, rtol=1e-13)
    np.testing.assert_allclose(rows.square_norms(2.0), 2.0 * squares.sum(axis=1), rtol=1e-13)
    if "intercept" in storage:
        expected = squares @ metric + 3.0 * full[:, T] ** 2
        np.testing.assert_allclose(rows.square_norms(metric, 3.0), expected, rtol=1e-13)


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_magnitudes(storage):
    rng = np.random.default_rng(2)
    rows, full = make(storage, rng)
    x = rng.standard_normal(T)
    np.testing.assert_allclose(rows.magnitudes(x), np.abs(full) @ np.abs(x), rtol=1e-13)


@pytest.mark.parametrize("storage", ["stacked", "stacked-intercept"])
def test_constraint_magnitudes(storage):
    rng = np.random.default_rng(3)
    rows, full = make(storage, rng)
    x = rng.standard_normal(full.shape[1])
    np.testing.assert_allclose(rows.constraint_magnitudes(x), np.abs(full[N:]) @ np.abs(x), rtol=1e-13)


@pytest.mark.parametrize("sparse", [False, True])
def test_single_precision_is_accumulated_in_double(sparse):
    """2^24 + 1 is not a float32: a sum in single precision would stop at 2^24."""
    X = np.full((2, 3000), 16384.0, dtype=np.float32)
    X[:, 1] = 1.0
    rows = as_rows(sp.csr_array(X) if sparse else X, "X")
    x = np.ones(3000)
    assert rows.dot(x)[0] == 2999 * 16384.0 + 1.0
    assert rows.tdot(np.array([1024.0, 2.0**-20]))[1] == 1024.0 + 2.0**-20
    assert rows.square_norms(1.0)[1] == 2999 * 2.0**28 + 1.0
    assert rows.compiled()[0].dtype == np.float32


@pytest.mark.parametrize("sparse", [False, True])
def test_single_precision_is_converted_block_by_block(sparse, monkeypatch):
    monkeypatch.setattr("zerogap.data.rows._BLOCK_ENTRIES", T)
    rng = np.random.default_rng(4)
    X = random_matrix(rng, dtype=np.float32)
    rows = as_rows(sp.csr_array(X) if sparse else X, "X")
    assert len(list(rows._blocks())) > 2
    x, u = rng.standard_normal(T), rng.standard_normal(N)
    np.testing.assert_allclose(rows.dot(x), X.astype(float) @ x, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(rows.tdot(u), X.T.astype(float) @ u, rtol=1e-13, atol=1e-15)


def test_counts():
    rng = np.random.default_rng(5)
    X = random_matrix(rng)
    assert as_rows(X, "X").nonzeros == X.size
    assert as_rows(sp.csr_array(X), "X").nonzeros == np.count_nonzero(X)
    stacked, full = make("stacked-sparse-intercept", rng)
    assert stacked.nonzeros == np.count_nonzero(full[:, :T])


def test_splitting_and_stacking_constraint_rows():
    rng = np.random.default_rng(6)
    first, second = random_matrix(rng, 5), random_matrix(rng, 6)
    blocks = [as_constraint_rows(block, "J")[0] for block in (first, second)]
    assert np.array_equal(stack_sparse(blocks, T).matrix.toarray(), np.vstack([first, second]))
    assert stack_sparse([], T).shape == (0, T)
    rows, last = split_last_column(blocks[0])
    assert np.array_equal(rows.matrix.toarray(), first[:, :-1])
    assert np.array_equal(last, first[:, -1])


# ---- compiled verbs
@kernel
def densify(rows, i, out):
    first, stop = span(rows, i)
    for p in range(first, stop):
        out[column(rows, p, first)] += entry(rows, p)


@kernel
def spread(rows, i, f, s):
    add_row(rows, i, f, Plain(s, 0), 2.0, 0.0)


@each_dtype
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_compiled_rows_walk_the_entries(storage, dtype):
    rows, full = make(storage, np.random.default_rng(7), dtype)
    for i in range(N):
        for index in (i, np.uint32(i), np.uint64(i)):
            out = np.zeros(T)
            densify(rows.compiled(), index, out)
            assert np.array_equal(out, full[i])


@pytest.mark.parametrize("storage", [name for name in STORAGES if "stacked" in name])
def test_compiled_stacked_rows(storage):
    rows, full = make(storage, np.random.default_rng(8))
    for i in range(len(full)):
        s = np.zeros(T + 1)
        spread(rows.compiled(), np.uint32(i), Quadratic(1.0, Free(0.0, 0.0)), s)
        np.testing.assert_allclose(s[: full.shape[1]], 2.0 * full[i], rtol=1e-15)


# ---- no copies
@each_dtype
def test_c_ordered_arrays_are_not_copied(dtype):
    X = random_matrix(np.random.default_rng(9), dtype=dtype)
    rows = as_rows(X, "X")
    assert isinstance(rows, DenseRows)
    assert np.shares_memory(rows.matrix, X)
    assert np.shares_memory(rows.compiled().values, X)


@each_dtype
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_canonical_csr_is_not_copied(container, dtype):
    X = container(random_matrix(np.random.default_rng(10), dtype=dtype))
    rows = as_rows(X, "X")
    assert isinstance(rows, SparseRows)
    for ours, theirs in [(rows.matrix.data, X.data), (rows.matrix.indices, X.indices)]:
        assert np.shares_memory(ours, theirs)
    compiled = rows.compiled()
    assert np.shares_memory(compiled.data, X.data)
    assert np.shares_memory(compiled.indices, X.indices)
    assert np.shares_memory(compiled.indptr, X.indptr)
    assert compiled.indices.dtype == compiled.indptr.dtype == np.uint32


def test_wide_indices_are_not_copied():
    X = sp.csr_array(random_matrix(np.random.default_rng(11)))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    compiled = as_rows(X, "X").compiled()
    assert compiled.indices.dtype == np.uint64
    assert np.shares_memory(compiled.indices, X.indices)
    assert np.shares_memory(compiled.indptr, X.indptr)


def test_a_problem_does_not_copy_x():
    rng = np.random.default_rng(12)
    dense, sparse = rng.standard_normal((N, T)), sp.csr_array(random_matrix(rng))
    y = rng.standard_normal(N)
    equal = zg.Equal(np.ones((1, T)), 1.0)
    for X, buffer in ((dense, dense), (sparse, sparse.data)):
        problem = zg.Problem(X, y, regularizer=zg.L2(1.0), constraints=equal, fit_intercept=True)
        assert np.shares_memory(problem.rows.compiled().top[0], buffer)


# ---- what else may come
@pytest.mark.parametrize("form", ["csc", "coo", "lil", "dok", "bsr", "dia"])
def test_other_sparse_formats(form):
    X = random_matrix(np.random.default_rng(13))
    rows = as_rows(sp.csr_array(X).asformat(form), "X")
    assert isinstance(rows, SparseRows)
    assert np.array_equal(rows.matrix.toarray(), X)
    assert rows.matrix.has_canonical_format


@pytest.mark.parametrize(
    "view",
    [np.asfortranarray, lambda X: X[::2], lambda X: X[:, ::-1], lambda X: X.tolist(), np.matrix],
    ids=["fortran", "strided", "reversed", "lists", "matrix"],
)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_other_dense_layouts(view):
    X = view(random_matrix(np.random.default_rng(14)))
    rows = as_rows(X, "X")
    assert isinstance(rows, DenseRows)
    assert np.array_equal(rows.matrix, np.asarray(X))
    assert rows.matrix.flags.c_contiguous
    x = np.arange(1.0, T + 1)
    np.testing.assert_allclose(rows.dot(x), np.asarray(X) @ x, rtol=1e-14)


NUMBER_TYPES = [np.int64, np.int8, np.uint16, bool, np.longdouble]


@pytest.mark.parametrize(
    ("sparse", "dtype"),
    [*[(sparse, dtype) for sparse in (False, True) for dtype in NUMBER_TYPES], (False, np.float16)],
)
def test_other_number_types_become_float64(sparse, dtype):
    X = np.array([[0, 1, 1], [1, 0, 0]]).astype(dtype)
    rows = as_rows(sp.csr_array(X) if sparse else X, "X")
    assert rows.matrix.dtype == np.float64
    np.testing.assert_array_equal(rows.dot(np.array([1.0, 2.0, 4.0])), [6.0, 1.0])


def test_duplicate_entries_are_summed_in_a_copy():
    X = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 3, 3])), shape=(2, 3))
    rows = as_rows(X, "X")
    assert np.array_equal(rows.matrix.toarray(), [[4.0, 3.0, 0.0], [0.0, 0.0, 0.0]])
    assert rows.square_norms(1.0)[0] == 25.0
    assert X.data.tolist() == [1.0, 2.0, 4.0]  # the caller's matrix is as it was


def test_unsorted_indices_are_sorted_in_a_copy():
    X = sp.csr_array((np.array([1.0, 2.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    rows = as_rows(X, "X")
    assert np.array_equal(rows.matrix.toarray(), [[2.0, 0.0, 1.0]])
    assert X.indices.tolist() == [2, 0]


def test_explicit_zeros_do_no_harm():
    X = sp.csr_array((np.array([0.0, 2.0]), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 3))
    rows = as_rows(X, "X")
    assert rows.square_norms(1.0).tolist() == [0.0, 4.0]


def test_constraint_rows_leave_the_matrix_of_the_caller_alone():
    data, indices, indptr = np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 3, 3])
    B = sp.csr_array((data, indices, indptr), shape=(2, 3))
    rows, norms = as_constraint_rows(B, "B")
    assert np.array_equal(rows.matrix.toarray(), [[0.0, 3.0, 0.0], [0.0, 0.0, 0.0]])
    assert norms.tolist() == [3.0, 0.0]
    assert (data.tolist(), indices.tolist(), indptr.tolist()) == ([1, 2, 0], [1, 1, 0], [0, 3, 3])
    data[:] = np.nan
    assert rows.matrix.data.tolist() == [3.0]


def test_long_sums_over_blocks_are_added_in_parts():
    """Every row counts once; sums over dependent columns agree to the digits of a short sum."""
    category = np.random.default_rng(0).integers(0, 3, 50_001)
    X = sp.csr_matrix(np.column_stack([np.eye(3)[category], np.ones(category.size)]))
    rows = BlockDiagonalRows([check_matrix(X)] * 2)
    u = np.random.default_rng(1).standard_normal(2 * category.size)
    dense = X.toarray()
    expected = np.concatenate([dense.T @ u[: category.size], dense.T @ u[category.size :]])
    np.testing.assert_allclose(rows.tdot(u), expected, rtol=1e-10, atol=1e-9)
    sums = rows.tdot(np.full(u.size, 0.1)).reshape(2, -1)
    assert (np.abs(sums[:, :3].sum(axis=1) - sums[:, 3]) <= 1e-13 * sums[:, 3]).all()
