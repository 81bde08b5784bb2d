"""python -m zerogap.paper --out DIR [--quick]"""

import argparse
import sys

from zerogap.paper.command import add_arguments, run

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m zerogap.paper", description=run.__doc__)
    add_arguments(parser)
    sys.exit(run(parser.parse_args()))
