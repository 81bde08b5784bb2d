"""Quadratic programs: from (P, q, G, h, A, b, lb, ub) to a `Problem`, and back with multipliers."""
