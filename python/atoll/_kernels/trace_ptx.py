"""Inline PTX by which kernels write the events of a trace (atoll/device/detail/traced.hpp)."""

from __future__ import annotations

from .ptx import AT


def _linear(to: str, index: str, size: str) -> str:
    """PTX of a linear index of three dimensions. x: a register that it uses."""
    axes = [f"mov.u32 {to}, %{index}.z;"]
    for axis in "yx":
        axes.append(f"mov.u32 x, %{size}.{axis}; mul.lo.u32 {to}, {to}, x;")
        axes.append(f"mov.u32 x, %{index}.{axis}; add.u32 {to}, {to}, x;")
    return " ".join(axes)


def trace_begin(only_first: bool = False) -> str:
    """The clock in ns, 0 without a trace: $0 (=l). Operands: the team's trace (l); the thread's number (r) if
    only_first, which also returns 0 in all but the first.
    """
    others = "\n    setp.ne.u32 p, $2, 0; @p bra DONE;" if only_first else ""
    return f"""{{ .reg .pred p; .reg .b64 a; mov.b64 a, 0;{others}
    setp.eq.u64 p, $1, 0; @p bra DONE;
    mov.u64 a, %globaltimer;
    DONE: mov.b64 $0, a; }}"""


def trace_take(which: str = "") -> str:
    """The number of a record: $0 (=&l). Operands: the team's trace (l), began (l).

    Nothing is taken if began is 0. The operation that follows does not wait for the number.
    If all threads of a warp have one address, ptxas adds once for them, and a shuffle waits for the sum. So the address
    depends on the thread, by bits of its number that are 0.

    which: PTX that sets the predicate p in threads that take none.
    """
    return f"""{{ .reg .pred p; .reg .b32 x; .reg .b64 a; mov.b64 $0, 0;
    setp.eq.u64 p, $2, 0; @p bra DONE;{which}
    mov.u32 x, %tid.x; shr.u32 x, x, 30; cvt.u64.u32 a, x; add.u64 a, a, $1;
    atom.relaxed.gpu.global.add.u64 $0, [a+{AT["trace_next"]}], 1;
    DONE: }}"""


def trace_write(
    trace: str = "$0",
    taken: str = "$1",
    what: str = "$2",
    began: str = "$3",
    peer: str = "$4",
    words: tuple[str, str, str] = ("$5", "$6", "$7"),
) -> str:
    """Write an event that ends now, as write_event of atoll/device/detail/traced.hpp. No result.

    Operands: the team's trace (l), the record's number (l), what (r), began (l), peer (r), words (l). The fields of
    the trace are read by ld.global.nc, which finds them in the cache after an acquire, too.
    """
    first, second, third = words
    return f"""{{ .reg .pred p; .reg .b64 n, m, a, t, g; .reg .b32 b, h, x;
    mov.u64 t, %globaltimer;
    ld.global.nc.u64 m, [{trace}+{AT["trace_most"]}];
    ld.global.nc.u64 a, [{trace}+{AT["trace_records"]}];
    setp.lt.u64 p, {taken}, m;
    @p bra ROOM;
    ld.relaxed.gpu.global.u64 n, [{trace}+{AT["trace_next"]}];
    st.relaxed.sys.global.u64 [a+-{AT["trace_log"]}], n;
    bra DONE;
    ROOM:
    shl.b64 n, {taken}, 6;
    add.s64 a, a, n;
    {_linear("b", "ctaid", "nctaid")}
    {_linear("h", "tid", "ntid")}
    mov.u64 g, %gridid;
    st.global.v2.u64 [a+16], {{{first}, {second}}};
    mov.b64 n, {{{peer}, {what}}};
    st.global.v2.u64 [a+48], {{n, g}};
    mov.b64 n, {{b, h}};
    st.global.v2.u64 [a+32], {{{third}, n}};
    st.global.v2.u64 [a], {{{began}, t}};
    DONE:
    }}"""


TRACE_WORLD = """{ .reg .pred q; .reg .b64 at; mov.u32 $0, 0xffffffff;
    setp.eq.u64 q, $1, 0; @q bra OUT;
    setp.ge.u32 q, $2, $3; @q bra OUT;
    mad.wide.s32 at, $2, 4, $4;
    ld.global.u32 $0, [at];
    OUT: }"""
"""The number of a PE in the world, -1 for none: $0 (=&r). Operands: began (l), the PE and the team's size (r), the address
of the members' numbers (l)."""


def trace_end() -> str:
    """Write the event of an operation, unless began is 0. No result.

    Operands: the first five of trace_write. Then the addresses of a word, or 0, and of this PE's slot (l). Then the
    bytes, the value and the stride (l).
    """
    return f"""{{ .reg .pred q; .reg .b64 off;
    setp.eq.u64 q, $3, 0; @q bra OUT;
    mov.b64 off, 0;
    setp.eq.u64 q, $5, 0; @q bra KNOWN;
    sub.s64 off, $5, $6;
    setp.ge.u64 q, off, $9; @q mov.b64 off, 0xffffffffffffffff;
    KNOWN:
    {trace_write("$0", "$1", "$2", "$3", "$4", ("$7", "off", "$8"))}
    OUT: }}"""


def trace_end_range() -> str:
    """Write the event of a range, unless began is 0. Operands as of trace_write."""
    return f"""{{ .reg .pred q; setp.eq.u64 q, $3, 0; @q bra OUT;
    {trace_write()}
    OUT: }}"""


def trace_end_by_first() -> str:
    """Write an event in the first thread: $0 (=r) is 0. Operands: as of trace_write, and the thread's number (r)."""
    return f"""{{ .reg .pred p; setp.ne.u32 p, $9, 0; @p bra OUT;
    {trace_write("$1", "$2", "$3", "$4", "$5", ("$6", "$7", "$8"))}
    OUT: mov.u32 $0, 0; }}"""
