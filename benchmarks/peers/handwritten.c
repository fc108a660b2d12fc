/* Classical Runge-Kutta steps on equations written by hand for one mechanism each: what a machine can do at best.

   double pendulum    two absolute angles
   crank              the four-bar reduced to the angle of its crank
   slider_crank       the slider-crank reduced likewise
   kkt                the four-bar in nine coordinates: [M Phi_q^T; Phi_q 0] [qdd; lam] = [Q; gamma], dense 17 x 17
   schur              the same through Phi_q M^-1 Phi_q^T, dense 8 x 8                                              */

#include <math.h>
#include <string.h>

#define GRAVITY 9.81
#define MARCH(name, n, rates)                                                                    \
    void name(double *y, double h, long steps) {                                                 \
        double k1[n], k2[n], k3[n], k4[n], z[n];                                                 \
        for (long s = 0; s < steps; s++) {                                                       \
            rates(y, k1);                                                                        \
            for (int i = 0; i < n; i++) z[i] = y[i] + h / 2 * k1[i];                             \
            rates(z, k2);                                                                        \
            for (int i = 0; i < n; i++) z[i] = y[i] + h / 2 * k2[i];                             \
            rates(z, k3);                                                                        \
            for (int i = 0; i < n; i++) z[i] = y[i] + h * k3[i];                                 \
            rates(z, k4);                                                                        \
            for (int i = 0; i < n; i++) y[i] += h / 6 * (k1[i] + 2 * (k2[i] + k3[i]) + k4[i]);   \
        }                                                                                        \
    }

/* Double pendulum: bars of 1 m and 1 kg ---------------------------------------------------------------------------- */

static inline void pendulum_rates(const double *y, double *f) {
    double c1 = cos(y[0]), s1 = sin(y[0]), c2 = cos(y[1]), s2 = sin(y[1]);
    double cosine = c1 * c2 + s1 * s2, sine = s1 * c2 - c1 * s2;
    double m11 = 4.0 / 3, m12 = cosine / 2, m22 = 1.0 / 3;
    double q1 = -sine / 2 * y[3] * y[3] - 1.5 * GRAVITY * c1, q2 = sine / 2 * y[2] * y[2] - 0.5 * GRAVITY * c2;
    double determinant = m11 * m22 - m12 * m12;
    f[0] = y[2];
    f[1] = y[3];
    f[2] = (m22 * q1 - m12 * q2) / determinant;
    f[3] = (m11 * q2 - m12 * q1) / determinant;
}

MARCH(double_pendulum, 4, pendulum_rates)

/* Four-bar: crank, coupler, rocker of 1 kg/m ----------------------------------------------------------------------- */

static const double LENGTH[3] = {1, 4, 3}, BASE = 4;

/* crank angle theta; k and l are first and second derivatives of the other angles */
static inline void crank_rates(const double *y, double *f) {
    double a = LENGTH[0], b = LENGTH[1], c = LENGTH[2];
    double ax = a * cos(y[0]), ay = a * sin(y[0]);
    double dx = BASE - ax, dy = -ay, diagonal = sqrt(dx * dx + dy * dy);
    double foot = (diagonal * diagonal + b * b - c * c) / (2 * diagonal), height = sqrt(b * b - foot * foot);
    double bx = (foot * dx - height * dy) / diagonal, by = (foot * dy + height * dx) / diagonal;
    double cx = ax + bx - BASE, cy = ay + by;
    /* derivative of a e1 + b e2 - c e3 = base: [-by cy; bx -cx] [k2; k3] = [ay; -ax], and once more */
    double inverse = 1 / (by * cx - cy * bx);
    double k2 = (-cx * ay + cy * ax) * inverse, k3 = (by * ax - bx * ay) * inverse;
    double rx = ax + bx * k2 * k2 - cx * k3 * k3, ry = ay + by * k2 * k2 - cy * k3 * k3;
    double l2 = (-cx * rx - cy * ry) * inverse, l3 = (-by * ry - bx * rx) * inverse;
    /* the center of the coupler: first and second derivative */
    double gx = -ay - by * k2 / 2, gy = ax + bx * k2 / 2;
    double hx = -ax - (bx * k2 * k2 + by * l2) / 2, hy = -ay + (bx * l2 - by * k2 * k2) / 2;
    double crank = a * a * a / 3, coupler = b * b * b / 12, rocker = c * c * c / 3;
    double M = crank + coupler * k2 * k2 + b * (gx * gx + gy * gy) + rocker * k3 * k3;
    double half = coupler * k2 * l2 + b * (gx * hx + gy * hy) + rocker * k3 * l3;
    double Q = -GRAVITY * (a * ax / 2 + b * gy + c * cx * k3 / 2);
    f[0] = y[1];
    f[1] = (Q - half * y[1] * y[1]) / M;
}

