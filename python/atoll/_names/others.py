"""Names of other libraries, and what Atoll has in their place: for errors about attributes that do not exist."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence

# Names that several libraries spell alike are listed once, in lower case.
_PACKAGE = {
    "my_pe()": "rank get_rank comm_rank my_rank mype pe_id nodeid current_process",
    "n_pes()": "size get_size world_size get_world_size comm_size num_pes npes nproc nprocs nnodes",
    "WORLD": "comm_world comm world default_group team_world",
    "HOST, the PEs of this host": "team_node team_shared node nodes",
    "HOST.my_pe(), the number within this host": "local_rank get_local_rank",
    "HOST.n_pes(), the number of PEs of this host": "local_size local_world_size",
    "WORLD.split(color)": "split comm_split new_group split_type new_subgroups dup clone",
    "WORLD.split_2d(columns), with neighbours by arithmetic on my_pe()": "create_cart shift cart_create cartcomm",
    "sum_reduce(dst, src), or reduce(dst, src, op=...)": "allreduce all_reduce iallreduce sum_to_all gop_add dgop",
    "reduce(dst, src, root=...)": "reduce_to ireduce reduce_to_one",
    "fcollect(dst, src), or collect(dst, src) for parts that differ": "allgather all_gather all_gather_into_tensor iallgather",
    "collect(dst, src), which all PEs get; or put at offsets": "allgatherv allgather_v gatherv iallgatherv igatherv",
    "put(dst[begin:end], src, pe), at offsets": "scatterv iscatterv",
    "alltoall(dst, src)": "all_to_all all_to_all_single ialltoall",
    "alltoall_object(objs), or put with offsets": "alltoallv alltoallw ialltoallv",
    "broadcast(dst, src, root), or bcast_object(obj) for Python objects": "bcast ibcast brdcst broadcast_object_list",
    "allgather_object(obj)": "all_gather_object",
    "gather(dst, src, root)": "igather",
    "scatter(dst, src, root)": "iscatter",
    "reduce_scatter(dst, src)": "reduce_scatter_block reduce_scatter_tensor psum_scatter",
    "sum_inscan(dst, src)": "scan iscan cumsum",
    "sum_exscan(dst, src)": "exscan iexscan",
    "send(src, pe)": "ssend rsend send_object_list",
    "recv(dst, pe)": "recv_object_list",
    "put_signal_nbi(dst, src, sig, value, op, pe), or send within atoll.group()": "isend issend irsend ibsend bsend",
    "signal_wait_until(sig, '>=', value) after a put_signal, or recv within atoll.group()": "irecv",
    "put(dst, src, pe), or send and recv": "sendrecv sendrecv_replace batch_isend_irecv",
    "put(dst, src, pe)": "put_mem putmem write nga_put assign",
    "get(dst, src, pe)": "get_mem getmem read nga_get",
    "atomic_add(dst, value, pe), or add_at": "accumulate nga_acc acc fetch_and_op raccumulate get_accumulate atomic_increment",
    "atomic_add(dst, value, pe)": "add",
    "atomic_inc(dst, pe)": "inc increment",
    "atomic_fetch_add(dst, value, pe)": "fetch_add fadd atomic_fadd read_inc nxtval",
    "atomic_fetch_inc(dst, pe)": "finc atomic_finc fetch_inc fetch_increment",
    "atomic_swap(dst, value, pe)": "swap exchange",
    "atomic_compare_swap(dst, cond, value, pe)": "compare_and_swap compare_swap cas cswap atomic_cswap",
    "barrier_all()": "sync_threads ga_sync gsync",
    "barrier_all() for PEs, quiet() for puts": "synchronize",
    "signal_set(sig, value, pe), signal_add, or put_signal(..., op=)": "signal_op",
    "sum_reduce(dst, src), over PEs": "sum",
    "max_reduce(dst, src), over PEs": "max",
    "min_reduce(dst, src), over PEs": "min",
    "prod_reduce(dst, src), over PEs": "prod",
    "Request.wait(), of each request, or quiet() for puts": "waitall wait_all waitany waitsome testall",
    "quiet()": "flush flush_all fence_all win_fence",
    "empty(shape, dtype), zeros or array": "malloc calloc alloc allocate align shmalloc win_allocate win alloc_mem rawarray bytetensor tensor ndarray create value "
    "shared_memory sharedmemory sharedarray symmetricarray symmetric_array",
    "free(array)": "dealloc deallocate",
    "arrays.DistArray": "dtensor global_array distarray ga",
    "init()": "init_process_group initialize init_thread",
    "finalize()": "destroy_process_group shutdown terminate",
    "abort(message)": "kill error exit",
    "Pool(n)": "process threadpool threadpoolexecutor processpoolexecutor mpipoolexecutor executor spawn starmap apply_async client cluster",
    "launch(fn, n)": "start_processes mp_spawn run parallel",
    "Mailbox(nbytes)": "queue simplequeue channel pipe probe iprobe mprobe improbe",
    "Context()": "ctx_create create_ctx shmem_ctx",
    "Lock()": "rlock mutex set_lock test_lock clear_lock unlock lock_all unlock_all",
    "peer(array, pe)": "ptr get_peer_tensor get_buffer shared_query",
    "wait_until(array, '>=', value)": "wait wait_signal wait_for_signal",
    "signal(), for words, and put_signal": "event condition notify",
    "time.perf_counter()": "wtime wtick",
}
# Names without a counterpart, and what takes their part.
_ADVICE = {
    "a PE at the edge leaves out its call": "proc_null",
    "pass the same array as source and target: atoll.sum_reduce(x, x)": "in_place",
    "views of NumPy do its work: atoll.put(x[:, 0], column, pe)": "create_vector create_subarray create_contiguous create_indexed datatype",
    "no barrier returns at once; with blocking=False a reduction does: atoll.sum_reduce(dst, src, blocking=False)": "ibarrier",
    "atoll.Lock() admits one PE at a time, and nothing admits several": "semaphore boundedsemaphore",
    "divmod(atoll.my_pe(), columns) is the place in a grid, see atoll.Team.split_2d": "compute_dims get_coords get_cart_rank",
    "os.cpu_count() counts the cores, and atoll.n_pes() the PEs": "cpu_count",
    "atoll.bcast_object and atoll.allgather_object give objects to all PEs": "manager",
    "atoll.init() joins the job, and `atoll run -n 4 program.py` or atoll.launch(fn, 4) starts its PEs": "start",
    "Atoll has its own calls, such as atoll.send and atoll.sum_reduce; docs/from-mpi4py.md has those for mpi4py's": "mpi",
}
# Functions of atoll.arrays, and those of NumPy that take distributed arrays.
_OF_ARRAYS = "arange linspace random eye from_array from_function redistribute shuffle"
_OF_NUMPY = "sort argsort unique histogram dot matmul mean std var where concatenate argmax argmin"
_TEAM = {
    "my_pe() or .rank": "get_rank rank_ getrank",
    "atoll.HOST.my_pe()": "local_rank",
    "n_pes() or .size": "get_size world_size num_pes",
    "split(color, key)": "create create_group comm_split subgroup split_type new_group dup clone",
    "atoll.sum_reduce(dst, src, team=team), or atoll.reduce": "allreduce all_reduce",
    "atoll.fcollect(dst, src, team=team)": "allgather all_gather",
    "atoll.collect(dst, src, team=team), which all PEs get; or atoll.put at offsets": "allgatherv gatherv",
    "atoll.put(dst[begin:end], src, pe, team=team), at offsets": "scatterv",
    "atoll.broadcast(dst, src, root, team=team)": "bcast broadcast",
    "atoll.alltoall(dst, src, team=team)": "alltoall all_to_all",
    "atoll.reduce(dst, src, root=root, team=team)": "reduce",
    "atoll.gather(dst, src, root, team=team)": "gather",
    "atoll.scatter(dst, src, root, team=team)": "scatter",
    "atoll.put(dst, src, pe, team=team)": "put",
    "atoll.get(dst, src, pe, team=team)": "get",
    "destroy()": "free",
}


# The methods of objects, by class.
_METHODS = {
    "Pool": {
        "map(fn, *iterables)": "starmap imap imap_unordered map_async starmap_async",
        "submit(fn, *args)": "apply apply_async",
        "shutdown()": "close join terminate stop",
        "n_pes": "size nprocs processes",
    },
    "Lock": {
        "acquire(), or `with lock:`": "lock set_lock wait get",
        "acquire(blocking=False)": "try_lock trylock test_lock try_acquire locked",
        "release()": "unlock clear_lock",
    },
    "Mailbox": {
        "post(src, pe)": "send isend put put_nowait push",
        "receive(dst, from_pe)": "recv irecv get pop",
        "try_receive(dst, from_pe)": "get_nowait poll probe iprobe empty",
    },
    "Request": {
        "wait()": "waitall result join synchronize get",
        "test()": "done is_completed is_complete ready poll",
    },
    "Context": {
        "destroy()": "free close",
        "my_pe()": "rank get_rank",
        "n_pes()": "size get_size",
    },
    "DistArray": {
        "exchange_halo()": "halo update_halo halo_exchange sync_halo update_ghosts ghosts update",
        "local": "access localarray local_part shard to_local",
        "to_numpy()": "numpy asnumpy compute full_tensor toarray",
        "gather(0)": "collect",
    },
}
_TYPE = re.compile(r"^(int|uint|long|longlong|short|char|float|double|size|u?int(8|16|32|64)|mem|[0-9]+)_")


def _find(table: dict[str, str], name: str) -> str:
    wanted = name.lower()
    return next((ours for ours, theirs in table.items() if wanted in theirs.split()), "")


def _package_text(name: str) -> str:
    if ours := _find(_PACKAGE, name):
        is_whole = "." in ours.partition("(")[0] and not ours.startswith(("WORLD.", "HOST.", "Request."))
        return f"; Atoll's is {ours if is_whole else 'atoll.' + ours}"
    if name in _OF_ARRAYS.split():
        return f"; Atoll's is atoll.arrays.{name}, for distributed arrays"
    if name in _OF_NUMPY.split():
        return f"; np.{name} takes distributed arrays, those of atoll.arrays"
    advice = _find(_ADVICE, name)
    return f"; {advice}" if advice else ""


def cure(name: str, ours: Sequence[str]) -> str:
    """Return how an error goes on about a name that the package lacks; `ours` are the names that it has.

    Empty without a good answer: a name that is merely alike would mislead.
    """
    for prefix in ("nvshmem_", "shmem_", "nccl"):
        name = name.removeprefix(prefix)
    by_case = {each.lower(): each for each in ours}
    untyped = _TYPE.sub("", name)
    for each in (name, untyped):
        if text := _package_text(each):
            return text
        if each.lower() in by_case:
            return f"; did you mean {by_case[each.lower()]!r}?"
    near = difflib.get_close_matches(name, ours, 1, 0.75)
    return f"; did you mean {near[0]!r}?" if near else ""


def team_cure(name: str, members: Sequence[str], takes_team: Callable[[str], bool]) -> str:
    """Return the same for a name that Team lacks: its member, or the function that takes a team."""
    if ours := _find(_TEAM, name):
        return f"; Atoll's is {ours}"
    small = name.lower()
    if small != name and small in members:
        return f"; did you mean {small!r}?"
    if takes_team(small):
        return f"; Atoll's is atoll.{small}(..., team=team)"
    text = _package_text(name)
    first = re.match(r"; Atoll's is atoll\.(\w+)\(", text)
    if first and takes_team(first[1]):
        return text + "; pass the team as team="
    return text


def method_cure(obj: object, name: str) -> str:
    """Return text to append to an error about a missing attribute of one of our objects; else nothing.

    It is made when an error is shown, since a __getattr__ of these classes would slow every access.
    """
    kind = type(obj).__name__
    if not type(obj).__module__.startswith("atoll") or name.startswith("_"):
        return ""
    if ours := _find(_METHODS.get(kind, {}), name):
        return f"; Atoll's is {ours}"
    small = name.lower()
    if small != name and small in dir(type(obj)):
        return f"; did you mean {small!r}?"
    if kind == "Context" and name in ("put", "get", "put_nbi", "get_nbi", "put_signal", "p", "g"):
        return f"; a context is an argument: atoll.{name}(..., ctx=context)"
    return ""


def explain(error: BaseException) -> None:
    """Put Atoll's name for a method of another library into an error that is about to be shown.

    Classes with a __getattr__ add the name themselves.
    """
    if len(error.args) == 1 and str(error.args[0]).endswith(".Team: no constructor defined!"):
        error.args = ("Team() makes no teams; split one, as in team = atoll.WORLD.split(color).",)
    if not isinstance(error, AttributeError) or len(error.args) != 1:
        return
    text = str(error.args[0])
    if text.endswith(f"has no attribute {error.name!r}"):
        text += method_cure(error.obj, str(error.name))
        error.args = (text,)
    if "; did you mean " in text:
        error.name = ""  # the interpreter would suggest the same name again


def array_cure(name: str, makers: Sequence[str], is_numpys: bool) -> str:
    """Return how an error goes on about a name that atoll.arrays lacks."""
    if name == "array":
        return "; Atoll's is from_array(array), or asarray(numbers)"
    if is_numpys:
        return f"; NumPy's own takes distributed arrays: np.{name}"
    near = difflib.get_close_matches(name, makers, 1, 0.75)
    return f"; did you mean {near[0]!r}?" if near else ""
