"""Functions as people write them in NumPy: benchmark problems and engineering designs from textbooks
and papers, statistics, simulations, in many styles. Each is listed with its bounds and with whether
it can be traced."""

import functools
import itertools
import math
import time
from collections import deque, namedtuple
from dataclasses import dataclass, field
from math import cos, exp, pi, sin

import numpy as np
import scipy.optimize
from numpy import sqrt
from numpy.linalg import norm
from scipy import integrate, interpolate, linalg, special, stats
from scipy.special import expit

FUNCTIONS = {}
"""Name -> function, lower bounds, upper bounds, and what stands in the way ("" for nothing)."""


def listed(lower, upper, way=""):
    """Adds a function to the list."""

    def add(function):
        name = getattr(function, "__name__", type(function).__name__)
        FUNCTIONS[name] = (function, np.array(lower, float), np.array(upper, float), way)
        return function

    return add


# --- Test problems -------------------------------------------------------------------------------


@listed([-1e3], [1e3])
def schaffer_1(x):
    return x[0] ** 2, (x[0] - 2) ** 2


@listed([-4] * 3, [4] * 3)
def fonseca_fleming(x):
    n = len(x)
    f1 = 1 - np.exp(-sum((xi - 1 / np.sqrt(n)) ** 2 for xi in x))
    f2 = 1 - np.exp(-sum((xi + 1 / np.sqrt(n)) ** 2 for xi in x))
    return np.array([f1, f2])


@listed([-5] * 3, [5] * 3)
def kursawe(x):
    f1 = 0.0
    for i in range(len(x) - 1):
        f1 += -10 * np.exp(-0.2 * np.sqrt(x[i] ** 2 + x[i + 1] ** 2))
    f2 = np.sum(np.abs(x) ** 0.8 + 5 * np.sin(x**3))
    return f1, f2


@listed([-3] * 2, [3] * 2)
def viennet(x):
    a, b = x
    r = a**2 + b**2
    return [
        0.5 * r + np.sin(r),
        (3 * a - 2 * b + 4) ** 2 / 8 + (a - b + 1) ** 2 / 27 + 15,
        1 / (r + 1) - 1.1 * np.exp(-r),
    ]


@listed([-pi] * 2, [pi] * 2)
def poloni(x):
    A1 = 0.5 * sin(1) - 2 * cos(1) + sin(2) - 1.5 * cos(2)
    A2 = 1.5 * sin(1) - cos(1) + 2 * sin(2) - 0.5 * cos(2)
    B1 = 0.5 * sin(x[0]) - 2 * cos(x[0]) + sin(x[1]) - 1.5 * cos(x[1])
    B2 = 1.5 * sin(x[0]) - cos(x[0]) + 2 * sin(x[1]) - 0.5 * cos(x[1])
    return 1 + (A1 - B1) ** 2 + (A2 - B2) ** 2, (x[0] + 3) ** 2 + (x[1] + 1) ** 2


@listed([0, 0], [5, 3])
def binh_korn(x):
    f = np.empty(2)
    f[0] = 4 * x[0] ** 2 + 4 * x[1] ** 2
    f[1] = (x[0] - 5) ** 2 + (x[1] - 5) ** 2
    return f


@listed([0] * 30, [1] * 30)
def zdt1(x):
    g = 1 + 9 * np.mean(x[1:])
    return np.array([x[0], g * (1 - np.sqrt(x[0] / g))])


@listed([0] * 10, [1] * 10)
def zdt6(x):
    f1 = 1 - exp(-4 * x[0]) * sin(6 * pi * x[0]) ** 6
    g = 1 + 9 * (x[1:].sum() / (len(x) - 1)) ** 0.25
    return [f1, g * (1 - (f1 / g) ** 2)]


@listed([0] * 7, [1] * 7)
def dtlz2(x, n_objectives=3):
    k = x.shape[0] - n_objectives + 1
    g = ((x[-k:] - 0.5) ** 2).sum()
    f = np.ones(n_objectives) * (1 + g)
    for i in range(n_objectives):
        for j in range(n_objectives - 1 - i):
            f[i] *= np.cos(x[j] * np.pi / 2)
        if i > 0:
            f[i] *= np.sin(x[n_objectives - 1 - i] * np.pi / 2)
    return f