MARCH(crank, 2, crank_rates)

/* Slider-crank: crank and rod of 1 kg/m, a block of 1 kg ----------------------------------------------------------- */

/* crank angle theta; k and l are first and second derivatives of the angle of the rod */
static inline void slider_rates(const double *y, double *f) {
    const double a = 0.5, b = 1.5, block = 1;
    double ax = a * cos(y[0]), ay = a * sin(y[0]), by = -ay, bx = sqrt(b * b - by * by);
    double k = -ax / bx, l = (ay + by * k * k) / bx;
    /* the center of the rod and the block: first and second derivative */
    double gx = -ay - by * k / 2, gy = ax + bx * k / 2, sx = -ay - by * k;
    double hx = -ax - (bx * k * k + by * l) / 2, hy = -ay + (bx * l - by * k * k) / 2, tx = -ax - bx * k * k - by * l;
    double crank = a * a * a / 3, rod = b * b * b / 12;
    double M = crank + rod * k * k + b * (gx * gx + gy * gy) + block * sx * sx;
    double half = rod * k * l + b * (gx * hx + gy * hy) + block * sx * tx;
    double Q = -GRAVITY * (a * ax / 2 + b * gy);
    f[0] = y[1];
    f[1] = (Q - half * y[1] * y[1]) / M;
}

MARCH(slider_crank, 2, slider_rates)

/* The four-bar in nine coordinates --------------------------------------------------------------------------------- */

/* pins: a body or -1 on each side, and where along its bar the pin is */
static const int A[4] = {-1, 0, 1, -1}, B[4] = {0, 1, 2, 2};
static const double ALONG_A[4] = {0, 0.5, 0.5, 0}, ALONG_B[4] = {-0.5, -0.5, 0.5, -0.5};

static inline double mass_of(int body) { return LENGTH[body]; }
static inline double inertia_of(int body) { return LENGTH[body] * LENGTH[body] * LENGTH[body] / 12; }

/* Phi_q by pins (side, x and y of the arm), and gamma */
struct pins { double x[4][2], y[4][2], gamma[8]; };

static inline void place(const double *q, struct pins *p) {
    double c[3], s[3];
    for (int i = 0; i < 3; i++) {
        c[i] = LENGTH[i] * cos(q[3 * i + 2]);
        s[i] = LENGTH[i] * sin(q[3 * i + 2]);
    }
    for (int k = 0; k < 4; k++) {
        p->gamma[2 * k] = p->gamma[2 * k + 1] = 0;
        for (int side = 0; side < 2; side++) {
            int i = side ? B[k] : A[k];
            if (i < 0) continue;
            double along = side ? ALONG_B[k] : ALONG_A[k], spin = q[9 + 3 * i + 2];
            double sign = side ? 1 : -1;
            p->x[k][side] = along * c[i];
            p->y[k][side] = along * s[i];
            p->gamma[2 * k] += sign * spin * spin * p->x[k][side];
            p->gamma[2 * k + 1] += sign * spin * spin * p->y[k][side];
        }
    }
}

