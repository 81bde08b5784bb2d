"""The problem: losses, regularisers, constraints, and what they add up to. No iterates, no tolerances."""
