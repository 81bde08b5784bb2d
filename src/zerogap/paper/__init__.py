"""The paper's numerical section, rebuilt: `zerogap paper --out DIR`."""