static inline void kkt_rates(const double *y, double *f) {
    struct pins p;
    static double K[17][18];
    place(y, &p);
    memset(K, 0, sizeof K);
    for (int i = 0; i < 3; i++) {
        K[3 * i][3 * i] = K[3 * i + 1][3 * i + 1] = mass_of(i);
        K[3 * i + 2][3 * i + 2] = inertia_of(i);
        K[3 * i + 1][17] = -mass_of(i) * GRAVITY;
    }
    for (int k = 0; k < 4; k++) {
        int r = 9 + 2 * k;
        K[r][17] = p.gamma[2 * k];
        K[r + 1][17] = p.gamma[2 * k + 1];
        for (int side = 0; side < 2; side++) {
            int i = 3 * (side ? B[k] : A[k]);
            if (i < 0) continue;
            double sign = side ? 1 : -1;
            K[r][i] = K[i][r] = K[r + 1][i + 1] = K[i + 1][r + 1] = sign;
            K[r][i + 2] = K[i + 2][r] = -sign * p.y[k][side];
            K[r + 1][i + 2] = K[i + 2][r + 1] = sign * p.x[k][side];
        }
    }
    for (int j = 0; j < 17; j++) { /* Gauss with row exchanges; zeros are skipped */
        int pivot = j;
        for (int i = j + 1; i < 17; i++)
            if (fabs(K[i][j]) > fabs(K[pivot][j])) pivot = i;
        if (pivot != j)
            for (int c = j; c < 18; c++) {
                double swap = K[j][c];
                K[j][c] = K[pivot][c];
                K[pivot][c] = swap;
            }
        double inverse = 1 / K[j][j];
        for (int i = j + 1; i < 17; i++) {
            double factor = K[i][j] * inverse;
            if (factor == 0) continue;
            for (int c = j + 1; c < 18; c++) K[i][c] -= factor * K[j][c];
        }
    }
    for (int i = 16; i >= 0; i--) {
        double value = K[i][17];
        for (int c = i + 1; c < 17; c++) value -= K[i][c] * K[c][17];
        K[i][17] = value / K[i][i];
    }
    for (int i = 0; i < 9; i++) {
        f[i] = y[9 + i];
        f[9 + i] = K[i][17];
    }
}

MARCH(kkt, 18, kkt_rates)

static inline void schur_rates(const double *y, double *f) {
    struct pins p;
    double S[8][8], x[8], qdd[9];
    place(y, &p);
    memset(S, 0, sizeof S);
    for (int i = 0; i < 3; i++) {
        qdd[3 * i] = qdd[3 * i + 2] = 0;
        qdd[3 * i + 1] = -GRAVITY;
    }
    /* right-hand side Phi_q M^-1 Q - gamma; weight moves both sides of an inner pin alike */
    for (int k = 0; k < 4; k++) {
        x[2 * k] = -p.gamma[2 * k];
        x[2 * k + 1] = -p.gamma[2 * k + 1] - (A[k] < 0 ? GRAVITY : 0);
    }
    for (int k = 0; k < 4; k++)
        for (int l = 0; l <= k; l++)
            for (int s = 0; s < 2; s++)
                for (int t = 0; t < 2; t++) {
                    int i = s ? B[k] : A[k];
                    if (i < 0 || i != (t ? B[l] : A[l])) continue;
                    double m = (s == t ? 1 : -1) / mass_of(i), j = (s == t ? 1 : -1) / inertia_of(i);
                    S[2 * k][2 * l] += m + j * p.y[k][s] * p.y[l][t];
                    S[2 * k][2 * l + 1] -= j * p.y[k][s] * p.x[l][t];
                    S[2 * k + 1][2 * l] -= j * p.x[k][s] * p.y[l][t];
                    S[2 * k + 1][2 * l + 1] += m + j * p.x[k][s] * p.x[l][t];
                }
    double inverse[8]; /* Cholesky */
    for (int j = 0; j < 8; j++) {
        double d = S[j][j];
        for (int k = 0; k < j; k++) d -= S[j][k] * S[j][k];
        inverse[j] = 1 / sqrt(d);
        for (int i = j + 1; i < 8; i++) {
            double v = S[i][j];
            for (int k = 0; k < j; k++) v -= S[i][k] * S[j][k];
            S[i][j] = v * inverse[j];
        }
    }
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < i; k++) x[i] -= S[i][k] * x[k];
        x[i] *= inverse[i];
    }
    for (int i = 7; i >= 0; i--) {
        for (int k = i + 1; k < 8; k++) x[i] -= S[k][i] * x[k];
        x[i] *= inverse[i];
    }
    for (int k = 0; k < 4; k++)
        for (int side = 0; side < 2; side++) {
            int i = side ? B[k] : A[k];
            if (i < 0) continue;
            double fx = (side ? -1 : 1) * x[2 * k], fy = (side ? -1 : 1) * x[2 * k + 1];
            qdd[3 * i] += fx / mass_of(i);
            qdd[3 * i + 1] += fy / mass_of(i);
            qdd[3 * i + 2] += (p.x[k][side] * fy - p.y[k][side] * fx) / inertia_of(i);
        }
    for (int i = 0; i < 9; i++) {
        f[i] = y[9 + i];
        f[9 + i] = qdd[i];
    }
}

MARCH(schur, 18, schur_rates)
