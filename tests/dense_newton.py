"""Newton's corrections of implicit stages by dense matrices and central differences, to compare sparse ones with."""

import numpy as np

from simengine2d.coordinates.stages import SIZE_B, SIZE_C

DIFFERENCE = 1e-2  # of accelerations: positions change by h^2 times that


def weights(M, J):
    """The diagonal of M; coordinates without a mass are given what they feel through the rows, or else the mean."""
    mass = np.diag(M).copy()
    heavy = mass > 0.0
    share = (J[:, heavy] ** 2 / mass[heavy]).sum(axis=1)
    felt = (J[share > 0.0] ** 2 / share[share > 0.0, None]).sum(axis=0)
    return np.where(heavy, mass, np.where(felt > 0.0, felt, mass[heavy].mean()))


class DenseNewton:
    """Stages around their present state, with e = (b / c) W Phi_z^T mu."""

    def __init__(self, family, st, twice, compliance, exact=True, masses=None):
        self.family, self.st, self.twice, self.compliance, self.exact = family, st, twice, compliance, exact
        self.s, self.n, self.m = *st.a.shape, st.lam.shape[1]
        self.b, self.c = st.state[SIZE_B], st.state[SIZE_C]
        own = len(family.own_rows)
        self.rates = np.append(np.zeros(own), np.isin(family.remaining_rows, family.system.velocity_rows)) > 0
        at = [self.at(i, st.z[i], st.zd[i]) for i in range(self.s)]
        self.M, self.J = [e[0] for e in at], [e[2] for e in at]
        self.W = weights(self.M[-1], self.J[-1]) if masses is None else masses

    def at(self, i, z, zd):
        e = self.family.at(self.st.t[i], z, zd)
        return e.M.copy(), e.Q.copy(), e.J.copy(), e.Phi.copy(), e.nu.copy()

    def corrections_of_positions(self, mu):
        return np.array([self.b / self.c * (J.T @ row) / self.W for J, row in zip(self.J, mu, strict=True)])

    def left(self, x):
        """Balance, gap and rate of all stages after changes x of a, lam and mu."""
        st, s, n, m = self.st, self.s, self.n, self.m
        da, dlam, dmu = np.split(np.append(x, np.zeros(0 if self.twice else s * m)), [s * n, s * (n + m)])
        a, lam, mu = st.a + da.reshape(s, n), st.lam + dlam.reshape(s, m), st.mu + dmu.reshape(s, m)
        move = 1.0 if self.exact else 0.0
        z = st.z + st.B @ (a - st.a) + st.C @ self.corrections_of_positions(mu - st.mu)
        zd = st.zd + st.C @ (a - st.a)
        balance, gap, rate = np.zeros((s, n)), np.zeros((s, m)), np.zeros((s, m))
        for i in range(s):
            M, Q, J, Phi, nu = self.at(i, z[i], zd[i])
            rate[i] = (J @ zd[i] - nu) / self.c
            gap[i] = Phi / self.b
            gap[i][self.rates] = mu[i][self.rates] if self.twice else rate[i][self.rates]
            gap[i] -= self.compliance * dlam.reshape(s, m)[i]
            if not move:
                M, Q, J = self.M[i], self.at(i, st.z[i], st.zd[i])[1], self.J[i]
            balance[i] = M @ a[i] + J.T @ lam[i] - Q
        return np.concatenate([part.ravel() for part in (balance, gap, rate)[: 3 if self.twice else 2]])

    def solve(self):
        """da, dlam, dmu and de."""
        s, n, m = self.s, self.n, self.m
        now = self.left(np.zeros(s * (n + (2 if self.twice else 1) * m)))
        steps = DIFFERENCE * np.eye(now.size)
        matrix = np.array([(self.left(step) - self.left(-step)) / (2.0 * DIFFERENCE) for step in steps]).T
        x = np.append(np.linalg.solve(matrix, -now), np.zeros(0 if self.twice else s * m))
        da, dlam, dmu = np.split(x, [s * n, s * (n + m)])
        de = self.corrections_of_positions(dmu.reshape(s, m))
        return {"da": da.reshape(s, n), "dlam": dlam.reshape(s, m), "dmu": dmu.reshape(s, m), "de": de}
