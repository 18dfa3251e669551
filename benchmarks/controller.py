"""The middle regime: a PID controller tuned by `scipy.integrate.solve_ivp`, 10 to 30 ms per call,
beside SciPy's differential evolution.

    python -m benchmarks.controller

Objectives are the integrated absolute error of a step response, weighted by time, and the
integrated square of the control. Differential evolution minimizes one weighted sum per run.
Ours is one run for all of them with `method="auto"`, then asked for the design of each weighted sum;
its calls include those of the questions. Its budgets are half of the calls of the shortest run of
differential evolution, and as many as that had. Rows go to `benchmarks/results/controller.csv`.
"""

import time
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import differential_evolution

import bezierflow as bf

RESULTS = Path(__file__).parent / "results" / "controller.csv"
BOUNDS = np.array([[1.0, 0.5, 0.5], [20.0, 15.0, 10.0]])
WEIGHTS = (0.2, 0.5, 0.8)
COLUMNS = (
    *("method", "budget", "seed", "weight", "calls", "weighted_sum", "relative_to_de"),
    *("seconds_per_call", "chosen"),
)
HORIZON, LAG = 10.0, 0.05

calls = 0


def response(x: np.ndarray) -> list[float]:
    """The two objectives of the gains (proportional, integral, derivative)."""
    global calls
    calls += 1
    kp, ki, kd = (float(gain) for gain in x)

    def rates(t: float, state: np.ndarray) -> list[float]:
        position, speed, integral, filtered = state[:4]
        error = 1.0 - position
        slope = (error - filtered) / LAG  # the derivative, through a filter
        u = kp * error + ki * integral + kd * slope
        return [speed, u - 0.4 * speed - 2.0 * position, error, slope, t * abs(error), u * u]

    found = solve_ivp(rates, (0.0, HORIZON), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], rtol=1e-7, atol=1e-9)
    return [found.y[4, -1], 0.01 * found.y[5, -1]]


def evolution(weight: float, scale: np.ndarray, seed: int) -> tuple[float, int]:
    """The best weighted sum that differential evolution finds, and its calls."""
    global calls
    calls = 0
    w = np.array([weight, 1 - weight]) / scale
    best = differential_evolution(lambda x: float(w @ response(x)), BOUNDS.T.tolist(), rng=seed)
    return float(best.fun), calls


def main() -> None:
    """Writes a row per weighted sum and method."""
    global calls
    began = time.perf_counter()
    scale = np.abs(response(BOUNDS.mean(axis=0)))
    each = time.perf_counter() - began
    peers = {weight: evolution(weight, scale, 0) for weight in WEIGHTS}
    rows = [("DE", "", 0, w, n, best, 1.0, each, "") for w, (best, n) in peers.items()]
    least = min(n for _, n in peers.values())
    for budget in (least // 2, least):
        calls = 0
        solution = bf.minimize(response, bounds=tuple(BOUNDS), budget=budget, seed=0)
        found = {w: solution.at(weights=np.array([w, 1 - w]) / scale) for w in WEIGHTS}
        made, why = calls, solution.made_by["chosen"]
        for weight, answer in found.items():
            value = float(np.array([weight, 1 - weight]) / scale @ response(np.asarray(answer)))
            ratio = value / peers[weight][0]
            rows.append(("auto", budget, 0, weight, made, value, ratio, each, f'"{why}"'))
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        file.write(",".join(COLUMNS) + "\n")
        for row in rows:
            text = [f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in row]
            file.write(",".join(text) + "\n")
            print(*text, flush=True)


if __name__ == "__main__":
    main()
