"""PTX that kernels in Numba, Triton and CuTe DSL share: inline assembly in LLVM's syntax, where $0 is the
result.

Each text is one block with its own labels and registers, so that it can occur many times in a kernel.
"""

from __future__ import annotations

import os

from .._atoll import _kernel_layout

AT = _kernel_layout()
CHECKS_ADDRESSES = os.environ.get("ATOLL_CHECK") == "all"
"""True if kernels compiled in this process also check that addresses are symmetric: ATOLL_CHECK=all."""
TRACES = bool(os.environ.get("ATOLL_TRACE"))
"""True if kernels compiled in this process write their operations to the job's trace, see docs/slow.md."""
POLLS = 1024
"""Loads of a word between two checks of the other things that end a wait."""
NO_VALUES = AT["subject wait"]
"""The subject of a report of a wait without values."""
BULK = 4
"""Loads in flight before their stores, since a link's latency is long."""

# Names and bits of Report's fields, without its state.
_FIELDS = [("operation", 32), ("team", 32), ("peer", 32), ("subject", 32), ("tag", 32), ("address", 64), ("expected", 64), ("found", 64), ("bound_ns", 64)]  # fmt: skip


def _name_stores(kernel: str) -> list[str]:
    """Return stores of the kernel's name, eight bytes at a time, as far as there is room."""
    given = kernel.encode("ascii", "replace")[: AT["name_bytes"] - 1]
    words = [given[at : at + 8] for at in range(0, len(given), 8)]
    return [
        f"st.relaxed.sys.global.u64 [w+{AT['name'] + 8 * k}], {int.from_bytes(word, 'little')};"
        for k, word in enumerate(words)
    ]


def _stores(report: int, values: dict[str, str]) -> list[str]:
    """PTX stores of a report's fields. `report`: its offset in the Watch (w)."""
    return [
        f"st.relaxed.sys.global.u{bits} [w+{report + AT[f'report_{name}']}], {values[name]};"
        for name, bits in _FIELDS
        if name in values
    ]


def _position_stores(report: int) -> list[str]:
    """Stores of the grid's size and of this thread's place in it. They use the registers x and z."""
    stores = []
    for name, size in (("blocks", "nctaid"), ("threads", "ntid")):
        stores.append(f"mov.u32 x, %{size}.x;")
        stores += [f"mov.u32 z, %{size}.{axis}; mul.lo.u32 x, x, z;" for axis in "yz"]
        stores.append(f"st.relaxed.sys.global.u32 [w+{report + AT[f'report_{name}']}], x;")
    for name, index, size in (("block", "ctaid", "nctaid"), ("thread", "tid", "ntid")):
        stores.append(f"mov.u32 x, %{index}.z;")
        for axis in "yx":
            stores.append(f"mov.u32 z, %{size}.{axis}; mul.lo.u32 x, x, z;")
            stores.append(f"mov.u32 z, %{index}.{axis}; add.u32 x, x, z;")
        stores.append(f"st.relaxed.sys.global.u32 [w+{report + AT[f'report_{name}']}], x;")
    return stores


def _report(kernel: str = "", **values: str) -> str:
    """The first thread of the PE's kernels writes the report, then the kernel traps. w: the Watch, y: the
    report's final state.

    A trap ends all threads of the PE's kernels, so it waits for a thread that has begun to report. `kernel`:
    its name, if known at compile time.
    """
    report = AT["report"]
    stores = _stores(report, values) + _name_stores(kernel) + _position_stores(report)
    return f"""
    atom.relaxed.sys.global.cas.b32 x, [w+{report}], 0, 1;
    setp.ne.u32 p, x, 0;
    @p bra TRAP;
    {" ".join(stores)}
    fence.sc.sys;
    st.relaxed.sys.global.u32 [w+{report}], y;
    fence.sc.sys;
    TRAP:
    mov.u64 t, %globaltimer;
    FINISH:
    ld.relaxed.sys.global.u32 x, [w+{report}];
    mov.u64 a, %globaltimer;
    sub.s64 a, a, t;
    setp.ne.u32 p, x, 1;
    setp.gt.u64 q, a, 1000000000;
    or.pred p, p, q;
    @!p bra FINISH;
    trap;"""


