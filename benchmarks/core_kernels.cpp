// The SDCA pass of zerogap.solver.kernels.sdca_epoch, written out for the hinge loss and f = mu/2 ||x||^2.
//
//     u_i = prox_{tau phi_i*}(u_i + tau a_i.x*(u)),   s = S u,   x*(u) = -s/mu
//
// Built by benchmarks/native.py with g++ -O3 -march=native -ffast-math. Returns how many coordinates moved.

#include <algorithm>
#include <cstdint>

namespace {

struct Problem {
    const double *y, *weight, *tau;
    double scale;  // 1/mu
};

// The new u_i from the margin a_i.x*(u).
inline double updated(const Problem &problem, uint32_t i, double u, double margin) {
    const double y = problem.y[i], tau = problem.tau[i];
    const double v = u + tau * margin;
    return y * std::min(std::max((v - tau * y) * y, -1.0), 0.0);
}

template <class Value, class Index>
int64_t sparse_pass(const uint32_t *order, int64_t steps, const Value *data, const Index *indices,
                    const int64_t *indptr, const Problem &problem, double *u, double *s) {
    int64_t moved = 0;
    for (int64_t k = 0; k < steps; ++k) {
        const uint32_t i = order[k];
        const int64_t first = indptr[i], stop = indptr[i + 1];
        double total = 0.0;
        for (int64_t p = first; p < stop; ++p) total += data[p] * s[indices[p]];
        const double u_new = updated(problem, i, u[i], -problem.scale * total);
        const double change = u_new - u[i];
        if (change != 0.0) {
            u[i] = u_new;
            const double step = problem.weight[i] * change;
            for (int64_t p = first; p < stop; ++p) s[indices[p]] += step * data[p];
            ++moved;
        }
    }
    return moved;
}

template <class Value>
int64_t dense_pass(const uint32_t *order, int64_t steps, const Value *values, int64_t width,
                   const Problem &problem, double *u, double *s) {
    int64_t moved = 0;
    for (int64_t k = 0; k < steps; ++k) {
        const uint32_t i = order[k];
        const Value *row = values + static_cast<int64_t>(i) * width;
        double total = 0.0;
        for (int64_t j = 0; j < width; ++j) total += row[j] * s[j];
        const double u_new = updated(problem, i, u[i], -problem.scale * total);
        const double change = u_new - u[i];
        if (change != 0.0) {
            u[i] = u_new;
            const double step = problem.weight[i] * change;
            for (int64_t j = 0; j < width; ++j) s[j] += step * row[j];
            ++moved;
        }
    }
    return moved;
}

}  // namespace

#define SPARSE_PASS(name, Value, Index)                                                                   \
    extern "C" int64_t name(const uint32_t *order, int64_t steps, const Value *data, const Index *indices, \
                            const int64_t *indptr, const double *y, const double *weight,                  \
                            const double *tau, double scale, double *u, double *s) {                       \
        return sparse_pass(order, steps, data, indices, indptr, {y, weight, tau, scale}, u, s);            \
    }

#define DENSE_PASS(name, Value)                                                                           \
    extern "C" int64_t name(const uint32_t *order, int64_t steps, const Value *values, int64_t width,      \
                            const double *y, const double *weight, const double *tau, double scale,        \
                            double *u, double *s) {                                                        \
        return dense_pass(order, steps, values, width, {y, weight, tau, scale}, u, s);                     \
    }

SPARSE_PASS(sparse_float64_int32, double, int32_t)
SPARSE_PASS(sparse_float64_int64, double, int64_t)
SPARSE_PASS(sparse_float32_int32, float, int32_t)
DENSE_PASS(dense_float64, double)
DENSE_PASS(dense_float32, float)
