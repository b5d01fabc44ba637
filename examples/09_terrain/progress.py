"""A progress bar: tqdm's if it is installed, else a line of our own on a terminal."""

import sys


class Line:
    def __init__(self, total):
        self.total, self.shown = total, -1

    def to(self, hours):
        percent = int(100 * hours / self.total)
        if percent > self.shown and sys.stderr.isatty():
            self.shown = percent
            print(f"\rrain: {percent} %", end="", file=sys.stderr, flush=True)

    def close(self):
        if self.shown >= 0:
            print(file=sys.stderr)


class Tqdm:
    def __init__(self, tqdm, total):
        form = "rain: {percentage:3.0f}% |{bar}| {n:.2f} of {total:g} h, {remaining} left"
        self.bar = tqdm(total=total, bar_format=form, ncols=78, mininterval=0.5)

    def to(self, hours):
        self.bar.update(min(hours, self.bar.total) - self.bar.n)

    def close(self):
        self.bar.close()


class Nothing:
    def to(self, hours):
        pass

    def close(self):
        pass


def bar(hours, quiet):
    if quiet:
        return Nothing()
    try:
        from tqdm import tqdm
    except ImportError:
        return Line(hours)
    return Tqdm(tqdm, hours)
