"""Writes src-tauri/metrics/tests/oracle/stats.json: what SciPy, statsmodels and plain counting say about cases of our own.

A development script; no test runs it. `python3 -m venv DIR && DIR/bin/pip install scipy statsmodels && DIR/bin/python scripts/oracle/stats.py`.
Nothing here shares a formula with the Rust sources where a package or an enumeration can say it instead.
"""

import itertools
import json
import math
import pathlib
import statistics
from fractions import Fraction

import numpy as np
import scipy
import statsmodels
from scipy import optimize, stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

OUT = pathlib.Path(__file__).resolve().parents[2] / "src-tauri/metrics/tests/oracle/stats.json"
random = np.random.default_rng(20)


def wilson_cases():
    for n in (1, 2, 3, 7, 10, 29, 100, 263, 5000):
        for passed in sorted({0, 1, n // 3, n // 2, n - 1, n}):
            for level in (0.8, 0.95, 0.99):
                low, high = proportion_confint(passed, n, 1 - level, "wilson")
                yield {"passed": passed, "n": n, "level": level, "low": low, "high": high}


def mcnemar_cases():
    for both, first, second, neither in itertools.product((0, 4), (0, 1, 5, 12, 40), (0, 2, 7, 33, 300), (1, 9)):
        table = [[both, first], [second, neither]]
        n = both + first + second + neither
        low, high = newcombe(table, n)
        yield {
            "table": [both, first, second, neither],
            "p": float(mcnemar(table, exact=True).pvalue),
            "difference": (first - second) / n,
            "low": low,
            "high": high,
        }


def newcombe(table, n):
    """Method 10 of Newcombe (1998), from the Wilson intervals of statsmodels."""
    (a, b), (c, d) = table
    theta1, theta2 = (a + b) / n, (a + c) / n
    (l1, u1), (l2, u2) = (proportion_confint(x, n, 0.05, "wilson") for x in (a + b, a + c))
    product = (a + b) * (c + d) * (a + c) * (b + d)
    numerator = a * d - b * c
    if numerator > n / 2:
        numerator -= n / 2
    elif numerator >= 0:
        numerator = 0
    phi = numerator / math.sqrt(product) if product else 0.0
    dl1, du1, dl2, du2 = theta1 - l1, u1 - theta1, theta2 - l2, u2 - theta2
    delta = math.sqrt(max(0.0, dl1**2 - 2 * phi * dl1 * du2 + du2**2))
    epsilon = math.sqrt(max(0.0, du1**2 - 2 * phi * du1 * dl2 + dl2**2))
    return max(-1.0, theta1 - theta2 - delta), min(1.0, theta1 - theta2 + epsilon)


def repeat_cases():
    for n in (1, 2, 5, 10, 50):
        for passed in sorted({0, 1, n // 2, n - 1, n}):
            for k in sorted({1, 2, 3, n // 2, n} & set(range(1, n + 1))):
                at = 1 - Fraction(math.comb(n - passed, k), math.comb(n, k))
                every = Fraction(math.comb(passed, k), math.comb(n, k))
                yield {"k": k, "passed": passed, "n": n, "at": float(at), "all": float(every)}


def kappa_cases():
    tables = [[[20, 5], [10, 15]], [[53, 5, 2], [11, 14, 5], [1, 6, 3]], [[0, 3], [4, 0]], [[1, 2], [0, 1]]]
    tables += [random.integers(0, 12, (size, size)).tolist() for size in (2, 3, 4, 5)]
    for table in tables:
        for name, weights in (("none", None), ("linear", "linear"), ("quadratic", "quadratic")):
            found = cohens_kappa(np.array(table), wt=weights)
            low, high = found.kappa_low, found.kappa_upp
            yield {"table": table, "weights": name, "value": float(found.kappa), "low": max(-1.0, float(low)), "high": min(1.0, float(high))}


def cluster_values(clusters, most, kind):
    """(cluster, value) with more alike within than between."""
    rows = []
    for cluster in range(clusters):
        middle = random.beta(1.2, 0.8)
        for _ in range(int(random.integers(1, most + 1))):
            if kind == "pass":
                value = float(random.random() < middle)
            elif kind == "difference":
                value = round(float(random.normal(middle - 0.5, 0.2)), 2)
            else:
                value = round(float(np.clip(random.normal(middle, 0.1), 0, 1)), 3)
            rows.append([cluster, value])
    return rows


def robust(rows):
    """Mean and cluster-robust standard error from a regression on nothing but a constant."""
    clusters, values = np.array([row[0] for row in rows]), np.array([row[1] for row in rows], float)
    fit = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    return float(fit.params[0]), float(fit.bse[0])


def clustered_rate_cases():
    for clusters, most in ((3, 4), (10, 1), (10, 5), (40, 8)):
        rows = cluster_values(clusters, most, "pass")
        tasks = [[int(sum(v for c, v in rows if c == task)), sum(c == task for c, _ in rows)] for task in range(clusters)]
        share, error = robust(rows)
        n = len(rows)
        effective = min(max(share * (1 - share) / error**2, clusters), n)
        low, high = proportion_confint(share * effective, effective, 0.05, "wilson")
        yield {"tasks": tasks, "effective": effective, "low": float(low), "high": float(high)}


def bootstrap_cases():
    # Few enough clusters to look at every resample; more of them through SciPy.
    for clusters, most, kind in ((3, 1, "score"), (5, 3, "score"), (6, 2, "pass"), (7, 1, "difference"), (30, 4, "score"), (60, 1, "difference")):
        rows = cluster_values(clusters, most, kind)
        sums = np.array([[sum(v for c, v in rows if c == k), sum(c == k for c, _ in rows)] for k in range(clusters)], float)
        tail = stats.norm.cdf(-math.sqrt(clusters / (clusters - 1)) * stats.t.ppf(0.975, clusters - 1))
        if clusters <= 7:
            means = [sums[list(drawn)].sum(0) for drawn in itertools.product(range(clusters), repeat=clusters)]
            means = np.array([one[0] / one[1] for one in means])
            low, high = np.quantile(means, [tail, 1 - tail])
        else:
            found = stats.bootstrap(
                (sums[:, 0], sums[:, 1]), lambda s, n, axis=-1: s.sum(axis) / n.sum(axis), paired=True, vectorized=True,
                n_resamples=200_000, batch=10_000, confidence_level=1 - 2 * tail, method="percentile", rng=np.random.default_rng(3),
            )
            low, high = found.confidence_interval
        mean, error = robust(rows)
        yield {"rows": rows, "mean": mean, "error": error, "low": float(low), "high": float(high)}


def flip_cases():
    for clusters, most in ((2, 1), (4, 1), (9, 1), (8, 3), (14, 2)):
        rows = cluster_values(clusters, most, "difference")
        sums = np.array([round(sum(v for c, v in rows if c == k), 6) for k in range(clusters)])
        found = stats.permutation_test((sums,), lambda x, axis=-1: abs(x.sum(axis)), permutation_type="samples",
                                       n_resamples=np.inf, alternative="greater", vectorized=True)
        yield {"rows": rows, "p": float(found.pvalue), "exact": True}
    # Whole hundredths: the distribution of all 2^n flips by convolution.
    for clusters, exact in ((26, True), (32, True), (70, False)):
        values = random.integers(-60, 100, clusters)
        ways = {0: 1}
        for value in values.tolist():
            after = {}
            for total, number in ways.items():
                for next_total in (total + value, total - value):
                    after[next_total] = after.get(next_total, 0) + number
            ways = after
        observed = abs(int(values.sum()))
        hits = sum(number for total, number in ways.items() if abs(total) >= observed)
        rows = [[at, value / 100] for at, value in enumerate(values.tolist())]
        yield {"rows": rows, "p": float(Fraction(hits, 2**clusters)), "exact": exact}


def shown(pairs, difference, discordant, alpha):
    """How often McNemar's exact test shows a difference of rates, summed over every number of pairs that differ."""
    differ = max(discordant, difference)
    total = 0.0
    for m in range(pairs + 1):
        sides = np.arange(m + 1)
        enough = sides[(2 * stats.binom.sf(sides - 1, m, 0.5) <= alpha) & (2 * sides > m)]
        if len(enough):
            total += stats.binom.pmf(m, pairs, differ) * stats.binom.sf(enough[0] - 1, m, (differ + difference) / (2 * differ))
    return total


def detectable_rate_cases():
    for pairs, discordant, power, alpha in (
        (5, 0.4, 0.8, 0.05), (6, 0.0, 0.8, 0.05), (8, 0.5, 0.8, 0.05), (20, 0.0, 0.8, 0.05), (20, 0.3, 0.8, 0.05),
        (50, 0.2, 0.8, 0.05), (50, 0.2, 0.9, 0.05), (50, 0.6, 0.8, 0.01), (200, 0.25, 0.8, 0.05), (200, 1.0, 0.8, 0.05),
    ):
        value = None
        if shown(pairs, 1.0, discordant, alpha) >= power:
            value = optimize.brentq(lambda d: shown(pairs, d, discordant, alpha) - power, 1e-9, 1.0, xtol=1e-13)
        yield {"pairs": pairs, "discordant": discordant, "power": power, "level": 1 - alpha, "value": value}


def detectable_mean_cases():
    for clusters in (2, 3, 10, 50, 400):
        for level, power in ((0.95, 0.8), (0.99, 0.9)):
            reach = stats.t.ppf(0.5 + level / 2, clusters - 1) + stats.t.ppf(power, clusters - 1)
            yield {"error": 0.05, "clusters": clusters, "level": level, "power": power, "value": 0.05 * reach}


def number_cases():
    for values in ([3.0], [1.0, 2.0], [0.1] * 10, random.lognormal(2, 1, 41).tolist(), (1e9 + random.integers(0, 8, 30) / 8).tolist()):
        yield {
            "values": values,
            "mean": statistics.mean(values),
            "deviation": statistics.stdev(values) if len(values) > 1 else None,
            "quantiles": [[q, float(np.quantile(values, q))] for q in (0, 0.1, 0.25, 0.5, 0.9, 0.95, 1)],
        }


def main():
    cases = {
        "made_with": f"SciPy {scipy.__version__}, statsmodels {statsmodels.__version__}, NumPy {np.__version__}",
        "wilson": list(wilson_cases()),
        "paired": list(mcnemar_cases()),
        "repeats": list(repeat_cases()),
        "kappa": list(kappa_cases()),
        "clustered_rate": list(clustered_rate_cases()),
        "bootstrap": list(bootstrap_cases()),
        "flips": list(flip_cases()),
        "detectable_rate": list(detectable_rate_cases()),
        "detectable_mean": list(detectable_mean_cases()),
        "numbers": list(number_cases()),
    }
    lines = [f'"{name}": {json.dumps(rows)}' if isinstance(rows, str) else
             f'"{name}": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]" for name, rows in cases.items()]
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print({name: len(rows) for name, rows in cases.items() if not isinstance(rows, str)})


main()