_REGISTERS = ".reg .pred p, q; .reg .b64 w, s, t, a, m; .reg .b32 x, y, z, n;"


def check_job(
    start: str = "$0",
    control: str = "$1",
    operation: str = "$2",
    subject: str = "$3",
    peer: str = "$4",
    tag: str = "$5",
    address: str = "$6",
    expected: str = "$7",
    found: str = "$8",
    since: str = "$9",
    bound: str = "",
    kernel: str = "",
) -> str:
    """Check whether something else ends the wait, as check_job of atoll/device/wait.hpp.

    The result `start` (l) is the start of the wait. Operands: control (l), operation (r), subject (r), peer
    (r), tag (r), address (l), expected (l), found (l), since (l). A wait with its own bound also has bound
    (l); if it is 0, the team's holds. `kernel`: as in _report.
    """
    at = AT
    bounded = {"bound_ns": bound} if bound else {}
    own = f"mov.b64 a, {bound}; setp.ne.u64 p, a, 0; @p bra BOUND;\n    " if bound else ""
    values = {
        "operation": operation, "team": "n", "peer": peer, "subject": subject, "tag": tag, "address": address,
        "expected": expected, "found": found, **bounded,
    }  # fmt: skip
    report = _report(kernel=kernel, **values)
    answer = " ".join(_stores(at["waiting"], values) + _position_stores(at["waiting"]))
    return f"""{{ {_REGISTERS}
    mov.b64 s, 0;
    setp.eq.u64 p, {control}, 0;
    @p bra DONE;
    ld.relaxed.sys.global.u64 w, [{control}+{at["watch"]}];
    setp.eq.u64 p, w, 0;
    @p bra DONE;
    ld.relaxed.sys.global.u32 x, [w+{at["abort"]}];
    setp.ne.u32 p, x, 0;
    @p bra TRAP;
    mov.b64 s, {since};
    mov.u64 t, %globaltimer;
    ld.relaxed.sys.global.u32 x, [w+{at["exited"]}];
    setp.eq.u32 p, x, 0;
    @p bra PRESENT;
    setp.lt.s32 p, {peer}, 0;
    @p bra ANYBODY;
    mul.wide.s32 a, {peer}, 4;
    ld.relaxed.sys.global.u64 m, [{control}+{at["pes_of"]}];
    add.s64 a, a, m;
    ld.relaxed.sys.global.u32 y, [a];
    setp.ge.u32 p, y, {at["most_exited"]};
    @p bra ANYBODY;
    shr.u32 x, y, 5;
    mul.wide.u32 a, x, 4;
    add.s64 a, a, w;
    ld.relaxed.sys.global.u32 x, [a+{at["exited_pes"]}];
    and.b32 y, y, 31;
    shr.u32 x, x, y;
    and.b32 x, x, 1;
    setp.eq.u32 p, x, 0;
    @p bra PRESENT;
    bra EXITED;
    ANYBODY:
    setp.ne.u32 p, x, 2;
    @p bra PRESENT;
    EXITED:
    setp.lt.s64 p, s, 0;
    mov.u32 y, 3;
    @p bra SAY;
    setp.eq.u64 p, s, 0;
    selp.b64 s, t, s, p;
    or.b64 s, s, 0x8000000000000000;
    bra DONE;
    PRESENT:
    setp.eq.u64 p, s, 0;
    selp.b64 s, t, s, p;
    @p bra DONE;
    ld.relaxed.sys.global.u32 x, [w+{at["asked"]}];
    setp.ne.u32 p, x, 1;
    @p bra TOLD;
    atom.relaxed.sys.global.cas.b32 x, [w+{at["asked"]}], 1, 2;
    setp.ne.u32 p, x, 1;
    @p bra TOLD;
    ld.relaxed.sys.global.u32 n, [{control}+{at["team"]}];
    {answer}
    fence.sc.sys;
    st.relaxed.sys.global.u32 [w+{at["asked"]}], 3;
    TOLD:
    {own}ld.relaxed.sys.global.u64 a, [{control}+{at["bound_ns"]}];
    setp.eq.u64 p, a, 0;
    @p bra DONE;
    {"BOUND: " if bound else ""}and.b64 s, s, 0x7fffffffffffffff;
    sub.s64 t, t, s;
    setp.le.u64 p, t, a;
    @p bra DONE;
    mov.u32 y, 2;
    SAY:
    ld.relaxed.sys.global.u32 n, [{control}+{at["team"]}];
    {report}
    DONE:
    mov.b64 {start}, s;
    }}"""


