"""Names of other libraries, and what Atoll has in their place: for errors about attributes that do not exist."""

from __future__ import annotations

# Names that several libraries spell alike are listed once, in lower case.
_PACKAGE = {
    "my_pe()": "rank get_rank comm_rank my_rank mype pe_id local_rank",
    "n_pes()": "size get_size world_size get_world_size comm_size num_pes npes nproc nprocs",
    "WORLD": "comm_world comm world default_group team_world nodes",
    "HOST": "team_node team_shared node",
    "WORLD.split(color)": "split comm_split new_group split_type new_subgroups",
    "sum_reduce(dst, src), or reduce(dst, src, op=...)": "allreduce all_reduce iallreduce sum_to_all gop_add dgop",
    "reduce(dst, src, root=...)": "reduce_to ireduce reduce_to_one",
    "fcollect(dst, src), or collect(dst, src) for parts that differ": "allgather allgatherv all_gather all_gather_into_tensor iallgather allgather_v",
    "alltoall(dst, src)": "all_to_all all_to_all_single ialltoall",
    "alltoall_object(objs), or put with offsets": "alltoallv alltoallw",
    "broadcast(dst, src, root), or bcast_object(obj) for Python objects": "bcast ibcast brdcst broadcast_object_list",
    "allgather_object(obj)": "all_gather_object",
    "gather(dst, src, root)": "gatherv igather",
    "scatter(dst, src, root)": "scatterv iscatter",
    "reduce_scatter(dst, src)": "reduce_scatter_block reduce_scatter_tensor psum_scatter",
    "sum_inscan(dst, src)": "scan iscan cumsum",
    "sum_exscan(dst, src)": "exscan iexscan",
    "send(src, pe)": "isend ssend bsend rsend send_object_list",
    "recv(dst, pe)": "irecv recv_object_list",
    "put(dst, src, pe), or send and recv": "sendrecv sendrecv_replace batch_isend_irecv",
    "put(dst, src, pe)": "put_mem putmem write nga_put assign",
    "get(dst, src, pe)": "get_mem getmem read nga_get",
    "atomic_add(dst, value, pe), or add_at": "accumulate nga_acc acc fetch_and_op raccumulate get_accumulate atomic_increment",
    "atomic_fetch_add(dst, value, pe)": "fetch_add read_inc nxtval",
    "atomic_compare_swap(dst, cond, value, pe)": "compare_and_swap compare_swap cas",
    "barrier_all()": "ibarrier sync_threads ga_sync gsync",
    "quiet()": "flush flush_all fence_all win_fence",
    "empty(shape, dtype), zeros or array": "malloc calloc alloc allocate align shmalloc win_allocate win alloc_mem rawarray bytetensor tensor ndarray create value",
    "free(array)": "dealloc deallocate",
    "arrays.DistArray": "dtensor global_array distarray ga",
    "init()": "init_process_group initialize init_thread",
    "finalize()": "destroy_process_group shutdown terminate",
    "abort(message)": "kill error exit",
    "Pool(n)": "process threadpool threadpoolexecutor processpoolexecutor mpipoolexecutor executor spawn starmap apply_async client cluster",
    "launch(fn, n)": "start_processes mp_spawn run parallel",
    "Mailbox(nbytes)": "queue simplequeue channel pipe",
    "Lock()": "rlock mutex set_lock clear_lock semaphore",
    "peer(array, pe)": "ptr get_peer_tensor get_buffer shared_query",
    "wait_until(array, '>=', value)": "wait wait_signal wait_for_signal",
    "signal(), for words, and put_signal": "event condition notify",
    "time.perf_counter()": "wtime wtick",
}
_TEAM = {
    "my_pe() or .rank": "get_rank rank_ local_rank getrank",
    "n_pes() or .size": "get_size world_size num_pes",
    "split(color, key)": "create create_group comm_split subgroup split_type new_group",
    "atoll.sum_reduce(dst, src, team=team), or atoll.reduce": "allreduce all_reduce",
    "atoll.fcollect(dst, src, team=team)": "allgather all_gather allgatherv",
    "atoll.broadcast(dst, src, root, team=team)": "bcast broadcast",
    "atoll.alltoall(dst, src, team=team)": "alltoall all_to_all alltoallv",
    "atoll.reduce(dst, src, root=root, team=team)": "reduce",
    "atoll.gather(dst, src, root, team=team)": "gather gatherv",
    "atoll.scatter(dst, src, root, team=team)": "scatter scatterv",
    "atoll.put(dst, src, pe, team=team)": "put send isend",
    "atoll.get(dst, src, pe, team=team)": "get recv irecv",
    "destroy()": "free",
}


def _find(table: dict[str, str], name: str) -> str:
    wanted = name.lower()
    return next((ours for ours, theirs in table.items() if wanted in theirs.split()), "")


def of_package(name: str) -> str:
    """Return Atoll's function for a name of mpi4py, torch.distributed, multiprocessing, shmem4py or others."""
    return _find(_PACKAGE, name)


def of_team(name: str) -> str:
    """Return the member of Team, or the function, for a name of other libraries' groups."""
    return _find(_TEAM, name)
