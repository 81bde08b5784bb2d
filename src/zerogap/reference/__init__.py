"""The other methods that the paper names, one short file each, on the library's own Problem.

from zerogap.reference.registry import METHODS
result = zg.solve(problem, algorithm=METHODS["spdc"])
"""