@listed([0] * 7, [1] * 7)
def dtlz1(x):
    xm = x[2:]
    g = 100 * (len(xm) + np.sum((xm - 0.5) ** 2 - np.cos(20 * np.pi * (xm - 0.5))))
    return 0.5 * (1 + g) * np.array([x[0] * x[1], x[0] * (1 - x[1]), 1 - x[0]])


@listed([0] * 6, [1] * 6)
def uf1(x):
    n = len(x)
    odd = [j for j in range(2, n + 1) if j % 2 == 1]
    even = [j for j in range(2, n + 1) if j % 2 == 0]
    term = lambda j: (x[j - 1] - np.sin(6 * np.pi * x[0] + j * np.pi / n)) ** 2
    return (
        x[0] + 2 / len(odd) * sum(term(j) for j in odd),
        1 - np.sqrt(x[0]) + 2 / len(even) * sum(map(term, even)),
    )


@listed([-2] * 4, [2] * 4)
def scipy_rosenbrock(x):
    return np.array([scipy.optimize.rosen(x), np.dot(x, x)])


def _ackley(x):
    n = len(x)
    a = -20 * np.exp(-0.2 * np.sqrt((x**2).sum() / n))
    return a - np.exp(np.cos(2 * np.pi * x).sum() / n) + 20 + np.e


def _griewank(x):
    i = np.arange(1, len(x) + 1)
    return 1 + np.sum(x**2) / 4000 - np.prod(np.cos(x / np.sqrt(i)))


@listed([-30] * 5, [30] * 5)
def ackley_griewank(x):
    return np.array([_ackley(x), _griewank(x - 1)])


def _levy(x):
    w = 1 + (x - 1) / 4
    middle = (w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2)
    end = (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)
    return np.sin(np.pi * w[0]) ** 2 + middle.sum() + end


@listed([-10] * 4, [10] * 4)
def levy_zakharov(x):
    s = np.dot(0.5 * np.arange(1, 5), x)
    return np.hstack([_levy(x), np.sum(x**2) + s**2 + s**4])


