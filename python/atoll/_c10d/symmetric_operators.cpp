// Kernels of torch.ops.symm_mem for CPU tensors.
#include "backend.hpp"
#include "symmetric.hpp"

#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/library.h>

namespace atoll_c10d {
namespace {

namespace symm_mem = c10d::symmetric_memory;

/// A contiguous tensor of symmetric memory, and its handle for a group.
struct Operand {
    c10::intrusive_ptr<symm_mem::SymmetricMemory> held;
    const CpuSymmetricMemory* memory;
    std::size_t offset, bytes;
};

Operand operand_of(const at::Tensor& tensor, const std::string& group, const char* operation) {
    check_device(tensor, operation);
    TORCH_CHECK_VALUE(tensor.is_contiguous(), operation, " takes a contiguous tensor.");
    auto held = symm_mem::rendezvous(tensor, group);
    const auto* const memory = dynamic_cast<const CpuSymmetricMemory*>(held.get());
    TORCH_CHECK_VALUE(memory != nullptr, operation, " takes a CPU tensor of the backend ", symmetric_backend,
                      ".");
    const char* const begin = static_cast<const char*>(memory->blocks().block().data);
    const char* const data = static_cast<const char*>(tensor.const_data_ptr());
    // PyTorch gives an empty tensor no address.
    return {std::move(held), memory, tensor.nbytes() == 0 ? 0 : static_cast<std::size_t>(data - begin),
            tensor.nbytes()};
}

c10d::ReduceOp::RedOpType reduction_named(const std::string& name, const char* operation) {
    using Op = c10d::ReduceOp;
    static const std::map<std::string, Op::RedOpType> known = {
        {"sum", Op::SUM}, {"avg", Op::AVG},   {"product", Op::PRODUCT}, {"min", Op::MIN},
        {"max", Op::MAX}, {"band", Op::BAND}, {"bor", Op::BOR},         {"bxor", Op::BXOR}};
    const auto it = known.find(name);
    TORCH_CHECK_VALUE(it != known.end(), operation,
                      " takes sum, avg, product, min, max, band, bor and bxor; \"", name, "\" was given.");
    return it->second;
}

atoll_symmetric_call call_on(const Operand& operand, int kind, at::Tensor* out) {
    atoll_symmetric_call call{};
    call.kind = kind;
    call.offset = operand.offset;
    call.bytes = operand.bytes;
    if (out != nullptr) call.out = out->data_ptr();
    return call;
}

void check_output(const at::Tensor& out, const at::Tensor& input, std::int64_t elements,
                  const char* operation) {
    check_alike(out, input, operation);
    TORCH_CHECK_VALUE(out.is_contiguous() && out.numel() == elements, operation,
                      " takes a contiguous output of ", elements, " elements; it was given one of ",
                      out.numel(), out.is_contiguous() ? "." : " that is not contiguous.");
}

void reduce(const at::Tensor& input, const std::string& op, const std::string& group, int kind,
            at::Tensor* out, const char* operation, std::size_t row_bytes = 0) {
    const Operand operand = operand_of(input, group, operation);
    operand.memory->check_group(operation);
    atoll_symmetric_call call = call_on(operand, kind, out);
    call.row_bytes = row_bytes;
    call.type = type_of(input.scalar_type(), operation);
    call.op = op_of(c10d::ReduceOp(reduction_named(op, operation)), input.scalar_type(), operation);
    operand.memory->blocks().run(call);
}

// ---- all-reduce

at::Tensor one_shot_out(const at::Tensor& input, std::string op, std::string group, at::Tensor out) {
    const char* const operation = "one_shot_all_reduce";
    check_output(out, input, input.numel(), operation);
    TORCH_CHECK_VALUE(input.numel() == 0 || !out.is_alias_of(input), operation,
                      " cannot write to its input; use two_shot_all_reduce_.");
    reduce(input, op, group, ATOLL_SYMMETRIC_ALL_REDUCE, &out, operation);
    return out;
}

at::Tensor one_shot(const at::Tensor& input, std::string op, std::string group) {
    return one_shot_out(input, std::move(op), std::move(group), at::empty(input.sizes(), input.options()));
}

at::Tensor one_shot_copy_out(const at::Tensor& buffer, const at::Tensor& input, std::string op,
                             std::string group, at::Tensor out) {
    const char* const operation = "one_shot_all_reduce_copy";
    check_alike(input, buffer, operation);
    TORCH_CHECK_VALUE(input.numel() <= buffer.numel(), operation, ": the input has ", input.numel(),
                      " elements, and the symmetric buffer ", buffer.numel(), ".");
    const at::Tensor part = buffer.view({-1}).narrow(0, 0, input.numel()).view(input.sizes());
    part.copy_(input);
    return one_shot_out(part, std::move(op), std::move(group), std::move(out));
}

at::Tensor one_shot_copy(const at::Tensor& buffer, const at::Tensor& input, std::string op,
                         std::string group) {
    return one_shot_copy_out(buffer, input, std::move(op), std::move(group),
                             at::empty(input.sizes(), input.options()));
}

at::Tensor two_shot(at::Tensor input, std::string op, std::string group) {
    reduce(input, op, group, ATOLL_SYMMETRIC_ALL_REDUCE_IN_PLACE, nullptr, "two_shot_all_reduce_");
    return input;
}

at::Tensor two_shot_out(at::Tensor input, std::string op, std::string group, at::Tensor out) {
    const char* const operation = "two_shot_all_reduce_out";
    check_output(out, input, input.numel(), operation);
    reduce(input, op, group, ATOLL_SYMMETRIC_ALL_REDUCE_IN_PLACE, &out, operation);
    return out;
}

// ---- reduce-scatter, all-gather

at::Tensor scatter_sums(const at::Tensor& input, const std::string& op, const std::string& group,
                        bool last_dim, at::Tensor out, const char* operation) {
    const std::int64_t size = c10d::resolve_process_group(group)->getSize();
    const std::int64_t rows = input.dim() == 0 ? 1 : input.size(last_dim ? -1 : 0);
    TORCH_CHECK_VALUE(rows % size == 0, operation, ": a dimension of ", rows, " cannot be divided among ",
                      size, " ranks.");
    check_output(out, input, input.numel() / size, operation);
    const std::size_t row = last_dim ? static_cast<std::size_t>(rows) * input.element_size() : 0;
    reduce(input, op, group, ATOLL_SYMMETRIC_REDUCE_SCATTER, &out, operation, row);
    return out;
}

at::Tensor reduce_scatter_out(at::Tensor input, std::string group, bool split_last_dim, at::Tensor out) {
    return scatter_sums(input, "sum", group, split_last_dim, std::move(out), "reduce_scatter_out");
}

std::vector<std::int64_t> shape_by(const at::Tensor& tensor, std::int64_t multiply, std::int64_t divide) {
    std::vector<std::int64_t> shape = tensor.sizes().vec();
    if (shape.empty()) shape.push_back(1);
    shape[0] = shape[0] * multiply / divide;
    return shape;
}

/// Uses symmetric memory if the tensor is in it, else the group's own all_gather.
at::Tensor gather(const at::Tensor& tensor, std::string group) {
    const char* const operation = "_low_contention_all_gather";
    const auto process_group = c10d::resolve_process_group(group);
    at::Tensor out = at::empty(shape_by(tensor, process_group->getSize(), 1), tensor.options());
    atoll_block block{};
    if (!tensor.is_contiguous() || symmetric_table->find(tensor.const_data_ptr(), &block) != 1) {
        at::Tensor input = tensor.contiguous();
        process_group->getBackend(c10::kCPU)->_allgather_base(out, input)->wait();
        return out;
    }
    const Operand operand = operand_of(tensor, group, operation);
    operand.memory->check_group(operation);
    operand.memory->blocks().run(call_on(operand, ATOLL_SYMMETRIC_ALL_GATHER, &out));
    return out;
}

at::Tensor scatter(const at::Tensor& tensor, std::string op, std::string group) {
    const char* const operation = "_low_contention_reduce_scatter";
    const auto process_group = c10d::resolve_process_group(group);
    const at::Tensor out = at::empty(shape_by(tensor, 1, process_group->getSize()), tensor.options());
    atoll_block block{};
    if (!tensor.is_contiguous() || symmetric_table->find(tensor.const_data_ptr(), &block) != 1) {
        c10d::ReduceScatterOptions options;
        options.reduceOp = c10d::ReduceOp(reduction_named(op, operation));
        at::Tensor input = tensor.contiguous(), output = out;
        process_group->getBackend(c10::kCPU)->_reduce_scatter_base(output, input, options)->wait();
        return out;
    }
    return scatter_sums(tensor, op, group, false, out, operation);
}

std::vector<at::Tensor> remote_tensors(const at::Tensor& tensor, std::string group) {
    const Operand operand = operand_of(tensor, group, "get_remote_tensors");
    std::vector<at::Tensor> tensors;
    for (int i = 0; i < operand.held->get_world_size(); ++i)
        tensors.push_back(
            operand.held->get_buffer(i, tensor.sizes(), tensor.scalar_type(),
                                     static_cast<std::int64_t>(operand.offset / tensor.element_size())));
    return tensors;
}

// ---- refusals

void refuse(const c10::OperatorHandle& operation, torch::jit::Stack*) {
    const std::string name = operation.schema().operator_name().name;
    const bool multicast = name.find("multi") != std::string::npos;
    C10_THROW_ERROR(NotImplementedError,
                    c10::str(name, ": not for CPU tensors in Atoll's symmetric memory. ",
                             multicast ? "Memory of CPUs has no multicast; use one_shot_all_reduce, "
                                         "two_shot_all_reduce_ or _low_contention_all_gather."
                                       : "Call the matrix product and the collective one after the other."));
}

constexpr const char* refused_operators[] = {"multimem_all_reduce_",
                                             "multimem_one_shot_all_reduce",
                                             "multimem_one_shot_all_reduce_out",
                                             "multimem_one_shot_reduce_out",
                                             "multimem_all_gather_out",
                                             "memcpy_to_multicast_",
                                             "_low_contention_all_gather_ce_multicast",
                                             "_low_contention_all_gather_ce_multicast_out",
                                             "fused_all_gather_matmul",
                                             "fused_all_gather_scaled_matmul",
                                             "fused_matmul_reduce_scatter",
                                             "fused_scaled_matmul_reduce_scatter"};

}  // namespace

void register_symmetric_operators() {
    static auto& library =
        *new torch::Library(torch::Library::IMPL, "symm_mem", c10::DispatchKey::CPU, __FILE__, __LINE__);
    library.impl("one_shot_all_reduce", &one_shot);
    library.impl("one_shot_all_reduce_out", &one_shot_out);
    library.impl("one_shot_all_reduce_copy", &one_shot_copy);
    library.impl("one_shot_all_reduce_copy_out", &one_shot_copy_out);
    library.impl("two_shot_all_reduce_", &two_shot);
    library.impl("two_shot_all_reduce_out", &two_shot_out);
    library.impl("reduce_scatter_out", &reduce_scatter_out);
    library.impl("_low_contention_all_gather", &gather);
    library.impl("_low_contention_reduce_scatter", &scatter);
    library.impl("get_remote_tensors", &remote_tensors);
    for (const char* const name : refused_operators)
        library.impl(name, torch::CppFunction::makeFromBoxedFunction<&refuse>());
}

}  // namespace atoll_c10d
