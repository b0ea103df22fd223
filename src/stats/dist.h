/* Distribution functions that the intervals stand on. Base and libm only.
 *
 * Arguments outside the stated range give NaN. Relative errors below hold for the ranges stated
 * and are checked in tests against published tables and, apart from the product, against GSL. */
#ifndef BTZ_STATS_DIST_H
#define BTZ_STATS_DIST_H

/* Largest shape parameter of the beta functions. */
#define BTZ_STATS_SHAPE_MAX 2e7

/* P(Z <= z) for a standard normal Z, as erfc(-z / sqrt(2)) / 2 (erfc: DLMF 7.2.2); accurate in
 * the lower tail. */
double btz_stats_normal_cdf(double z);

/* z with P(Z <= z) = p for a standard normal Z; p in [0, 1], the ends give -INFINITY, INFINITY.
 * Start: Abramowitz and Stegun (1964) 26.2.23 (absolute error < 4.5e-4); then Halley steps on
 * erfc. Error < 1e-13 of max(|z|, 1) for p >= 1e-300. A p near 1 carries the rounding of 1 - p: ask
 * for the other tail and change the sign where that matters. */
double btz_stats_normal_quantile(double p);

/* Regularised incomplete beta function I_x(a, b) = P(X <= x) for X ~ Beta(a, b); x in [0, 1],
 * 0 < a, b <= BTZ_STATS_SHAPE_MAX. Continued fraction DLMF 8.17.22 (https://dlmf.nist.gov/8.17.v)
 * by the modified Lentz method (Thompson and Barnett 1986), reflected by DLMF 8.17.4 where it
 * converges slowly. Relative error < 1e-12 for a, b <= 1000, < 1e-9 up to the maximum. */
double btz_stats_beta_cdf(double x, double a, double b);

/* P(X <= k) and P(X = k) for X ~ Binomial(n, p); 0 <= n < BTZ_STATS_SHAPE_MAX, p in [0, 1], any k.
 * From P(X <= k) = I_{1-p}(n - k, k + 1) (DLMF 8.17.5) and Loader's form of the point probability.
 */
double btz_stats_binomial_cdf(double k, double n, double p);
double btz_stats_binomial_point(double k, double n, double p);

/* x with I_x(a, b) = p; p in [0, 1]. Newton steps kept inside a shrinking bracket. */
double btz_stats_beta_quantile(double p, double a, double b);

/* t with P(T <= t) = p for Student's T with `df` degrees of freedom (need not be whole);
 * p in (0, 1), 1 <= df <= 2 * BTZ_STATS_SHAPE_MAX. From P(T > t) = I_{df/(df+t^2)}(df/2, 1/2) / 2,
 * t >= 0 (Abramowitz and Stegun 26.7.1). */
double btz_stats_t_quantile(double p, double df);

#endif