@listed([-6] * 2, [6] * 2)
def himmelblau_beale(p):
    (x, y) = p
    himmelblau = (x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2
    beale = sum((c - x + x * y**k) ** 2 for k, c in enumerate((1.5, 2.25, 2.625), start=1))
    return np.array([himmelblau, beale])


@listed([-2] * 2, [2] * 2)
def goldstein_price_camel(x):
    x1, x2 = x[0], x[1]
    a = 1 + (x1 + x2 + 1) ** 2 * (19 - 14 * x1 + 3 * x1**2 - 14 * x2 + 6 * x1 * x2 + 3 * x2**2)
    b = 30 + (2 * x1 - 3 * x2) ** 2 * (
        18 - 32 * x1 + 12 * x1**2 + 48 * x2 - 36 * x1 * x2 + 27 * x2**2
    )
    camel = (4 - 2.1 * x1**2 + x1**4 / 3) * x1**2 + x1 * x2 + (-4 + 4 * x2**2) * x2**2
    return np.log(a * b), camel


@listed([0] * 5, [pi] * 5)
def michalewicz_styblinski(x):
    m, total = 10, 0
    for i, xi in enumerate(x, 1):
        total -= math.sin(xi) * math.sin(i * xi**2 / math.pi) ** (2 * m)
    return np.array([total, 0.5 * np.sum(np.power(x, 4) - 16 * np.square(x) + 5 * x)])


# --- Designs -------------------------------------------------------------------------------------


@listed([0.125, 0.1, 0.1, 0.125], [5, 10, 10, 5])
def welded_beam(x):
    h, length, t, b = x
    cost = 1.10471 * h**2 * length + 0.04811 * t * b * (14 + length)
    deflection = 2.1952 / (t**3 * b)
    return np.array([cost, deflection])


@listed([1, sqrt(2), sqrt(2), 1], [3, 3, 3, 3])
def four_bar_truss(x):
    F, E, L = 10, 2e5, 200
    x1, x2, x3, x4 = x
    volume = L * (2 * x1 + sqrt(2) * x2 + sqrt(x3) + x4)
    joint = F * L / E * (2 / x1 + 2 * sqrt(2) / x2 - 2 * sqrt(2) / x3 + 2 / x4)
    return volume, joint


@listed([55, 75, 1000, 11], [80, 110, 3000, 20])
def disc_brake(x):
    r2 = x[1] ** 2 - x[0] ** 2
    r3 = x[1] ** 3 - x[0] ** 3
    mass = 4.9e-5 * r2 * (x[3] - 1)
    time_to_stop = 9.82e6 * r2 / (x[2] * x[3] * r3)
    return np.asarray([mass, time_to_stop])


@listed([2.6, 0.7, 17, 7.3, 7.3, 2.9, 5], [3.6, 0.8, 28, 8.3, 8.3, 3.9, 5.5])
def speed_reducer(x):
    x1, x2, x3, x4, x5, x6, x7 = x
    weight = (
        0.7854 * x1 * x2**2 * (10 * x3**2 / 3 + 14.933 * x3 - 43.0934)
        - 1.508 * x1 * (x6**2 + x7**2)
        + 7.477 * (x6**3 + x7**3)
        + 0.7854 * (x4 * x6**2 + x5 * x7**2)
    )
    stress = np.sqrt((745 * x4 / (x2 * x3)) ** 2 + 1.69e7) / (0.1 * x6**3)
    return list({"weight": weight, "stress": stress}.values())


@listed([0.05, 0.25, 2], [2, 1.3, 15])
def spring_with_penalty(x):
    d, D, N = x
    g = np.array([1 - D**3 * N / (71785 * d**4), (D + d) / 1.5 - 1])
    penalty = np.sum(np.maximum(0, g) ** 2)
    return np.array([(N + 2) * D * d**2 + penalty, 8 * D**3 * N / (1.15e7 * d**4) + penalty])


@dataclass
class Cantilever:
    """A beam with a square section."""

    density: float = 7800.0
    E: float = 207e9
    load: float = 1e3

    def weight(self, d, length):
        return self.density * np.pi * d**2 / 4 * length

    def deflection(self, d, length):
        return 64 * self.load * length**3 / (3 * self.E * np.pi * d**4)

    def __call__(self, x):
        return np.array([self.weight(*x), self.deflection(*x)])


listed([0.01, 0.2], [0.05, 1])(Cantilever())


class Vessel:
    """A pressure vessel that keeps its last result in attributes."""

    def __init__(self):
        self.volume = None

    def cost(self, x):
        ts, th, r, length = x
        self.shell = 0.6224 * ts * r * length + 1.7781 * th * r**2
        self.volume = np.pi * r**2 * length + 4 / 3 * np.pi * r**3
        return [self.shell + 3.1661 * ts**2 * length, -self.volume]


vessel_cost = listed([0.1, 0.1, 10, 10], [2, 2, 50, 100])(Vessel().cost)

# --- Data and statistics -------------------------------------------------------------------------

RNG = np.random.default_rng(3)
RETURNS = RNG.normal(0.01, 0.05, (60, 6))
MU, SIGMA = RETURNS.mean(axis=0), np.cov(RETURNS.T)
DATA_X = np.column_stack([np.ones(40), RNG.normal(size=(40, 2))])
DATA_Y = (DATA_X @ [0.3, 1.0, -1.0] + RNG.normal(size=40) > 0).astype(float)
T = np.linspace(0, 1, 25)
MEASURED = np.exp(-2 * T) + 0.01 * RNG.normal(size=25)


@listed([0] * 6, [1] * 6)
def portfolio(w):
    w = w / np.sum(w)
    return np.array([-w @ MU, w @ SIGMA @ w])


@listed([0] * 6, [1] * 6)
def portfolio_by_einsum(w):
    risk = np.einsum("i,ij,j->", w, SIGMA, w)
    return np.array([-np.einsum("i,i", MU, w), risk, ((w - 1 / 6) ** 2).sum()])


@listed([-3] * 3, [3] * 3)
def logistic_and_ridge(w):
    p = 1 / (1 + np.exp(-DATA_X @ w))
    loss = -np.mean(DATA_Y * np.log(p) + (1 - DATA_Y) * np.log(1 - p))
    return [loss, np.linalg.norm(w) ** 2]


@listed([-3] * 3, [3] * 3)
def logistic_in_scipy(w):
    z = DATA_X.dot(w)
    loss = np.mean(special.softplus(z) if hasattr(special, "softplus") else np.logaddexp(0, z))
    return np.array([loss - np.mean(DATA_Y * z), expit(w).sum()])


@listed([0.1, 0.1], [2, 5])
def decay_fit(p):
    a, k = p
    residuals = MEASURED - a * np.exp(-k * T)
    return (residuals**2).sum(), abs(k)


@listed([-1] * 4, [1] * 4)
def polynomial_fit(c):
    r = np.polyval(c, T) - MEASURED
    roughness = np.diff(np.polyval(c, T), n=2)
    return np.array([r @ r, roughness @ roughness])


@listed([0.1, 0.1, 0.01], [3, 3, 0.5])
def gaussian_process(theta):
    amplitude, length, noise = theta
    d = T[:, None] - T[None, :]
    K = amplitude**2 * np.exp(-0.5 * (d / length) ** 2) + noise**2 * np.eye(len(T))
    L = np.linalg.cholesky(K)
    alpha = linalg.solve_triangular(L, MEASURED, lower=True)
    return np.array([0.5 * alpha @ alpha + np.sum(np.log(np.diag(L))), length])


@listed([-2, 0.2], [2, 3])
def normal_likelihood(p):
    mean, deviation = p
    ll = np.sum(-0.5 * ((MEASURED - mean) / deviation) ** 2 - np.log(deviation))
    return np.array([-ll, stats.norm.logpdf(0.3) * 0 + mean**2])


@listed([-2] * 4, [2] * 4)
def softmax_entropy(x):
    logs = x - special.logsumexp(x)
    return np.array([-(np.exp(logs) * logs).sum(), np.sum((x - 1) ** 2)])


@listed([-1] * 3, [1] * 3)
def quantile_losses(w):
    e = DATA_Y - DATA_X @ w
    return np.array([np.mean(np.where(e > 0, q * e, (q - 1) * e)) for q in (0.2, 0.5, 0.8)])


@listed([-1] * 5, [1] * 5)
def gaussian_mixture(x):
    total = 0.0
    for center, width in [(-0.5, 0.3), (0.4, 0.2)]:
        total = total + math.exp(-((x[0] - center) ** 2) / width)
    return [-total + x[1:].dot(x[1:]), norm(x - 0.5)]


# --- Simulations ---------------------------------------------------------------------------------


@listed([0.1, 0.1], [3, 3])
def spring_mass_frequencies(k):
    K = np.zeros((2, 2))
    K[0, 0] = k[0] + k[1]
    K[0, 1] = K[1, 0] = -k[1]
    K[1, 1] = k[1]
    return np.array([-np.linalg.eigvalsh(K)[0], k.sum()])


@listed([0.1] * 4, [2] * 4)
def heat_in_a_rod(k):
    n = len(k)
    A, b = np.zeros((n, n)), np.ones(n)
    for i in range(n):
        A[i, i] += k[i]
        if i + 1 < n:
            A[i, i] += k[i + 1]
            A[i, i + 1] -= k[i + 1]
            A[i + 1, i] -= k[i + 1]
    return np.array([np.linalg.solve(A, b).max(), np.sum(k)])


def _rk4(f, y, h, n):
    path = [y]
    for _ in range(n):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(y)
    return np.array(path)


@listed([0.2, 0.2], [1.5, 1.5])
def predator_prey(p):
    a, b = p
    rhs = lambda y: np.array([a * y[0] - y[0] * y[1], b * y[0] * y[1] - y[1]])
    path = _rk4(rhs, np.array([1.0, 0.5]), 0.1, 20)
    return path[:, 0].max() * 0 + path[-1, 0], np.std(path[:, 1])


@listed([0.5, 0.1, 0.0], [5, 3, 1])
def pid_by_euler(gains):
    kp, ki, kd = gains
    y, v, integral, previous = 0.0, 0.0, 0.0, 1.0
    error_sum, effort = 0.0, 0.0
    for _ in range(40):
        error = 1 - y
        integral += error * 0.05
        u = np.clip(kp * error + ki * integral + kd * (error - previous) / 0.05, -10, 10)
        previous = error
        v += 0.05 * (u - v - y)
        y += 0.05 * v
        error_sum += 0.05 * error**2
        effort += 0.05 * u**2
    return np.array([error_sum, effort])


@listed([10, 0.2], [60, 1.4])
def projectile(x):
    speed, angle = x
    t = 2 * speed * np.sin(angle) / 9.81
    return np.array([-speed * np.cos(angle) * t, 0.5 * speed**2])


@listed([0.1] * 3, [1] * 3)
def filter_energy(h):
    signal = np.sin(2 * np.pi * 3 * T)
    out = np.convolve(signal, h, mode="same")
    spectrum = np.abs(np.fft.fft(out))
    return np.array([np.sum(out**2), spectrum[8:].sum()])


@listed([0.5, 0.5], [2, 2])
def area_under_curve(p):
    y = p[0] * np.sin(np.pi * T) ** 2 + p[1] * T
    return integrate.trapezoid(y, T), np.max(y)


@listed([-1, -1, 0.1], [1, 1, 2])
def rotation(x):
    c, s = np.cos(x[2]), np.sin(x[2])
    R = np.array([[c, -s], [s, c]])
    moved = (R @ np.vstack([x[:2], [1.0, 0.5]]).T).T
    return np.array([np.linalg.norm(moved[0] - [1, 0]), np.linalg.det(R) * moved[1].sum()])


@listed([-2] * 3, [2] * 3)
def network(w):
    def layer(x, weight):
        return np.tanh(weight * x)

    out = functools.reduce(layer, w, T)
    return np.array([np.mean((out - MEASURED) ** 2), np.abs(w).sum()])


def _with_parameters(parameters, x):
    centers = np.array(parameters["centers"])
    return ((x[None, :] - centers) ** 2).sum(axis=1) * parameters["scale"]


distances = listed([-1] * 2, [2] * 2)(
    functools.wraps(_with_parameters)(
        functools.partial(_with_parameters, {"centers": [[0, 0], [1, 1], [0, 1]], "scale": 2.0})
    )
)
FUNCTIONS["distances"] = FUNCTIONS.pop("_with_parameters")


@listed([-1] * 4, [1] * 4)
def written_in_place(x):
    x = np.array(x, copy=True)
    x[1:] -= x[:-1] ** 2
    x *= 2
    total = np.zeros_like(x)
    np.add(x, 1.0, out=total)
    return np.concatenate(([np.sum(total**2)], [x[0] ** 2]))


@listed([-1] * 4, [1] * 4)
def vectorized_number(x):
    bump = np.vectorize(lambda number: math.exp(-(number**2)))
    return np.array([-bump(x).sum(), (x**2).sum()])


@listed([0.1] * 3, [3] * 3)
def stacked_and_sorted(x):
    s = np.sort(x)[::-1]
    c = np.cumsum(s)
    return np.stack([c[-1], np.linalg.norm(c), np.var(x)])


@listed([0] * 3, [1] * 3)
def interpolated(x):
    y = np.interp(x, [0, 0.5, 1], [0, 2, 1])
    return np.array([-np.min(y), np.sum(x**2)])


def _fibonacci_weights(n):
    return 1 if n < 2 else _fibonacci_weights(n - 1) + _fibonacci_weights(n - 2)


@listed([-1] * 5, [1] * 5)
def recursion(x):
    weights = [_fibonacci_weights(i) for i in range(len(x))]
    return np.dot(weights, x**2), np.dot(weights[::-1], (x - 1) ** 2)


list_of_functions = [lambda x: np.sum(x**2), lambda x: float_free(x - 1), lambda x: np.ptp(x)]


def float_free(x):
    return np.inner(x, x)


FUNCTIONS["list_of_functions"] = (list_of_functions, np.full(3, -1.0), np.full(3, 2.0), "")


@listed([-1] * 4, [1] * 4)
def pairs_of_charges(x):
    points = x.reshape(2, 2)
    energy = 0
    for i, j in itertools.combinations(range(2), 2):
        energy += 1 / np.sqrt(np.sum((points[i] - points[j]) ** 2) + 0.1)
    return np.array([energy, np.sum(points**2)])


@listed([0.1, 0.1], [2, 2])
def kinetics(k):
    conversion = 1 - np.exp(-k[0] * T)
    with np.errstate(all="ignore"):
        selectivity = k[0] / (k[0] + k[1])
    assert k.shape == (2,)
    if len(k) != 2:
        raise ValueError("two rates")
    return np.array([-conversion.mean(), -selectivity])


# --- Python's own comparisons, finite elements, distributions ------------------------------------


@listed([1, 0.5, 0.5], [4, 3, 3])
def sum_of_violations(x):
    g = [x[0] * x[1] - 1, x[1] + x[2] - 2, x[0] - 3 * x[2]]
    return np.array([x[0] + 120 * x[1], sum([max(0, gi) ** 2 for gi in g]) + x[2] ** 2])


@dataclass
class Frame:
    """Springs in a row, assembled by nodes."""

    lengths: list = field(default_factory=lambda: [1.0, 2.0, 1.5])
    load: float = 1.0

    @property
    def free(self):
        return [1, 2, 3]

    def __call__(self, area):
        K, f, u = np.zeros((4, 4)), np.zeros(4), np.zeros(4)
        f[-1] = self.load
        for e, (length, a) in enumerate(zip(self.lengths, area, strict=True)):
            nodes = np.array([e, e + 1])
            K[np.ix_(nodes, nodes)] += a / length * np.array([[1, -1], [-1, 1]])
        u[self.free] = np.linalg.solve(K[np.ix_(self.free, self.free)], f[self.free])
        return np.array([sum(n * a for n, a in zip(self.lengths, area, strict=True)), f @ u])


listed([0.5] * 3, [3] * 3)(Frame())


@listed([1] * 4, [8] * 4)
def inventory(orders):
    stock, holding, short, window = 2.0, 0.0, 0.0, deque(maxlen=2)
    for order, demand in zip(orders, [3, 5, 2, 4], strict=True):
        stock = stock + order - demand
        holding += max(stock, 0)
        short += max(-stock, 0)
        window.append(order)
    return np.array([holding + 0.1 * min(orders), short + sum(window) / len(window)])


Spread = namedtuple("Spread", "range energy")


@listed([0.1] * 3, [1] * 3)
def order_statistics(x):
    s = sorted(x, reverse=True)
    return Spread(s[0] - s[-1], sum(v**2 for v in s))


@listed([0.5, 0.2], [3, 2])
def service_level(x):
    z = (x[0] - 1) / x[1]
    return x[0] + stats.norm.cdf(z), x[1] * stats.norm.pdf(z) + linalg.norm(x) ** 2


@listed([0.5] * 4, [2] * 4)
def weighted_statistics(x):
    cov = np.cov(np.vstack([x, x**2]))[0, 1]
    return [np.average(x, weights=[1, 2, 3, 4]), np.nanmax(x), cov + math.hypot(*x)]


@listed([0.1] * 3, [2] * 3)
def impedance(x):
    R, L, C = x
    w = 2 * np.pi * np.logspace(-2, 0, 20)
    H = R / (R + 1j * w * L + 1 / (1j * w * C))
    return np.array([np.mean(np.abs(H) ** 2), -20 * np.log10(np.abs(H[3])), np.angle(H[5])])


@listed([0.05] * 6, [1] * 6)
def tail_loss(w):
    losses = -(RETURNS @ (w / w.sum()))
    return np.array([losses.mean(), np.sort(losses)[-5:].mean(), np.quantile(losses, 0.9)])


@listed([-1] * 3, [1] * 3)
def robot_arm(q, lengths=(1.0, 0.8, 0.5)):
    T = np.eye(3)
    for angle, length in zip(q, lengths, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        T = (
            T
            @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
            @ np.array([[1, 0, length], [0, 1, 0], [0, 0, 1]])
        )
    return {"miss": np.sum((T[:2, 2] - [1.2, 0.9]) ** 2)}["miss"], np.dot(q, q)


@listed([-1] * 4, [1] * 4)
def airfoil(c):
    s = np.linspace(0, 1, 30)
    y = np.polyval(np.concatenate([c, [0]]), s)
    arc = np.sum(np.sqrt(np.diff(s) ** 2 + np.diff(y) ** 2))
    bending = np.gradient(np.gradient(y, s), s)
    return np.array([(np.trapezoid(y, s) - 0.1) ** 2, arc, np.mean(bending**2)])


@listed([0] * 6, [10] * 6)
def cables(x):
    points = x.reshape(-1, 2)
    lengths = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1) + 1e-9)
    pairs = np.triu_indices(3, 1)
    return np.array([lengths[pairs].sum(), -lengths[pairs].min()])