_LEAVE_UNLESS_CHECKED = f"""setp.eq.u64 p, {{control}}, 0;
    @p bra DONE;
    ld.relaxed.sys.global.u64 w, [{{control}}+{AT["watch"]}];
    setp.eq.u64 p, w, 0;
    @p bra DONE;
    ld.relaxed.sys.global.u32 x, [{{control}}+{AT["checks"]}];
    setp.eq.u32 p, x, 0;
    @p bra DONE;
    ld.relaxed.sys.global.u32 n, [{{control}}+{AT["team"]}];"""


def check_pe(
    operation: int | str, pe: str = "$0", n_pes: str = "$1", control: str = "$2", kernel: str = ""
) -> str:
    """Trap if a PE is not in the team and checks are on. No result; operands pe (r), n_pes (r), control (l).

    `operation`: its number, or the operand that has it (r). `kernel`: as in _report.
    """
    report = _report(
        operation=str(operation), team="n", peer=pe, subject=str(AT["subject wrong_pe"]), tag="0", address="0",
        expected="s", found="0", kernel=kernel,
    )  # fmt: skip
    return f"""{{ {_REGISTERS}
    setp.lt.u32 p, {pe}, {n_pes};
    @p bra DONE;
    {_LEAVE_UNLESS_CHECKED.format(control=control)}
    cvt.s64.s32 s, {n_pes};
    mov.u32 y, 2;
    {report}
    DONE:
    }}"""


def check_address(
    operation: int | str,
    address: str = "$0",
    mine: str = "$1",
    stride: str = "$2",
    control: str = "$3",
    kernel: str = "",
) -> str:
    """Trap if an address is outside this PE's slot and checks are on. For kernels compiled with
    CHECKS_ADDRESSES.

    No result. Operands: address, the slot's begin (window + my_slot * stride), stride, control (all l).
    `operation` and `kernel`: as in check_pe.
    """
    report = _report(
        operation=str(operation), team="n", peer="-1", subject=str(AT["subject wrong_address"]), tag="0", address=address,
        expected=mine, found="s", kernel=kernel,
    )  # fmt: skip
    return f"""{{ {_REGISTERS}
    sub.s64 a, {address}, {mine};
    setp.lt.u64 p, a, {stride};
    @p bra DONE;
    {_LEAVE_UNLESS_CHECKED.format(control=control)}
    add.s64 s, {mine}, {stride};
    mov.u32 y, 2;
    {report}
    DONE:
    }}"""


def load_flagged() -> str:
    """The data of two flagged words, $0 (l), and $1 (r) = 1 if both carry a flag. $2 address (l), $3 flag (r)."""
    return """{ .reg .pred p; .reg .u32 d0, d1, f0, f1; .reg .u64 w0, w1;
    ld.relaxed.sys.global.v2.u64 {w0, w1}, [$2];
    mov.b64 {d0, f0}, w0;
    mov.b64 {d1, f1}, w1;
    setp.eq.u32 p, f0, $3;
    setp.eq.and.u32 p, f1, $3, p;
    mov.b64 $0, {d0, d1};
    selp.u32 $1, 1, 0, p;
    }"""


