#!/usr/bin/env python3
"""Runs `sinew bake` on a Ray cluster: every share of the shards is a task, a task that is lost with its worker is run again.

    python3 tools/bake_on_ray.py --address auto --tasks 64 -- hero.glb --out DATA --samples 20000 --poses animations

What follows `--` are the arguments of `sinew bake`, without --shard and --threads. FILE and DATA must be where all nodes see them
(a shared file system), and `sinew` (--sinew) be there on each. Bakes what DATA lacks, and can be run again; in the end it is one
run's data, byte for byte. Ray itself runs a task again that was lost with its worker or whose `sinew` was killed; what `sinew`
says is wrong ends all at once, for it would be wrong again. Needs Ray (pip install ray), nothing else.
"""

import argparse
import ctypes
import os
import signal
import subprocess
import sys
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", default="local", help="Ray's address (auto: the cluster that this node is of); by default a local one is started")
    parser.add_argument("--tasks", type=int, default=64, help="how many tasks the shards are dealt out to: many more than cores, so that little is lost with one")
    parser.add_argument("--cpus", type=int, default=1, help="cores a task has, and threads that it bakes on")
    parser.add_argument("--retries", type=int, default=5, help="how often a task is run again that failed or was lost with its worker")
    parser.add_argument("--sinew", default="sinew", help="the tool, as each node finds it")
    parser.add_argument("bake", nargs=argparse.REMAINDER, help="-- and the arguments of sinew bake")
    options = parser.parse_args()
    if options.bake[:1] == ["--"]:
        del options.bake[0]
    if not options.bake:
        parser.error("give the arguments of `sinew bake` behind --")
    for taken in ("--shard", "--threads"):
        if any(argument == taken or argument.startswith(taken + "=") for argument in options.bake):
            parser.error(f"{taken} is this script's; leave it out")
    return options


def killer_with_parent():
    """What a child runs so that it does not go on beside its next try where its worker is killed (Linux); None elsewhere."""
    try:
        # Looked up before the fork: a child of many threads may wait for none of their locks.
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    return lambda: prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def bake(command, share):
    """Bakes a share, or the whole."""
    command = command + (["--shard", share] if share else [])
    try:
        result = subprocess.run(command, capture_output=True, text=True, preexec_fn=killer_with_parent())
    except OSError as cannot:
        raise RuntimeError(f"{command[0]} cannot be run on {os.uname().nodename}: {cannot}") from cannot
    if result.returncode < 0:
        # As for want of memory; Ray tries again.
        raise ChildProcessError(f"{' '.join(command)}: killed by signal {-result.returncode}")
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {result.returncode}: {result.stderr.strip()}")
    return result.stdout.strip()


def main():
    options = arguments()
    import ray

    command = [options.sinew, "bake", *options.bake, "--threads", str(options.cpus)]
    ray.init(address=options.address, log_to_driver=False)

    @ray.remote(num_cpus=options.cpus, max_retries=options.retries, retry_exceptions=[ChildProcessError])
    def share_of(index, folder):
        # FILE and DATA are named as where this script runs.
        os.chdir(folder)
        try:
            bake(command, f"{index}/{options.tasks}")
        except RuntimeError as wrong:
            return str(wrong)
        return None

    folder, start = os.getcwd(), time.monotonic()
    waiting = {share_of.remote(index, folder): index for index in range(options.tasks)}
    for done in range(1, options.tasks + 1):
        [ready], _ = ray.wait(list(waiting), num_returns=1)
        index = waiting.pop(ready)
        try:
            wrong = ray.get(ready)
        except ray.exceptions.RayError as lost:
            sys.exit(f"share {index}/{options.tasks} was lost, {options.retries} tries more too; run this again to go on: {lost}")
        if wrong:
            sys.exit(wrong)
        left = (time.monotonic() - start) / done * (options.tasks - done)
        print(f"{done}/{options.tasks} shares, {left:.0f} s left", file=sys.stderr)
    # All that is there is checked, what is lacking all the same is baked, and the manifest written.
    try:
        print(bake(command, None))
    except (RuntimeError, ChildProcessError) as failed:
        sys.exit(str(failed))


if __name__ == "__main__":
    main()