class Wing:
    """With a class method and a cached helper."""

    DENSITY = 1.2

    def __init__(self, n):
        self.k = np.arange(1, n + 1)

    @classmethod
    def make(cls):
        return cls(3)

    @staticmethod
    @functools.lru_cache
    def weights(n):
        return np.arange(n) + 1.0

    def __call__(self, x):
        drag = 0.5 * self.DENSITY * np.sum(self.k * x**2)
        return np.array([drag, -self.weights(len(x)) @ np.tanh(x)])


listed([0] * 3, [2] * 3)(Wing.make())

# --- What cannot be traced -----------------------------------------------------------------------


@listed([-1] * 2, [1] * 2, "float(")
def through_float(x):
    r = float(np.sum(x**2))
    return np.array([r, (x[0] - 1) ** 2])


@listed([-1] * 2, [1] * 2, "if x[0] > 0")
def with_a_branch(x):
    if x[0] > 0:
        return np.array([x[0], x[1] ** 2 + 1])
    return np.array([x[0] ** 2, x[1] ** 2])


@listed([0.5, 0.5], [2, 2], "solve_ivp")
def by_solve_ivp(p):
    found = integrate.solve_ivp(lambda t, y: [-p[0] * y[0]], (0, 1), [1.0])
    return np.array([found.y[0, -1], p[0] ** 2 + p[1]])


