"""torch.compile's backend "atoll": what operators change, other PEs included, is the memory that the program named.

A compiler makes values of what a program writes: `x.mul_(2)` becomes a new tensor, copied to x when the graph ends, and an
operator that changes its argument may be handed a copy. Memory that other PEs reach by its place cannot be such a value. So the
graph that Dynamo gives is cut at every custom operator that changes an argument: those run as they are, in the program's order, on
the tensors themselves, and what stands between them is compiled piece by piece, each of which ends with its copies done. There is no
graph break in Dynamo's sense: fullgraph=True holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

Compiled = Callable[..., Any]


def compile_pieces(
    graph: torch.fx.GraphModule, inputs: Sequence[Any], mode: str | None, options: Mapping[str, Any]
) -> Compiled:
    """What atoll.torch.backend does."""
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
        gives_one = _make_output_a_tuple(piece)
        known = [taken.meta["example_value"] for taken in piece.graph.find_nodes(op="placeholder")]
        made = _compile(inner, mode, rest, piece, known)
        delattr(pieces, node.target)  # the module, in whose place a function can stand
        setattr(pieces, node.target, _first_of(made) if gives_one else made)
    pieces.recompile()
    forward: Compiled = pieces.forward
    return forward


def _changes_in_place(node: torch.fx.Node) -> bool:
    """Whether it calls a custom operator that changes an argument."""
    target = node.target
    if node.op != "call_function" or not isinstance(target, torch._ops.OpOverload):
        return False
    return target.namespace not in ("aten", "prims", "prim") and target._schema.is_mutable


def _cut(graph: torch.fx.GraphModule) -> Any:
    """One with a submodule for each stretch between such operators, and one for each of these."""
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
    """As compilers want it; whether it was a single value."""
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
    chosen = torch._dynamo.lookup_backend(inner)  # of a name, or the function itself
    made = chosen(graph, list(inputs), **({"options": options} if options else {}))
    return made
