"""kill -9 at random moments: a run and a study in folders are killed and resumed until they end,
and end as if nothing had been.

    python -m benchmarks.endurance run 30        # a run of method="auto" that ends in an atlas
    python -m benchmarks.endurance study 30      # a study of an expensive objective with a surrogate
    python -m benchmarks.endurance save 30       # a process that writes one file again and again
    python -m benchmarks.endurance interrupt 60  # Ctrl-C at random moments of `bezierflow solve -o`, start and end included

Each prints one line a kill and, at the end, whether the result is that of an uninterrupted run, bit
for bit; of a study also how many evaluations that were written down were made again (there must be
none), and how many were under way when it was killed. A file that is being written when its process
is killed is the old one or the new one, and the next one leaves nothing beside it. After Ctrl-C the
file must be there, sound, and the exit code 130; only a run that has not made its first step may
end without.
"""

import dataclasses
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

BUDGET = 16

STALE = 11.0
"""Seconds after which a save removes what a killed one left beside its file: 10, and one more."""


def objectives(x):
    """Two objectives on the host, each evaluation noted in a file, if there is one."""
    mark = os.environ.get("BEZIERFLOW_MARKS")
    y = [
        (x[0] - 0.2) ** 2 + x[1] ** 2,
        (x[0] - 0.8) ** 2 + (x[1] - 0.5) ** 2 + 0.1 * np.sin(5 * x[0]),
    ]
    if mark:
        time.sleep(0.3)
        with open(mark, "a", encoding="utf-8") as file:
            file.write(f"{float(x[0])!r} {float(x[1])!r}\n")
    return y


def solve(kind: str, folder: str | None):
    import bezierflow as bf

    if kind == "run":
        return bf.minimize(
            objectives,
            np.full(2, 0.4),
            bounds=(np.zeros(2), np.full(2, 0.6)),
            checkpoint=None if folder is None else bf.Checkpoint(folder, every=0),
        )
    return bf.minimize(
        objectives,
        None,
        bf.Surrogate(),
        bounds=(np.zeros(2), np.ones(2)),
        budget=BUDGET,
        checkpoint=folder,
    )


def content(solution, path: Path) -> bytes:
    """Everything about a solution but the time that it took."""
    solution = dataclasses.replace(solution, stats=dataclasses.replace(solution.stats, seconds=0.0))
    solution.save(path, estimate=False)
    return path.read_bytes()


def child(kind: str, folder: str, result: str) -> None:
    Path(result).write_bytes(content(solve(kind, folder or None), Path(result + ".bez")))