@listed([0.5, 0.5], [2, 2], "quad")
def by_quadrature(p):
    area = integrate.quad(lambda t: np.exp(-p[0] * t), 0, 1)[0]
    return np.array([area, p.sum()])


@listed([0] * 2, [1] * 2, "spline(")
def by_a_spline(x):
    spline = interpolate.CubicSpline([0, 0.5, 1], [0, 1, 0.5])
    return np.array([-spline(x[0]), x[1] ** 2 + x[0]])


CALLS = []


@listed([-1] * 2, [1] * 2, "CALLS")
def with_an_archive(x):
    CALLS.append(x.copy())
    return np.array([np.sum(x**2), np.sum((x - 1) ** 2)])


@listed([-1] * 2, [1] * 2, "time.sleep")
def with_a_pause(x):
    time.sleep(1e-4)
    return np.array([np.sum(x**2), np.sum((x - 1) ** 2)])


@listed([0.1, 0.1], [0.9, 2], "if abs(step) < 1e-12")
def kepler(x):
    anomaly = x[1]
    for _ in range(50):
        step = (anomaly - x[0] * math.sin(anomaly) - x[1]) / (1 - x[0] * math.cos(anomaly))
        anomaly -= step
        if abs(step) < 1e-12:
            break
    return np.array([anomaly, x[0] ** 2 + x[1]])


@listed([0.05] * 6, [1] * 6, "r[r < 0]")
def semivariance(w):
    r = RETURNS @ w
    return np.array([-r.mean(), np.sqrt(np.mean(r[r < 0] ** 2))])
