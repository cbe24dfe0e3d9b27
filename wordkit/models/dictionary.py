"""Dictionary learning from mini-batches of sparse rows and their codes (Mairal, Bach, Ponce and Sapiro 2010).

Rows x (words) are to be D' a, D being M atoms x C contexts whose rows stay in the unit ball. For fixed codes the part of
sum |x - D' a|^2 that depends on D is

    tr(D D' P) - 2 tr(D Q'),   P = sum a a' (M, M),   Q = sum a x' (M, C)

so that P and Q are all that is kept of the data. The paper's sums fade old codes; here a row that is seen again replaces its old
code in the sums, which costs no more and leaves them those of the current codes: every step then lowers the objective of the
rows seen so far. Atoms are updated one after the other, exactly (block-coordinate descent); the products that this takes are
made for a block of atoms at once, as a matrix product.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from wordkit._kernels import sparse_products
from wordkit.parallel import Workers

_CONTEXTS = 2048  # of a block of work
_ATOMS = 32  # whose residuals are made together
_ROWS = 64  # of a block of sparse products
_IDLE = 1e-12  # of the largest square of an atom's codes: an atom with less is used by no row


def _blocks(size: int, width: int) -> list[slice]:
    return [slice(lo, min(lo + width, size)) for lo in range(0, size, width)]


class Dictionary:
    """Atoms, and the sums over codes that they are learned from.

    Args:
        components: (M, C) float32, the atoms at the start.
        threads: results do not depend on it.

    Attributes:
        components: (M, C) float32, norms of rows up to 1.
        code_products: P (M, M) float64. data_products: Q (M, C) float32.
    """

    def __init__(self, components: np.ndarray, threads: int = 1) -> None:
        self.components = np.array(components, dtype=np.float32, order="C")
        atoms, contexts = self.components.shape
        self.code_products = np.zeros((atoms, atoms))
        self.data_products = np.zeros((atoms, contexts), dtype=np.float32)
        self._workers = Workers(threads)

    def gram(self) -> np.ndarray:
        """D D' (M, M) float64, of products in float32."""
        atoms, contexts = self.components.shape
        blocks = _blocks(contexts, _CONTEXTS)
        parts = self._workers.map(lambda at: self.components[:, at] @ self.components[:, at].T, blocks)
        total = np.zeros((atoms, atoms))
        for part in parts:
            total += part
        return total

    def correlations(self, rows: scipy.sparse.csr_array) -> np.ndarray:
        """D x of each row: (M, n) float32."""
        return self._products(rows, np.ascontiguousarray(self.components.T), _ROWS)

    def _products(self, rows: scipy.sparse.csr_array, by: np.ndarray, size: int) -> np.ndarray:
        """(rows @ by)', (k, n) float32, in blocks of ``size`` rows."""
        cells = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False), rows.data
        out = np.empty((by.shape[1], rows.shape[0]), dtype=np.float32)

        def part(at: slice) -> None:
            products = np.empty((at.stop - at.start, by.shape[1]), dtype=np.float32)
            sparse_products.multiply(*cells, by, products, at.start, at.stop)
            out[:, at] = products.T

        self._workers.map(part, _blocks(rows.shape[0], size))
        return out

    def replace(self, rows: scipy.sparse.csr_array, old: np.ndarray, new: np.ndarray) -> None:
        """Take new codes of some rows (n, C) into the sums, for their old ones; both (M, n), zeros where there were none."""
        for codes, sign in ((new, 1.0), (old, -1.0)):
            if codes.any():
                wide = codes.astype(np.float64)
                self.code_products += sign * (wide @ wide.T)
        change = np.ascontiguousarray((new - old).T)
        self.data_products += self._products(rows.T.tocsr(), change, _CONTEXTS)

    def update(self) -> None:
        """One pass of block-coordinate descent over the atoms; those that no row uses stay as they are."""
        P, D = self.code_products, self.components
        weights = np.diag(P)
        used = weights > _IDLE * weights.max(initial=0.0)
        for block in _blocks(len(D), _ATOMS):
            residual = np.empty((block.stop - block.start, D.shape[1]), dtype=np.float32)
            coupling = P[block].astype(np.float32)

            def part(
                at: slice, block: slice = block, out: np.ndarray = residual, left: np.ndarray = coupling
            ) -> None:
                np.subtract(self.data_products[block, at], left @ D[:, at], out=out[:, at])

            self._workers.map(part, _blocks(D.shape[1], _CONTEXTS))
            for i, atom in enumerate(range(block.start, block.stop)):
                if not used[atom]:
                    continue
                moved = D[atom] + residual[i] / np.float32(weights[atom])
                moved /= np.float32(max(1.0, float(np.sqrt(np.vdot(moved, moved)))))
                change = moved - D[atom]
                D[atom] = moved
                residual[i + 1 :] -= coupling[i + 1 :, atom, None] * change

    def idle(self) -> np.ndarray:
        """Numbers of the atoms that no code uses."""
        weights = np.diag(self.code_products)
        return np.flatnonzero(weights <= _IDLE * weights.max(initial=0.0))

    def squared_error(self, squares: float) -> float:
        """sum |x - D' a|^2 over the rows in the sums, ``squares`` being their sum |x|^2."""
        fit = float(np.einsum("ij,ij->", self.gram(), self.code_products))
        cross = sum(
            float(np.einsum("ij,ij->", self.components[:, at], self.data_products[:, at], dtype=np.float64))
            for at in _blocks(self.components.shape[1], _CONTEXTS)
        )
        return squares - 2 * cross + fit