def start(kind: str, folder: Path | str, result: Path, marks: Path | None) -> subprocess.Popen:
    cache = {
        "JAX_COMPILATION_CACHE_DIR": str(result.parent / "cache"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    environment = {**os.environ, **cache, **({"BEZIERFLOW_MARKS": str(marks)} if marks else {})}
    command = [
        sys.executable,
        "-m",
        "benchmarks.endurance",
        "child",
        kind,
        str(folder),
        str(result),
    ]
    return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)


def written(folder: Path) -> set[tuple[float, ...]]:
    """The designs whose evaluations are in the journal of a study."""
    path = folder / "journal.jsonl"
    whole = path.read_text().split("\n")[:-1] if path.exists() else []
    records = [json.loads(line) for line in whole]
    asked = {
        r["first"] + i: tuple(x)
        for r in records
        if r["kind"] == "asked"
        for i, x in enumerate(r["x"])
    }
    return {asked[r["number"]] for r in records if r["kind"] == "told"}


def endure(kind: str, n_kills: int, work: Path, seed: int = 0) -> bool:
    """Whether the run ended as it would have without kills."""
    chance, folder, marks = random.Random(seed), work / "folder", work / "marks"
    began = time.monotonic()
    assert start(kind, "", work / "whole", None).wait() == 0
    start(kind, "", work / "whole", None).wait()  # with a warm cache
    seconds = (time.monotonic() - began) / 2
    kills, repeated, known_at_kill = 0, 0, []
    while True:
        process = start(kind, folder, work / "result", marks if kind == "study" else None)
        try:
            process.wait(chance.uniform(0, 0.8 * seconds) if kills < n_kills else None)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            if kind == "study":
                n = len(marks.read_text().splitlines()) if marks.exists() else 0
                known_at_kill.append((n, written(folder)))
            print(f"killed {kills}: {sorted(path.name for path in folder.glob('*'))}", flush=True)
            continue
        assert process.returncode == 0
        if kills >= n_kills:
            break
        shutil.rmtree(folder)  # it has ended before its time: once more
        marks.unlink(missing_ok=True)
        known_at_kill = []
    if kind == "study":
        made = [tuple(map(float, line.split())) for line in marks.read_text().splitlines()]
        repeated = sum(x in known for n, known in known_at_kill for x in made[n:])
        print(
            f"{len(made)} evaluations for a budget of {BUDGET}: {len(made) - BUDGET} were under way"
            " when it was killed"
        )
    same = (work / "result").read_bytes() == (work / "whole").read_bytes()
    stale = list(folder.glob("*.part"))
    print(
        f"{kind}: {kills} kills; result identical: {same}; written down and made again: {repeated};"
        f" stale files: {len(stale)}"
    )
    return same and not repeated and not stale


def save(n_kills: int, work: Path, seed: int = 0) -> bool:
    """Whether a file was sound after each kill, and nothing was left beside it in the end."""
    import bezierflow as bf

    chance, output, sound = random.Random(seed), work / "kept.bez", 0
    bf.minimize(bf.problems.ScaledMED(), np.zeros(3), bf.NormalFlow(degree=12)).save(output)
    for k in range(n_kills):
        command = [sys.executable, "-m", "benchmarks.endurance", "child", "saves", str(output), ""]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()  # it has begun
        time.sleep(chance.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.wait()
        sound += bf.load(output).pareto_set.degree == 12
        print(f"killed {k + 1}: {sorted(path.name for path in work.iterdir())}", flush=True)
    time.sleep(STALE)
    bf.load(output).save(output)
    stale = [path.name for path in work.iterdir() if path != output]
    print(f"save: {n_kills} kills; sound files: {sound}; stale files: {stale}")
    return sound == n_kills and not stale


def save_again_and_again(path: str) -> None:
    import bezierflow as bf

    solution = bf.load(path)
    print("begins", flush=True)
    while True:
        solution.save(path)


def interrupt(n_times: int, work: Path, seed: int = 0) -> bool:
    """Whether no Ctrl-C lost a surface."""
    from collections import Counter

    import bezierflow as bf

    chance, output, outcomes = random.Random(seed), work / "kept.bez", Counter()
    listening = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from"
        " bezierflow.cli import main; main()"
    )
    task = [
        "solve",
        "benchmarks/endurance.py:objectives",
        "--bounds",
        "0,0:0.6,0.6",
        "-o",
        str(output),
    ]

    def begin() -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-c", listening, *task],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    began = time.monotonic()
    assert begin().wait() == 0
    seconds = time.monotonic() - began
    for k in range(n_times):
        output.unlink(missing_ok=True)
        process, moment = begin(), chance.uniform(0, 1.05 * seconds)
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1].decode()
        kept = output.exists() and bf.load(output).pareto_set is not None
        began_to_solve = "━" in said  # the line of progress: from here on there is a surface
        # the same for a shell; the latter while Python itself ends
        ended_by_it = process.returncode in (130, -signal.SIGINT)
        lost = not (ended_by_it or process.returncode == 0) or (
            not kept and (began_to_solve or process.returncode == 0)
        )
        outcome = (
            "LOST"
            if lost
            else (
                "ended before"
                if process.returncode == 0
                else "kept"
                if kept
                else "nothing yet to keep"
            )
        )
        outcomes[outcome] += 1
        print(
            f"{k + 1}: after {moment:.1f} of {seconds:.1f} s: exit code {process.returncode},"
            f" {outcome}",
            flush=True,
        )
        if lost:
            print(said[-2000:])
    print(f"{n_times} interrupts: {dict(outcomes)}; stale files: {len(list(work.glob('*.part')))}")
    return not outcomes["LOST"] and not list(work.glob("*.part"))


def main() -> None:
    if sys.argv[1:3] == ["child", "saves"]:
        save_again_and_again(sys.argv[3])
    if sys.argv[1] == "child":
        child(*sys.argv[2:])
        return
    with tempfile.TemporaryDirectory() as work:
        if sys.argv[1] in ("interrupt", "save"):
            raise SystemExit(
                not {"interrupt": interrupt, "save": save}[sys.argv[1]](
                    int(sys.argv[2]), Path(work)
                )
            )
        raise SystemExit(not endure(sys.argv[1], int(sys.argv[2]), Path(work)))


if __name__ == "__main__":
    main()
