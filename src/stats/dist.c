#include "stats/dist.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define CF_STEPS 100000  /* the fraction needs O(sqrt(max(a, b))) steps: 4472 at the maximum */
#define SOLVE_STEPS 2200 /* bisection over all doubles in [0, 1] ends within 1074 + 53 halvings */
#define NEWTON_STEPS 500

double btz_stats_normal_cdf(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

double btz_stats_normal_quantile(double p)
{
    double tail = p < 0.5 ? p : 1 - p;
    double r;
    double z;

    if (!(p >= 0 && p <= 1)) {
        return NAN;
    }
    if (tail == 0) {
        return p < 0.5 ? -INFINITY : INFINITY;
    }
    if (tail == 0.5) {
        return 0;
    }
    /* Upper-tail deviate z >= 0 with Q(z) = tail. */
    r = sqrt(-2 * log(tail));
    z = r - (2.515517 + r * (0.802853 + r * 0.010328)) /
                (1 + r * (1.432788 + r * (0.189269 + r * 0.001308)));
    for (int i = 0; i < 3; i++) {
        double upper = 0.5 * erfc(z * M_SQRT1_2);
        double density = exp(-0.5 * z * z) * 0.5 * M_SQRT1_2 * M_2_SQRTPI;
        double step = (upper - tail) / density;

        /* Halley: f = Q - tail, f' = -density, f'' = z * density. */
        z += step / (1 - 0.5 * z * step);
    }
    return p < 0.5 ? -z : z;
}

/* What Stirling's formula leaves out: ln Gamma(a) - [(a - 1/2) ln a - a + ln(2 pi) / 2]; the series
 * is DLMF 5.11.1. */
static double stirling_rest(double a)
{
    double inv = 1 / a;
    double inv2 = inv * inv;

    if (a < 16) {
        return lgamma(a) - ((a - 0.5) * log(a) - a + 0.91893853320467274178);
    }
    return inv * (1.0 / 12 -
                  inv2 * (1.0 / 360 - inv2 * (1.0 / 1260 - inv2 * (1.0 / 1680 - inv2 / 1188))));
}

/* a ln(a / m) + m - a without cancellation for a near m: Loader (2000), "Fast and accurate
 * computation of binomial probabilities". */
static double deviance(double a, double m)
{
    double v = (a - m) / (a + m);
    double sum;
    double power;

    if (fabs(v) >= 0.1) {
        return a * log(a / m) + m - a;
    }
    sum = (a - m) * v;
    power = 2 * a * v;
    for (int j = 1; j < 100; j++) {
        double next;

        power *= v * v;
        next = sum + power / (2 * j + 1);
        if (next == sum) {
            break;
        }
        sum = next;
    }
    return sum;
}

/* x^a y^b / B(a, b) with y = 1 - x given apart, in Loader's saddle-point form. */
static double beta_kernel(double x, double y, double a, double b)
{
    double n = a + b;

    if (x <= 0 || y <= 0) {
        return 0;
    }
    return exp(stirling_rest(n) - stirling_rest(a) - stirling_rest(b) - deviance(a, n * x) -
               deviance(b, n * y)) *
           sqrt(a / n * b * 0.5 * M_1_PI);
}

/* The fraction of DLMF 8.17.22; converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = DBL_MIN / DBL_EPSILON;
    double c = 1;
    double d = 1 - (a + b) * x / (a + 1);
    double result;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    result = d;
    for (int m = 1; m < CF_STEPS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double factor;

        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        result *= c * d;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        factor = c * d;
        result *= factor;
        if (fabs(factor - 1) <= DBL_EPSILON) {
            return result;
        }
    }
    return NAN;
}

/* I_x(a, b) with y = 1 - x given apart, so that either may be tiny. */
static double beta_cdf(double x, double y, double a, double b)
{
    if (x <= 0) {
        return 0;
    }
    if (y <= 0) {
        return 1;
    }
    if (x < (a + 1) / (a + b + 2)) {
        return beta_kernel(x, y, a, b) * beta_fraction(x, a, b) / a;
    }
    return 1 - beta_kernel(y, x, b, a) * beta_fraction(y, b, a) / b;
}

static bool is_shape(double a)
{
    return a > 0 && a <= BTZ_STATS_SHAPE_MAX;
}

double btz_stats_beta_cdf(double x, double a, double b)
{
    if (!is_shape(a) || !is_shape(b) || !(x >= 0 && x <= 1)) {
        return NAN;
    }
    return beta_cdf(x, 1 - x, a, b);
}

static bool is_binomial(double k, double n, double p)
{
    return n >= 0 && n < BTZ_STATS_SHAPE_MAX && n == floor(n) && p >= 0 && p <= 1 && !isnan(k);
}

double btz_stats_binomial_cdf(double k, double n, double p)
{
    double whole = floor(k);

    if (!is_binomial(k, n, p)) {
        return NAN;
    }
    if (whole < 0) {
        return 0;
    }
    return whole >= n ? 1 : beta_cdf(1 - p, p, n - whole, whole + 1);
}

double btz_stats_binomial_point(double k, double n, double p)
{
    if (!is_binomial(k, n, p)) {
        return NAN;
    }
    if (k < 0 || k > n || k != floor(k)) {
        return 0;
    }
    if (p == 0 || p == 1) {
        return k == (p == 0 ? 0 : n) ? 1 : 0;
    }
    if (k == 0 || k == n) { /* also n = 0 */
        return exp(n * (k == 0 ? log1p(-p) : log(p)));
    }
    /* x^a y^b / B(a, b) = a b / (a + b) * C(a + b, a) x^a y^b. */
    return beta_kernel(p, 1 - p, k, n - k) * n / (k * (n - k));
}

double btz_stats_beta_quantile(double p, double a, double b)
{
    double lo = 0;
    double hi = 1;
    double x;

    if (!is_shape(a) || !is_shape(b) || !(p >= 0 && p <= 1)) {
        return NAN;
    }
    if (p == 0 || p == 1) {
        return p;
    }
    x = a / (a + b);
    for (int i = 0; i < SOLVE_STEPS; i++) {
        double excess = beta_cdf(x, 1 - x, a, b) - p;
        double density = beta_kernel(x, 1 - x, a, b) / (x * (1 - x));
        double next = x - excess / density;

        if (excess == 0) {
            return x;
        }
        if (excess > 0) {
            hi = x;
        } else {
            lo = x;
        }
        if (!(next > lo && next < hi)) { /* also when the density is 0 or not finite */
            next = lo + (hi - lo) / 2;
        }
        if (fabs(next - x) <= 2 * DBL_EPSILON * x || next == lo || next == hi) {
            return next;
        }
        x = next;
    }
    return NAN;
}

/* P(T > t) for t >= 0. */
static double t_upper(double t, double df)
{
    double sum = df + t * t;

    return 0.5 * beta_cdf(df / sum, t * t / sum, df / 2, 0.5);
}

double btz_stats_t_quantile(double p, double df)
{
    double tail = p < 0.5 ? p : 1 - p;
    double t;

    if (!(df >= 1 && df <= 2 * BTZ_STATS_SHAPE_MAX) || !(p > 0 && p < 1)) {
        return NAN;
    }
    if (p == 0.5) {
        return 0;
    }
    /* The normal deviate lies below the root and P(T > t) is convex for t > 0, so Newton's steps
     * climb to the root from the left and cannot pass it. */
    t = fabs(btz_stats_normal_quantile(tail));
    for (int i = 0; i < NEWTON_STEPS; i++) {
        double sum = df + t * t;
        double kernel = beta_kernel(t * t / sum, df / sum, 0.5, df / 2); /* = t * density */
        double step = (t_upper(t, df) - tail) * t / kernel;

        if (!(step > DBL_EPSILON * t)) {
            return p < 0.5 ? -t : t;
        }
        t += step;
    }
    return NAN;
}
