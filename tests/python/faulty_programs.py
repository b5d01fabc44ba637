"""Faulty programs as users write them: number of PEs, program behind the BEGIN of test_hangs.py, first line."""

from __future__ import annotations

FAULTY = {
    "a token that goes to the wrong PE in the second lap": (
        3,
        """
        for lap in range(1, 4):
            if me == 0:
                atoll.p(x[0:1], lap, 1)
            atoll.wait_until(x, "==", lap, index=0)
            if me != 0:
                atoll.p(x[0:1], lap, 0 if me == 1 and lap == 2 else (me + 1) % 3)
        """,
        r"PE 1 updated the awaited word of PE 0, where PE 2 follows the pattern of the others \((?:its|their) \w+: program\.py:\d+\); PE 0 waits",
    ),
    "a token that a PE sends to itself": (
        3,
        """
        s = atoll.zeros(1, dtype="uint64")
        if me == 0:
            atoll.put_signal(x, np.ones(4, dtype="int64"), s, 1, pe=1)
        atoll.signal_wait_until(s, "==", 1)
        if me != 0:
            atoll.put_signal(x, np.ones(4, dtype="int64"), s, 1, pe=1 if me == 1 else 0)
        atoll.barrier_all()
        """,
        r"PE 1 signalled its own copy of the awaited word, and none is known on PE 0 \((?:its|their) \w+: program\.py:\d+\); PE 0,2 wait in",
    ),
    "a first token that goes back": (
        3,
        """
        if me == 0:
            atoll.p(x[0:1], 1, 1)
        if me != 0:
            atoll.wait_until(x, "==", 1, index=0)
            atoll.p(x[0:1], 1, 0)
        atoll.barrier_all()
        """,
        r"PE 1 updated the awaited word of PE 0, PE 0 updated the awaited word of PE 1, and none is known on PE 2 \((?:its|their) \w+: program\.py:\d+(?:, program\.py:\d+)?\);",
    ),
    "a buffer that is announced by the number 0": (
        2,
        """
        full, free = atoll.signal(2), atoll.signal(2)
        for frame in range(6):
            slot, turn = frame % 2, frame // 2
            if me == 0:
                if turn > 0:
                    atoll.signal_wait_until(free, ">=", turn, index=slot)
                atoll.put_signal(x, np.full(4, frame), full, turn, pe=1, index=slot)
            else:
                atoll.signal_wait_until(full, ">=", turn + 1, index=slot)
                atoll.signal_set(free, turn + 1, 0, index=slot)
        """,
        r"PE 0 has set the awaited word once, to 0, which it was before \(its signals: program\.py:\d+\); PE 1 waits in",
    ),
    "a signal of the array for the other side": (
        2,
        """
        from_left, from_right = atoll.signal(), atoll.signal()
        if me == 1:
            atoll.put_signal(x, np.ones(4, dtype="int64"), from_left, 1, pe=0)
        else:
            atoll.signal_wait_until(from_right, ">=", 1)
        atoll.barrier_all()
        """,
        r"PE 0 waits in .*, for a word that no PE is known to have updated \(signals of other words of PE 0: PE 1 at program\.py:\d+\)",
    ),
    "the last block of a PE that is left out": (
        3,
        """
        ready = atoll.zeros(8, dtype="int64")
        for block in range(me, 7, 3):
            for pe in range(3):
                atoll.atomic_set(ready, 1, pe, index=block)
        if me == 0:
            for block in range(8):
                atoll.wait_until(ready, "==", 1, index=block)
        atoll.barrier_all()
        """,
        r"PE 1 is not known to have updated element 7 of that array, the next after its 1,4 in the pattern of all \(its updates: program\.py:\d+\); PE 0 waits in",
    ),
    "a mean of one PE among exchanges of halos": (
        2,
        """
        from atoll import arrays
        u = arrays.ones(8, halo=1)
        for step in range(4):
            u.exchange_halo("periodic")
            if step == 2 and me == 0:
                u.mean()
        """,
        r"PE 0 waits in mean at program\.py:\d+ .*for PE 1, which waits for it in exchange_halo at program\.py:\d+",
    ),
    "a consumer that returns no credit": (
        3,
        """
        full, credit = atoll.zeros(1, dtype="uint64"), atoll.zeros(1, dtype="uint64")
        for item in range(6):
            if me == 0:
                if item >= 4:
                    atoll.signal_wait_until(credit, ">=", item - 3)
                atoll.put_signal(x, np.full(4, item), full, item + 1, pe=1)
            elif me == 1:
                atoll.signal_wait_until(full, ">=", item + 1)
        atoll.barrier_all()
        """,
        r"PE 1 is not known to have updated the awaited word, and PE 0 updates words of PE 1 alone; PE 0 waits",
    ),
    "a flag that is forgotten in the last step": (
        4,
        """
        for step in range(1, 4):
            if not (me == 1 and step == 3):
                atoll.p(x[0:1], step, (me + 1) % 4)
            atoll.wait_until(x, ">=", step, index=0)
        atoll.barrier_all()
        """,
        r"PE 1 last set the awaited word to 2, where PE 0,2,3 last set other PEs' to 3 \((?:its|their) \w+: program\.py:\d+\); PE 2 waits",
    ),
    "a worker that fails in its thread": (
        3,
        """
        import threading
        def work():
            atoll.p(x[me:me + 1], {2: 7}[me], 0)
        threading.excepthook = lambda _: None
        if me != 0:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        else:
            for pe in (1, 2):
                atoll.wait_until(x, "!=", 0, index=pe)
        atoll.barrier_all()
        """,
        r"PE 1 is not known to have updated the awaited element, and others have updated those beside it \(updates of others: program\.py:\d+(?:, program\.py:\d+)?\); PE 0 waits",
    ),
    "a call of a team that one member leaves out": (
        4,
        """
        team = atoll.WORLD.split_strided(1, 1, 3)
        if me in (1, 2):
            team.barrier()
        atoll.barrier_all()
        """,
        r"PE 3 waits in barrier of the world team at program.py:7, and PE 1,2 wait for it in barrier of team 1 at "
        r"program.py:6",
    ),
    "a wait for one PE more": (
        3,
        """
        if me != 0:
            atoll.atomic_add(x, 1, 0, index=0)
        else:
            atoll.wait_until(x, "==", 3, index=0)
        atoll.barrier_all()
        """,
        r"PE 0 waits for 3, and each of the 2 other PEs has added 1 .*; PE 0 waits in wait_until .* at program.py:7",
    ),
    "a halo exchange that one PE leaves out": (
        3,
        """
        import atoll.arrays
        a = atoll.arrays.zeros(12, halo=1)
        for step in range(3):
            if (me, step) != (2, 1):
                a.exchange_halo()
        a.sum()
        """,
        r"PE 2 waits in sum at program.py:9 \(its reduce\) for PE [01], which waits for it in exchange_halo at "
        r"program.py:8 \(its signal_wait_until\)",
    ),
    "a redistribution that one PE leaves out": (
        3,
        """
        import atoll.arrays
        a = atoll.arrays.zeros((6, 6))
        if me != 1:
            a = a.redistribute(grid=(1, 3))
        atoll.barrier_all()
        """,
        r"PE 1 called barrier at program.py:8 as call \d+ of the world team, where PE (?:0,2|0|2) called redistribute at "
        r"program.py:7 \(its \w+",
    ),
    "one edge too few, counted in one word with others": (
        4,
        """
        s = atoll.signal()
        for step in range(1, 21):
            for side, pe in enumerate((me ^ 2, me ^ 2, me ^ 1, me ^ 1)):
                if (me, step, side) != (3, 5, 3):
                    atoll.signal_add(s, 1, pe)
            atoll.signal_wait_until(s, ">=", 4 * step)
        atoll.barrier_all()
        """,
        r"PE 3 has added to the awaited word 39 times, and PE 2 to that of PE 3 40 times \((?:its|their) \w+: program\.py:\d+(?:, program\.py:\d+)?\); PE 2 waits in",
    ),
    "a wait for the row of another neighbour": (
        4,
        """
        table = atoll.zeros((4, 4), dtype="uint64")
        for step in range(4):
            atoll.signal_set(table, 1, (me + 1) % 4, index=4 * me + step)
            left = 3 if me == 2 else (me - 1) % 4
            atoll.signal_wait_until(table, "==", 1, index=4 * left + step)
        """,
        r"PE 2 waits for an element that PE 3 signalled on PE 0, where PE 1 signalled others on PE 2 \((?:its|their) \w+: program\.py:\d+(?:, program\.py:\d+)?\); PE 2 waits in "
        r"signal_wait_until on element 12 of .* at program.py:8; .*PE 0,1 wait for other words",
    ),
    "a credit to the wrong PE, for which others wait too": (
        4,
        """
        full, credit = atoll.signal(), atoll.signal()
        for item in range(1, 21):
            if me > 0:
                atoll.signal_wait_until(full, ">=", item)
                atoll.signal_add(credit, 1, 0 if me == 3 else me - 1)
            if me < 3:
                if item > 1:
                    atoll.signal_wait_until(credit, ">=", item - 1)
                atoll.put_signal(x, x, full, item, pe=me + 1)
        atoll.barrier_all()
        """,
        r"PE 3 signalled the awaited word of PE 0, where PE 2 follows the pattern of the others \((?:its|their) \w+: program\.py:\d+\); PE 2 waits in "
        r"[^;]*at program.py:11; PE 0 waits for other words, and every PE waits",
    ),
    "a team that is called in the place of another": (
        6,
        """
        rows, columns = atoll.WORLD.split_2d(3)
        for step in range(3):
            (columns if (me, step) == (4, 2) else rows).barrier()
            columns.barrier()
        atoll.barrier_all()
        """,
        r"PE 4 waits in barrier of team 2 at program.py:7, and PE 3,5 wait for it in barrier of team 1 at program.py:6",
    ),
    "a tree in which a PE leaves out its last round": (
        7,
        """
        up, go = atoll.zeros(2, dtype="int64"), atoll.zeros(1, dtype="int64")
        for step in range(1, 4 if me != 4 else 3):
            for side in range(2):
                if 2 * me + 1 + side < 7:
                    atoll.wait_until(up, ">=", step, index=side)
            if me > 0:
                atoll.atomic_set(up, step, (me - 1) // 2, index=(me - 1) % 2)
                atoll.wait_until(go, ">=", step, index=0)
            for child in (2 * me + 1, 2 * me + 2):
                if child < 7:
                    atoll.p(go[0:1], step, child)
        atoll.barrier_all()
        """,
        r"PE 4 last set the awaited word to 2, where PE 2,6 last set other PEs' to 3 \(its updates: program\.py:10\); "
        r"PE 1 waits in wait_until on element 1 .* at program\.py:8; PE 4 waits in barrier at program\.py:15; PE 0",
    ),
    "a child that a PE of a tree does not have": (
        6,
        """
        up, go = atoll.zeros(2, dtype="int64"), atoll.zeros(1, dtype="int64")
        for side in range(2):
            if 2 * me + 1 < 6:
                atoll.wait_until(up, ">=", 1, index=side)
        if me > 0:
            atoll.atomic_set(up, 1, (me - 1) // 2, index=(me - 1) % 2)
            atoll.wait_until(go, ">=", 1, index=0)
        """,
        r"PE 2 waits for an update of a child that it does not have: PE 1,3-5 updated words of their parents in a "
        r"binary tree, and PE 5 is its only child .*; PE 2 waits in wait_until on element 1 .* at program\.py:7",
    ),
    "a set among additions of one other PE": (
        3,
        """
        s = atoll.signal()
        for item in range(6):
            if me == 1:
                atoll.signal_add(s, 1, 0)
            elif me == 2:
                atoll.signal_set(s, item + 1, 0)
            atoll.barrier_all()
        if me == 0:
            atoll.signal_wait_until(s, "==", 12)
        atoll.barrier_all()
        """,
        r"PE 2 last set the awaited word to 6, to which PE 1 adds 1 \(its signals: program\.py:9\); PE 0 waits in",
    ),
    "a binomial tree to which a PE does not come": (
        8,
        """
        up = atoll.signal()
        children = [me + mask for mask in (1, 2, 4) if me & (2 * mask - 1) == 0 and me + mask < 8]
        if me != 6:
            if children:
                atoll.signal_wait_until(up, ">=", len(children))
            if me > 0:
                atoll.signal_add(up, 1, me & (me - 1))
        atoll.barrier_all()
        """,
        r"PE 6 waits in barrier at program\.py:11 for PE 4, which waits for it in signal_wait_until at program\.py:8 \(.*: "
        r"found 1, waiting for >= 2, PE 6 is not known to have signalled the awaited word, where PE 1-3,5,7 signalled words "
        r"of their parents in a binomial tree",
    ),
}
