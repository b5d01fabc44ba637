"""Counts checks in the code that numba-cuda compiles, without a GPU, of the kernels of numba_places.py and
numba_bounds.py.

It counts for each kernel the calls that refuse an address, with compare -6, and tells whether its wait has
its own bound. It also prints the key of a cached kernel.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import sys
from types import SimpleNamespace
from typing import Any

import atoll
import numba
import numba_bounds
import numba_places
from atoll._kernels import ptx
from numba import cuda

numba.cuda.dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(9, 0))
WRONG_ADDRESS = f"st.relaxed.sys.global.u32 [w+{ptx.AT['report'] + ptx.AT['report_subject']}], {ptx.AT['subject wrong_address']};"
team, places, bounds = atoll.WORLD.device("host"), numba_places, {}
given = (team, places.x, places.ordinary, 0, places.no_box)


def ptx_of(function: Any, values: Any) -> str:
    types = tuple(numba.typeof(value) for value in values)
    return str(cuda.compile(function, types, device=True, cc=(9, 0), output="ptx", abi="numba")[0])


def calls(ptx: str, name: str) -> int:
    return len(re.findall(rf"\bcall\.uni\s+(?:\(\w+\),\s*)?{name}\b", ptx))


refused = {}
for name, (_, function) in places.CALLS.items():
    ptx = ptx_of(function, given)
    refused[name] = [calls(ptx, "atoll_refuse_address"), WRONG_ADDRESS in ptx]
if "bounds" in sys.argv:
    for _, kernel, values in numba_bounds.waits:
        ptx = ptx_of(kernel.function, [team, *values])
        bounds[kernel.__name__] = [calls(ptx, "atoll_check_within") > 0, calls(ptx, "atoll_check_job") > 0]
kept = cuda.jit(cache=True)(places.CALLS["p"][1])
key = kept._cache._index_key((kept.typeof_pyval(team),), SimpleNamespace(magic_tuple=lambda: ()))
same = pickle.loads(pickle.dumps(key)) == key
key = hashlib.sha256(repr(key).encode()).hexdigest()
print(json.dumps({"refused": refused, "bounds": bounds, "key": key, "same": same}))