def poll_flagged(count: int) -> str:
    """Load `count` pairs of flagged words up to POLLS times: their data, $0 … (=&l), and 1 in the next (=r)
    once all carry a flag.

    The next operands are flag (r) and the addresses (l). One round of the loop has four loads, since the
    loop's own instructions delay the next load.
    """
    flag, address = f"${count + 1}", [f"${count + 2 + k}" for k in range(count)]
    poll = "".join(f"ld.relaxed.sys.global.v2.b64 {{v{k}, w{k}}}, [{address[k]}]; " for k in range(count))
    for k in range(count):
        poll += f"mov.b64 {{d{k}, f{k}}}, v{k}; mov.b64 {{e{k}, g{k}}}, w{k}; mov.b64 ${k}, {{d{k}, e{k}}}; "
        poll += f"setp.eq{'.and' if k else ''}.u32 ok, f{k}, {flag}{', ok' if k else ''}; setp.eq.and.u32 ok, g{k}, {flag}, ok; "
    names = ", ".join(f"d{k}, e{k}, f{k}, g{k}" for k in range(count))
    words = ", ".join(f"v{k}, w{k}" for k in range(count))
    return f"""{{ .reg .pred ok, more; .reg .b32 rounds, {names}; .reg .b64 {words};
    mov.b32 rounds, 0;
    POLL:
    {f"{poll} @ok bra OUT; " * 4}
    add.u32 rounds, rounds, 1;
    setp.lt.u32 more, rounds, {POLLS // 4};
    @more bra POLL;
    OUT:
    selp.u32 ${count}, 1, 0, ok;
    }}"""


def store_flagged() -> str:
    """Eight bytes of data in two flagged words: $0 address (l), $1 data (l), $2 flag (r)."""
    return """{ .reg .u32 d0, d1; .reg .u64 w0, w1;
    mov.b64 {d0, d1}, $1;
    mov.b64 w0, {d0, $2};
    mov.b64 w1, {d1, $2};
    st.relaxed.sys.global.v2.u64 [$0], {w0, w1};
    }"""


def _until(poll: str, again: str) -> str:
    """Return PTX that repeats `poll` until predicate ok is true, and runs `again` after every POLLS loads.

    It is one block, which declares the registers of both. One round has four loads, because the rest of a round
    takes as long as one load.
    """
    poll = f"{poll}\n    @ok bra OUT;\n    " * 4
    return f"""{{ .reg .pred ok, more; .reg .b32 polls; .reg .b64 begun, seen, want;
    mov.b64 begun, 0;
    AGAIN:
    mov.b32 polls, 0;
    POLL:
    {poll}add.u32 polls, polls, 4;
    setp.lt.u32 more, polls, {POLLS};
    @more bra POLL;
    {again}
    bra AGAIN;
    OUT:
    }}"""


