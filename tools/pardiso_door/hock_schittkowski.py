"""Problems of Hock and Schittkowski's collection, by their numbers there, as CasADi takes them.

A problem is a function of CasADi's symbol x that returns the objective and the constraints; lower and upper
bounds of both, the start, and the known least value stand beside it. Source: [Hock and Schittkowski 1981].
"""

from dataclasses import dataclass, field
from typing import Callable

INF = float("inf")


@dataclass
class Problem:
    number: int
    start: list
    least: float  # value of the objective at the solution near the start; 2 and 20 have lower ones elsewhere
    functions: Callable  # (casadi, x) → objective, constraints
    constraints: tuple = ((), ())  # lower and upper bounds of the constraints
    lower: list = field(default_factory=list)  # of x; empty: none
    upper: list = field(default_factory=list)


def equal(count):
    return ((0,) * count, (0,) * count)


def positive(count):
    return ((0,) * count, (INF,) * count)


def squares(*terms):
    return sum(term**2 for term in terms)


PROBLEMS = [
    Problem(1, [-2, 1], 0, lambda ca, x: (100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, []),
            lower=[-INF, -1.5]),
    Problem(2, [-2, 1], 4.9412293509,
            lambda ca, x: (100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, []), lower=[-INF, 1.5]),
    Problem(3, [10, 1], 0, lambda ca, x: (x[1] + 1e-5 * (x[1] - x[0]) ** 2, []), lower=[-INF, 0]),
    Problem(4, [1.125, 0.125], 8 / 3, lambda ca, x: ((x[0] + 1) ** 3 / 3 + x[1], []), lower=[1, 0]),
    Problem(5, [0, 0], -1.9132229549810367,
            lambda ca, x: (ca.sin(x[0] + x[1]) + (x[0] - x[1]) ** 2 - 1.5 * x[0] + 2.5 * x[1] + 1, []),
            lower=[-1.5, -3], upper=[4, 3]),
    Problem(6, [-1.2, 1], 0, lambda ca, x: ((1 - x[0]) ** 2, [10 * (x[1] - x[0] ** 2)]), equal(1)),
    Problem(7, [2, 2], -(3**0.5),
            lambda ca, x: (ca.log(1 + x[0] ** 2) - x[1], [(1 + x[0] ** 2) ** 2 + x[1] ** 2 - 4]), equal(1)),
    Problem(8, [2, 1], -1,
            lambda ca, x: (-1 + 0 * x[0], [x[0] ** 2 + x[1] ** 2 - 25, x[0] * x[1] - 9]), equal(2)),
    Problem(9, [0, 0], -0.5,
            lambda ca, x: (ca.sin(ca.pi * x[0] / 12) * ca.cos(ca.pi * x[1] / 16), [4 * x[0] - 3 * x[1]]),
            equal(1)),
    Problem(10, [-10, 10], -1,
            lambda ca, x: (x[0] - x[1], [-3 * x[0] ** 2 + 2 * x[0] * x[1] - x[1] ** 2 + 1]), positive(1)),
    Problem(11, [4.9, 0.1], -8.498464223,
            lambda ca, x: ((x[0] - 5) ** 2 + x[1] ** 2 - 25, [-x[0] ** 2 + x[1]]), positive(1)),
    Problem(12, [0, 0], -30,
            lambda ca, x: (0.5 * x[0] ** 2 + x[1] ** 2 - x[0] * x[1] - 7 * x[0] - 7 * x[1],
                           [25 - 4 * x[0] ** 2 - x[1] ** 2]), positive(1)),
    Problem(14, [2, 2], 9 - 2.875 * 7**0.5,
            lambda ca, x: (squares(x[0] - 2, x[1] - 1),
                           [x[0] - 2 * x[1] + 1, -0.25 * x[0] ** 2 - x[1] ** 2 + 1]), ((0, 0), (0, INF))),
    Problem(15, [-2, 1], 306.5,
            lambda ca, x: (100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2,
                           [x[0] * x[1] - 1, x[0] + x[1] ** 2]), positive(2), upper=[0.5, INF]),
    Problem(16, [-2, 1], 0.25,
            lambda ca, x: (100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2,
                           [x[0] + x[1] ** 2, x[0] ** 2 + x[1]]), positive(2),
            lower=[-0.5, -INF], upper=[0.5, 1]),
    Problem(18, [2, 2], 5,
            lambda ca, x: (0.01 * x[0] ** 2 + x[1] ** 2, [x[0] * x[1] - 25, x[0] ** 2 + x[1] ** 2 - 25]),
            positive(2), lower=[2, 0], upper=[50, 50]),
    Problem(19, [20.1, 5.84], -6961.81381,
            lambda ca, x: ((x[0] - 10) ** 3 + (x[1] - 20) ** 3,
                           [squares(x[0] - 5, x[1] - 5) - 100, 82.81 - squares(x[1] - 5, x[0] - 6)]),
            positive(2), lower=[13, 0], upper=[100, 100]),
    Problem(20, [-2, 1], 83.5 - 25 * 3**0.5,
            lambda ca, x: (100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2,
                           [x[0] + x[1] ** 2, x[0] ** 2 + x[1], squares(x[0], x[1]) - 1]), positive(3),
            lower=[-0.5, -INF], upper=[0.5, INF]),
    Problem(21, [-1, -1], -99.96,
            lambda ca, x: (0.01 * x[0] ** 2 + x[1] ** 2 - 100, [10 * x[0] - x[1] - 10]), positive(1),
            lower=[2, -50], upper=[50, 50]),
    Problem(22, [2, 2], 1,
            lambda ca, x: (squares(x[0] - 2, x[1] - 1), [-x[0] - x[1] + 2, -x[0] ** 2 + x[1]]), positive(2)),
    Problem(23, [3, 1], 2,
            lambda ca, x: (squares(x[0], x[1]),
                           [x[0] + x[1] - 1, squares(x[0], x[1]) - 1, 9 * x[0] ** 2 + x[1] ** 2 - 9,
                            x[0] ** 2 - x[1], x[1] ** 2 - x[0]]), positive(5),
            lower=[-50, -50], upper=[50, 50]),
    Problem(24, [1, 0.5], -1,
            lambda ca, x: (((x[0] - 3) ** 2 - 9) * x[1] ** 3 / (27 * 3**0.5),
                           [x[0] / 3**0.5 - x[1], x[0] + 3**0.5 * x[1], -x[0] - 3**0.5 * x[1] + 6]),
            positive(3), lower=[0, 0]),
    Problem(26, [-2.6, 2, 2], 0,
            lambda ca, x: ((x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 4,
                           [(1 + x[1] ** 2) * x[0] + x[2] ** 4 - 3]), equal(1)),
    Problem(27, [2, 2, 2], 0.04,
            lambda ca, x: (0.01 * (x[0] - 1) ** 2 + (x[1] - x[0] ** 2) ** 2, [x[0] + x[2] ** 2 + 1]),
            equal(1)),
    Problem(28, [-4, 1, 1], 0,
            lambda ca, x: (squares(x[0] + x[1], x[1] + x[2]), [x[0] + 2 * x[1] + 3 * x[2] - 1]), equal(1)),
    Problem(29, [1, 1, 1], -16 * 2**0.5,
            lambda ca, x: (-x[0] * x[1] * x[2], [-x[0] ** 2 - 2 * x[1] ** 2 - 4 * x[2] ** 2 + 48]),
            positive(1)),
    Problem(30, [1, 1, 1], 1, lambda ca, x: (squares(x[0], x[1], x[2]), [squares(x[0], x[1]) - 1]),
            positive(1), lower=[1, -10, -10], upper=[10, 10, 10]),
    Problem(31, [1, 1, 1], 6,
            lambda ca, x: (9 * x[0] ** 2 + x[1] ** 2 + 9 * x[2] ** 2, [x[0] * x[1] - 1]), positive(1),
            lower=[-10, 1, -10], upper=[10, 10, 1]),
    Problem(32, [0.1, 0.7, 0.2], 1,
            lambda ca, x: ((x[0] + 3 * x[1] + x[2]) ** 2 + 4 * (x[0] - x[1]) ** 2,
                           [1 - x[0] - x[1] - x[2], 6 * x[1] + 4 * x[2] - x[0] ** 3 - 3]),
            ((0, 0), (0, INF)), lower=[0, 0, 0]),
    Problem(34, [0, 1.05, 2.9], -0.8340324452,
            lambda ca, x: (-x[0], [x[1] - ca.exp(x[0]), x[2] - ca.exp(x[1])]), positive(2),
            lower=[0, 0, 0], upper=[100, 100, 10]),
    Problem(35, [0.5, 0.5, 0.5], 1 / 9,
            lambda ca, x: (9 - 8 * x[0] - 6 * x[1] - 4 * x[2] + 2 * x[0] ** 2 + 2 * x[1] ** 2 + x[2] ** 2
                           + 2 * x[0] * x[1] + 2 * x[0] * x[2], [3 - x[0] - x[1] - 2 * x[2]]),
            positive(1), lower=[0, 0, 0]),
    Problem(36, [10, 10, 10], -3300,
            lambda ca, x: (-x[0] * x[1] * x[2], [72 - x[0] - 2 * x[1] - 2 * x[2]]), positive(1),
            lower=[0, 0, 0], upper=[20, 11, 42]),
    Problem(37, [10, 10, 10], -3456,
            lambda ca, x: (-x[0] * x[1] * x[2], [x[0] + 2 * x[1] + 2 * x[2]]), ((0,), (72,)),
            lower=[0, 0, 0], upper=[42, 42, 42]),
    Problem(39, [2, 2, 2, 2], -1,
            lambda ca, x: (-x[0], [x[1] - x[0] ** 3 - x[2] ** 2, x[0] ** 2 - x[1] - x[3] ** 2]), equal(2)),
    Problem(40, [0.8, 0.8, 0.8, 0.8], -0.25,
            lambda ca, x: (-x[0] * x[1] * x[2] * x[3],
                           [x[0] ** 3 + x[1] ** 2 - 1, x[0] ** 2 * x[3] - x[2], x[3] ** 2 - x[1]]), equal(3)),
    Problem(42, [1, 1, 1, 1], 28 - 10 * 2**0.5,
            lambda ca, x: (squares(x[0] - 1, x[1] - 2, x[2] - 3, x[3] - 4),
                           [x[0] - 2, squares(x[2], x[3]) - 2]), equal(2)),
    Problem(43, [0, 0, 0, 0], -44,
            lambda ca, x: (squares(x[0], x[1]) + 2 * x[2] ** 2 + x[3] ** 2 - 5 * x[0] - 5 * x[1] - 21 * x[2]
                           + 7 * x[3],
                           [8 - squares(*[x[i] for i in range(4)]) - x[0] + x[1] - x[2] + x[3],
                            10 - x[0] ** 2 - 2 * x[1] ** 2 - x[2] ** 2 - 2 * x[3] ** 2 + x[0] + x[3],
                            5 - 2 * x[0] ** 2 - x[1] ** 2 - x[2] ** 2 - 2 * x[0] + x[1] + x[3]]),
            positive(3)),
    Problem(46, [0.5 * 2**0.5, 1.75, 0.5, 2, 2], 0,
            lambda ca, x: (squares(x[0] - x[1], x[2] - 1) + (x[3] - 1) ** 4 + (x[4] - 1) ** 6,
                           [x[0] ** 2 * x[3] + ca.sin(x[3] - x[4]) - 1, x[1] + x[2] ** 4 * x[3] ** 2 - 2]),
            equal(2)),
    Problem(48, [3, 5, -3, 2, -2], 0,
            lambda ca, x: (squares(x[0] - 1, x[1] - x[2], x[3] - x[4]),
                           [x[0] + x[1] + x[2] + x[3] + x[4] - 5, x[2] - 2 * (x[3] + x[4]) + 3]), equal(2)),
    Problem(49, [10, 7, 2, -3, 0.8], 0,
            lambda ca, x: ((x[0] - x[1]) ** 2 + (x[2] - 1) ** 2 + (x[3] - 1) ** 4 + (x[4] - 1) ** 6,
                           [x[0] + x[1] + x[2] + 4 * x[3] - 7, x[2] + 5 * x[4] - 6]), equal(2)),
    Problem(50, [35, -31, 11, 5, -5], 0,
            lambda ca, x: (squares(x[0] - x[1], x[1] - x[2], x[3] - x[4]) + (x[2] - x[3]) ** 4,
                           [x[i] + 2 * x[i + 1] + 3 * x[i + 2] - 6 for i in range(3)]), equal(3)),
    Problem(51, [2.5, 0.5, 2, -1, 0.5], 0,
            lambda ca, x: (squares(x[0] - x[1], x[1] + x[2] - 2, x[3] - 1, x[4] - 1),
                           [x[0] + 3 * x[1] - 4, x[2] + x[3] - 2 * x[4], x[1] - x[4]]), equal(3)),
    Problem(52, [2, 2, 2, 2, 2], 1859 / 349,
            lambda ca, x: (squares(4 * x[0] - x[1], x[1] + x[2] - 2, x[3] - 1, x[4] - 1),
                           [x[0] + 3 * x[1], x[2] + x[3] - 2 * x[4], x[1] - x[4]]), equal(3)),
    Problem(60, [2, 2, 2], 0.03256820025,
            lambda ca, x: ((x[0] - 1) ** 2 + (x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 4,
                           [x[0] * (1 + x[1] ** 2) + x[2] ** 4 - 4 - 3 * 2**0.5]), equal(1),
            lower=[-10] * 3, upper=[10] * 3),
    Problem(63, [2, 2, 2], 961.7151721,
            lambda ca, x: (1000 - x[0] ** 2 - 2 * x[1] ** 2 - x[2] ** 2 - x[0] * x[1] - x[0] * x[2],
                           [8 * x[0] + 14 * x[1] + 7 * x[2] - 56, squares(x[0], x[1], x[2]) - 25]), equal(2),
            lower=[0, 0, 0]),
    Problem(65, [-5, 5, 0], 0.9535288567,
            lambda ca, x: ((x[0] - x[1]) ** 2 + ((x[0] + x[1] - 10) / 3) ** 2 + (x[2] - 5) ** 2,
                           [48 - squares(x[0], x[1], x[2])]), positive(1),
            lower=[-4.5, -4.5, -5], upper=[4.5, 4.5, 5]),
    Problem(71, [1, 5, 5, 1], 17.0140173,
            lambda ca, x: (x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2],
                           [x[0] * x[1] * x[2] * x[3] - 25, squares(*[x[i] for i in range(4)]) - 40]),
            ((0, 0), (INF, 0)), lower=[1] * 4, upper=[5] * 4),
    Problem(76, [0.5, 0.5, 0.5, 0.5], -4.681818181,
            lambda ca, x: (x[0] ** 2 + 0.5 * x[1] ** 2 + x[2] ** 2 + 0.5 * x[3] ** 2 - x[0] * x[2]
                           + x[2] * x[3] - x[0] - 3 * x[1] + x[2] - x[3],
                           [5 - x[0] - 2 * x[1] - x[2] - x[3], 4 - 3 * x[0] - x[1] - 2 * x[2] + x[3],
                            x[1] + 4 * x[2] - 1.5]), positive(3), lower=[0] * 4),
    Problem(77, [2, 2, 2, 2, 2], 0.24150513,
            lambda ca, x: (squares(x[0] - 1, x[0] - x[1], x[2] - 1) + (x[3] - 1) ** 4 + (x[4] - 1) ** 6,
                           [x[0] ** 2 * x[3] + ca.sin(x[3] - x[4]) - 2 * 2**0.5,
                            x[1] + x[2] ** 4 * x[3] ** 2 - 8 - 2**0.5]), equal(2)),
    Problem(78, [-2, 1.5, 2, -1, -1], -2.91970041,
            lambda ca, x: (x[0] * x[1] * x[2] * x[3] * x[4],
                           [squares(*[x[i] for i in range(5)]) - 10, x[1] * x[2] - 5 * x[3] * x[4],
                            x[0] ** 3 + x[1] ** 3 + 1]), equal(3)),
    Problem(79, [2, 2, 2, 2, 2], 0.0787768209,
            lambda ca, x: (squares(x[0] - 1, x[0] - x[1], x[1] - x[2]) + (x[2] - x[3]) ** 4
                           + (x[3] - x[4]) ** 4,
                           [x[0] + x[1] ** 2 + x[2] ** 3 - 2 - 3 * 2**0.5,
                            x[1] - x[2] ** 2 + x[3] + 2 - 2 * 2**0.5, x[0] * x[4] - 2]), equal(3)),
    Problem(80, [-2, 2, 2, -1, -1], 0.0539498478,
            lambda ca, x: (ca.exp(x[0] * x[1] * x[2] * x[3] * x[4]),
                           [squares(*[x[i] for i in range(5)]) - 10, x[1] * x[2] - 5 * x[3] * x[4],
                            x[0] ** 3 + x[1] ** 3 + 1]), equal(3),
            lower=[-2.3, -2.3, -3.2, -3.2, -3.2], upper=[2.3, 2.3, 3.2, 3.2, 3.2]),
    Problem(113, [2, 3, 5, 5, 1, 2, 7, 3, 6, 10], 24.3062091,
            lambda ca, x: (squares(x[0], x[1]) + x[0] * x[1] - 14 * x[0] - 16 * x[1] + (x[2] - 10) ** 2
                           + 4 * (x[3] - 5) ** 2 + (x[4] - 3) ** 2 + 2 * (x[5] - 1) ** 2 + 5 * x[6] ** 2
                           + 7 * (x[7] - 11) ** 2 + 2 * (x[8] - 10) ** 2 + (x[9] - 7) ** 2 + 45,
                           [105 - 4 * x[0] - 5 * x[1] + 3 * x[6] - 9 * x[7],
                            -10 * x[0] + 8 * x[1] + 17 * x[6] - 2 * x[7],
                            8 * x[0] - 2 * x[1] - 5 * x[8] + 2 * x[9] + 12,
                            -3 * (x[0] - 2) ** 2 - 4 * (x[1] - 3) ** 2 - 2 * x[2] ** 2 + 7 * x[3] + 120,
                            -5 * x[0] ** 2 - 8 * x[1] - (x[2] - 6) ** 2 + 2 * x[3] + 40,
                            -0.5 * (x[0] - 8) ** 2 - 2 * (x[1] - 4) ** 2 - 3 * x[4] ** 2 + x[5] + 30,
                            -x[0] ** 2 - 2 * (x[1] - 2) ** 2 + 2 * x[0] * x[1] - 14 * x[4] + 6 * x[5],
                            3 * x[0] - 6 * x[1] - 12 * (x[8] - 8) ** 2 + 7 * x[9]]), positive(8)),
]
