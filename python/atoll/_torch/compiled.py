"""torch.compile's backend "atoll": operators change the memory that the program named, on other PEs too.

A compiler turns writes into values: `x.mul_(2)` becomes a new tensor, which is copied to x when the graph
ends. An operator that changes its argument may be given a copy. Other PEs reach symmetric memory by its
address, so it cannot be such a value.

So the graph from Dynamo is cut at every custom operator that changes an argument. These operators run
unchanged, in the program's order, on the tensors themselves. The pieces between them are compiled one by one,
and each has finished its copies when it ends. Dynamo sees no graph break: fullgraph=True works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

Compiled = Callable[..., Any]


def compile_pieces(
    graph: torch.fx.GraphModule, inputs: Sequence[Any], mode: str | None, options: Mapping[str, Any]
) -> Compiled:
    """Compile a graph for atoll.torch.backend."""
    rest = dict(options)
    inner = rest.pop("inner", "inductor")
    if not any(_changes_in_place(node) for node in graph.graph.nodes):
        return _compile(inner, mode, rest, graph, inputs)
    pieces = _cut(graph)
    for node in list(pieces.graph.nodes):
        if node.op != "call_module":
            continue
        piece = pieces.get_submodule(node.target)
        if any(_changes_in_place(part) for part in piece.graph.nodes):
            continue
        returns_one = _make_output_a_tuple(piece)
        known = [taken.meta["example_value"] for taken in piece.graph.find_nodes(op="placeholder")]
        made = _compile(inner, mode, rest, piece, known)
        delattr(pieces, node.target)  # a submodule; only after this may a function replace it
        setattr(pieces, node.target, _first_of(made) if returns_one else made)
    pieces.recompile()
    forward: Compiled = pieces.forward
    return forward


def _changes_in_place(node: torch.fx.Node) -> bool:
    """Return whether the node calls a custom operator that changes an argument."""
    target = node.target
    if node.op != "call_function" or not isinstance(target, torch._ops.OpOverload):
        return False
    return target.namespace not in ("aten", "prims", "prim") and target._schema.is_mutable


def _cut(graph: torch.fx.GraphModule) -> Any:
    """Split the graph into submodules: each such operator alone, and each stretch between two of them."""
    from torch.fx.passes.split_module import split_module

    number, of_piece = 0, {}
    for node in graph.graph.nodes:
        alone = _changes_in_place(node)
        number += alone
        of_piece[node] = number
        number += alone
    return split_module(graph, None, of_piece.__getitem__, keep_original_order=True)


def _first_of(made: Compiled) -> Compiled:
    return lambda *arguments: made(*arguments)[0]


def _make_output_a_tuple(piece: Any) -> bool:
    """Wrap the output in a tuple, as compilers require; return whether it was a single value."""
    output = piece.graph.output_node()
    if isinstance(output.args[0], tuple):
        return False
    output.args = ((output.args[0],),)
    piece.recompile()
    return True


def _compile(
    inner: Any, mode: str | None, options: dict[str, Any], graph: Any, inputs: Sequence[Any]
) -> Compiled:
    made: Compiled
    if inner == "inductor":
        from torch._inductor import list_mode_options
        from torch._inductor.compile_fx import compile_fx

        patches = {**(list_mode_options(mode) if mode else {}), **options}
        made = compile_fx(graph, list(inputs), config_patches=patches or None)
        return made
    chosen = torch._dynamo.lookup_backend(inner)  # found by name; a function is returned unchanged
    made = chosen(graph, list(inputs), **({"options": options} if options else {}))
    return made