def reported(form: str, compare: int) -> str:
    """The subject of a report of a wait for a word of a form (u32, s32, u64, s64), with its comparison."""
    values = AT[f"values int{form[1:]}"] if form[0] == "s" else AT["values unsigned_word"]
    shown = compare << AT["compare_shift"] | values << AT["values_shift"]
    return str(AT["subject word"] | shown | int(form[1:]) // 8 << AT["word_bytes_shift"])


def wait_word(form: str, compare: int, order: str, bounded: bool = False) -> str:
    """Wait until the word at an address compares with a value; the threads whose $7 is 0 go on at once.

    No result, $0 = 0 (r). `form`: u32, s32, u64 or s64. `order`: acquire or relaxed. Operands: $1 control
    (l), $2 operation (r), $3 peer (r), $4 tag (r), $5 address (l), $6 value (r or l), $7 (r). With `bounded`
    also $8, the wait's own bound (l).
    """
    bits = form[1:]
    how = ("eq", "ne", "gt", "ge", "lt", "le")[compare]
    wide = f"{form[0]}64"
    found = ".reg .b32 word;" if bits == "32" else ".reg .b64 word;"
    widen = f"cvt.{wide}.{form}" if bits == "32" else "mov.b64"
    poll = f"ld.{order}.sys.global.b{bits} word, [$5]; setp.{how}.{form} ok, word, $6;"
    again = f"{widen} seen, word; {widen} want, $6;" + check_job(
        "begun",
        "$1",
        "$2",
        reported(form, compare),
        "$3",
        "$4",
        "$5",
        "want",
        "seen",
        "begun",
        "$8" if bounded else "",
    )
    return f"{{ .reg .pred idle; {found} setp.eq.u32 idle, $7, 0; @idle bra LEAVE; {_until(poll, again)} LEAVE: mov.b32 $0, 0; }}"


def load_words(bits: int) -> str:
    """Load the word at an address with acquire, in the threads whose $2 (r) is not 0; others get 0.

    $0 (=&l or =&r) is the result, $1 the address (l).
    """
    return f"{{ .reg .pred p; setp.ne.u32 p, $2, 0; mov.b{bits} $0, 0; @p ld.acquire.sys.global.b{bits} $0, [$1]; }}"


def check_job_by_first(form: str, compare: int, bounded: bool = False) -> str:
    """check_job() without a particular peer, by the thread whose $7 (r) is 0: $0 (=&l) = the start of the
    wait.

    form: u32, s32, u64 or s64. $1 control (l), $2 operation (r), $3 tag (r), $4 address (l), $5 expected (l),
    $6 found (l), $7 the thread's number (r), $8 since (l), and with `bounded` $9, the wait's own bound (l).
    """
    bound = "$9" if bounded else ""
    check = check_job("$0", "$1", "$2", reported(form, compare), "-1", "$3", "$4", "$5", "$6", "$8", bound)
    return (
        f"{{ .reg .pred other; mov.b64 $0, $8; setp.ne.u32 other, $7, 0; @other bra LEAVE; {check} LEAVE: }}"
    )


def wait_flagged(count: int, bounded: bool = False) -> str:
    """Wait for the data of `count` pairs of flagged words, $0 … (=&l), until all carry a flag.

    The next operands are control (l), operation (r), peer (r), flag (r) and the addresses (l). With `bounded`
    also the tag (r) and the wait's own bound (l).
    """
    control, operation, peer, flag = (f"${count + k}" for k in range(4))
    address = [f"${count + 4 + k}" for k in range(count)]
    names = ", ".join(f"d{k}, e{k}, f{k}, g{k}" for k in range(count))
    text = "".join(f"ld.relaxed.sys.global.v2.b64 {{v{k}, w{k}}}, [{address[k]}]; " for k in range(count))
    for k in range(count):
        text += f"mov.b64 {{d{k}, f{k}}}, v{k}; mov.b64 {{e{k}, g{k}}}, w{k}; mov.b64 ${k}, {{d{k}, e{k}}}; "
        text += f"setp.eq{'.and' if k else ''}.u32 ok, f{k}, {flag}{', ok' if k else ''}; setp.eq.and.u32 ok, g{k}, {flag}, ok; "
    tag, bound = (f"${2 * count + 4}", f"${2 * count + 5}") if bounded else ("0", "")
    again = f"cvt.u64.u32 want, {flag}; cvt.u64.u32 seen, f0;" + check_job(
        "begun", control, operation, str(NO_VALUES), peer, tag, address[0], "want", "seen", "begun", bound
    )
    words = ", ".join(f"v{k}, w{k}" for k in range(count))
    return f"{{ .reg .b32 {names}; .reg .b64 {words}; {_until(text, again)} }}"


def clock() -> str:
    """The GPU's clock in ns: $0 (=l)."""
    return "mov.u64 $0, %globaltimer;"


def share_in_block() -> str:
    """$0 (r) = the value that the thread of rank 0 has in $1 (r); $2 (r) is each thread's rank. Called by all
    threads of the block.

    Not `.shared word<2>` for two words: ptxas (12.8, 13.0) counts those of many such blocks as one, but
    places them side by side. The later ones then lie beyond the kernel's shared memory.
    """
    return """{ .shared .align 4 .b32 word; .reg .pred p;
    setp.eq.u32 p, $2, 0;
    @p st.shared.b32 [word], $1;
    bar.sync 0;
    ld.shared.b32 $0, [word];
    bar.sync 0;
    }"""


def _part(to: str, nbytes: str, i: str, whole: str, first: str, each: str) -> str:
    """Move eight bytes at once if they are aligned and present, else one by one: `first`, then `each`.

    a: the address, r: the number of bytes left, k: the position within the eight, in bits.
    """
    return f"""{{ .reg .pred p; .reg .b64 a, r, t; .reg .b32 k;
    shl.b64 t, {i}, 3;
    add.s64 a, {to}, t;
    sub.s64 r, {nbytes}, t;
    and.b64 t, a, 7;
    setp.eq.s64 p, t, 0;
    setp.ge.and.s64 p, r, 8, p;
    @p {whole}
    @p bra DONE;
    {first}mov.b32 k, 0;
    NEXT:
    setp.le.s64 p, r, 0;
    @p bra DONE;
    {each}
    add.s64 a, a, 1;
    sub.s64 r, r, 1;
    add.u32 k, k, 8;
    setp.lt.u32 p, k, 64;
    @p bra NEXT;
    DONE:
    }}"""


def load_part(space: str = "") -> str:
    """Load bytes 8 * $3 … of $2 bytes at $1 (all l), whatever its alignment; bytes past the end are 0. $0
    (=&l).

    space: .global, or nothing if the address may be another PE's.
    """
    each = f"ld{space}.u8 t, [a];\n    shl.b64 t, t, k;\n    or.b64 $0, $0, t;"
    return _part("$1", "$2", "$3", f"ld{space}.b64 $0, [a];", "mov.b64 $0, 0;\n    ", each)


def store_part(space: str = "") -> str:
    """Store the part: $0 to, $1 how many bytes there, $2 which part, $3 its data (all l). No result."""
    each = f"shr.u64 t, $3, k;\n    st{space}.u8 [a], t;"
    return _part("$0", "$1", "$2", f"st{space}.b64 [a], $3;", "", each)


def copy(unit: int, count: int) -> str:
    """Copy `count` units of `unit` bytes, which lie $2 bytes apart, from $1 to $0 (all l)."""
    form, registers = {
        16: ("v2.b64", "{{a{0}, b{0}}}"), 8: ("b64", "a{0}"), 4: ("b32", "a{0}"), 2: ("u16", "a{0}"), 1: ("u8", "a{0}"),
    }[unit]  # fmt: skip
    kind = {16: "b64", 8: "b64", 4: "b32", 2: "b16", 1: "b16"}[unit]
    text = f"{{ .reg .{kind} a<{count}>, b<{count}>; .reg .b64 f<{count}>, t<{count}>; mov.b64 f0, $1; mov.b64 t0, $0; "
    for k in range(1, count):
        text += f"add.s64 f{k}, f{k - 1}, $2; add.s64 t{k}, t{k - 1}, $2; "
    for k in range(count):
        text += f"ld.{form} {registers.format(k)}, [f{k}]; "
    for k in range(count):
        text += f"st.{form} [t{k}], {registers.format(k)}; "
    return text + "}"


def start_bulk(to: str = "$0", source: str = "$1", nbytes: str = "$2") -> str:
    """Start a copy from a block's shared memory by the copy engine (sm_90), by one thread. Both addresses are
    generic.
    """
    return f"""{{ .reg .b64 s; .reg .b32 a, n;
    cvta.to.shared.u64 s, {source};
    cvt.u32.u64 a, s;
    cvt.u32.u64 n, {nbytes};
    cp.async.bulk.global.shared::cta.bulk_group [{to}], [a], n;
    cp.async.bulk.commit_group;
    }}"""
