// Tensors as spans of bytes: checks of devices and types, and contiguous copies of tensors that are not
// contiguous.
#pragma once

#include "work.hpp"

#include <torch/csrc/distributed/c10d/Types.hpp>

namespace atoll_c10d {

inline void check_cpu(const at::Tensor& tensor, const char* operation) {
    TORCH_CHECK_VALUE(tensor.defined(), operation, " was given an undefined tensor.");
    if (!tensor.device().is_cpu())
        C10_THROW_ERROR(
            NotImplementedError,
            c10::str(tensor.device().is_cuda() ? "CUDA tensors" : "Tensors of other devices",
                     ": not in this version of Atoll's backend, which moves CPU tensors; ", operation,
                     " was given one on ", tensor.device(),
                     ". Copy it to the CPU, or choose init_process_group(\"cpu:atoll,cuda:nccl\")."));
    TORCH_CHECK_VALUE(tensor.layout() == at::kStrided, operation,
                      " takes dense tensors; it was given one of layout ", tensor.layout(), ".");
}

inline void check_alike(const at::Tensor& tensor, const at::Tensor& first, const char* operation) {
    check_cpu(tensor, operation);
    TORCH_CHECK_TYPE(tensor.scalar_type() == first.scalar_type(), operation,
                     " takes tensors of one type; it was given ", first.scalar_type(), " and ",
                     tensor.scalar_type(), ".");
}

inline const at::Tensor& single(const Tensors& tensors, const char* operation) {
    TORCH_CHECK_VALUE(tensors.size() == 1, operation, " takes one tensor a rank; it was given ",
                      tensors.size(), ".");
    check_cpu(tensors[0], operation);
    return tensors[0];
}

/// The arguments of one call, and what must live until it is done. The caller has checked the tensors, by
/// `single` or `check_alike`.
class Buffers {
  public:
    explicit Buffers(OpType type) { job_.type = type; }

    void input(const at::Tensor& tensor) { push(in_, keep(tensor.contiguous())); }
    void output(const at::Tensor& tensor) {
        job_.results.push_back(tensor);
        push(out_, writable(tensor, false));
    }
    /// One tensor that is read and written.
    void both(const at::Tensor& tensor) {
        job_.results.push_back(tensor);
        const at::Tensor flat = writable(tensor, true);
        push(in_, flat);
        push(out_, flat);
    }
    /// A tensor in pieces along dimension 0, or in equal pieces of its elements.
    void input_pieces(const at::Tensor& tensor, const std::vector<std::size_t>& bytes) {
        pieces(in_, keep(tensor.contiguous()), bytes);
    }
    void output_pieces(const at::Tensor& tensor, const std::vector<std::size_t>& bytes) {
        job_.results.push_back(tensor);
        pieces(out_, writable(tensor, false), bytes);
    }
    void result(const at::Tensor& tensor) { job_.results.push_back(tensor); }

    atoll_call call(int kind, Milliseconds timeout) const {
        atoll_call call{};
        call.kind = kind;
        call.in = in_.data();
        call.n_in = in_.size();
        call.out = out_.data();
        call.n_out = out_.size();
        call.timeout_s = std::chrono::duration<double>(timeout).count();
        return call;
    }

    Job take_job() {
        if (!back_.empty())
            job_.finish = [back = std::move(back_)] {
                const at::NoGradGuard no_grad;
                for (const auto& [to, from] : back) to.copy_(from);
            };
        return std::move(job_);
    }

  private:
    using Spans = std::vector<atoll_span>;

    const at::Tensor& keep(at::Tensor tensor) {
        job_.kept.push_back(std::move(tensor));
        return job_.kept.back();
    }
    at::Tensor writable(const at::Tensor& tensor, bool read) {
        if (tensor.is_contiguous()) return keep(tensor);
        at::Tensor flat = read ? tensor.contiguous() : at::empty(tensor.sizes(), tensor.options());
        back_.emplace_back(tensor.detach(), flat);
        return keep(flat);
    }
    static void push(Spans& spans, const at::Tensor& tensor) {
        spans.push_back({tensor.nbytes() == 0 ? nullptr : tensor.data_ptr(), tensor.nbytes()});
    }
    static void pieces(Spans& spans, const at::Tensor& tensor, const std::vector<std::size_t>& bytes) {
        char* at = tensor.nbytes() == 0 ? nullptr : static_cast<char*>(tensor.data_ptr());
        for (const std::size_t size : bytes) {
            spans.push_back({at, size});
            at += size;
        }
    }

    Job job_;
    Spans in_, out_;
    std::vector<std::pair<at::Tensor, at::Tensor>> back_;  ///< tensors of the caller, and their copies
};

/// Bytes of each rank's piece in a tensor that is cut along dimension 0: `splits`, or equal parts if it is
/// empty.
inline std::vector<std::size_t> split_bytes(const at::Tensor& tensor, const std::vector<std::int64_t>& splits,
                                            int size, const char* operation, const char* which) {
    const auto n = static_cast<std::size_t>(size);
    if (splits.empty()) {
        const std::int64_t rows = tensor.dim() == 0 ? tensor.numel() : tensor.size(0);
        TORCH_CHECK_VALUE(rows % size == 0 || tensor.numel() == 0, operation, ": dimension 0 of the ", which,
                          " is ", rows, ", which does not divide by the group's ", size, " ranks.");
        return std::vector<std::size_t>(n, tensor.nbytes() / n);
    }
    TORCH_CHECK_VALUE(splits.size() == n, operation, " was given ", splits.size(), " ", which,
                      " split sizes for a group of ", size, " ranks.");
    std::int64_t rows = 0;
    for (const std::int64_t part : splits) {
        TORCH_CHECK_VALUE(part >= 0, operation, " was given a split size of ", part, ".");
        rows += part;
    }
    const std::int64_t there = tensor.dim() == 0 ? 1 : tensor.size(0);
    TORCH_CHECK_VALUE(rows == there, operation, ": the ", which, " split sizes sum to ", rows,
                      ", but dimension 0 of the tensor is ", there, ".");
    std::vector<std::size_t> bytes;
    for (const std::int64_t part : splits)
        bytes.push_back(there == 0 ? 0
                                   : tensor.nbytes() / static_cast<std::size_t>(there) *
                                         static_cast<std::size_t>(part));
    return bytes;
}

/// The library's number of an element type, for reductions.
inline int type_of(at::ScalarType type, const char* operation) {
    switch (type) {
        case at::kChar:
            return ATOLL_INT8;
        case at::kShort:
            return ATOLL_INT16;
        case at::kInt:
            return ATOLL_INT32;
        case at::kLong:
            return ATOLL_INT64;
        case at::kByte:
            return ATOLL_UINT8;
        case at::kUInt16:
            return ATOLL_UINT16;
        case at::kUInt32:
            return ATOLL_UINT32;
        case at::kUInt64:
            return ATOLL_UINT64;
        case at::kFloat:
            return ATOLL_FLOAT32;
        case at::kDouble:
            return ATOLL_FLOAT64;
        case at::kComplexFloat:
            return ATOLL_COMPLEX64;
        case at::kComplexDouble:
            return ATOLL_COMPLEX128;
        case at::kBool:
            return ATOLL_BOOL;
        case at::kHalf:
            return ATOLL_FLOAT16;
        case at::kBFloat16:
            return ATOLL_BFLOAT16;
        case at::kFloat8_e4m3fn:
            return ATOLL_FLOAT8_E4M3;
        case at::kFloat8_e5m2:
            return ATOLL_FLOAT8_E5M2;
        default:
            TORCH_CHECK_TYPE(false, operation, " does not reduce tensors of type ", type, ".");
    }
}

/// The library's number of an operator. On booleans a sum and a maximum are "or", a product and a minimum
/// "and".
inline int op_of(const c10d::ReduceOp& op, at::ScalarType type, const char* operation) {
    const bool logical = type == at::kBool;
    switch (op.op_) {
        case c10d::ReduceOp::SUM:
            return logical ? ATOLL_OR : ATOLL_SUM;
        case c10d::ReduceOp::AVG:
            TORCH_CHECK_TYPE(!logical, operation, ": the average of booleans is not defined.");
            return ATOLL_AVG;
        case c10d::ReduceOp::PRODUCT:
            return logical ? ATOLL_AND : ATOLL_PROD;
        case c10d::ReduceOp::MIN:
            return logical ? ATOLL_AND : ATOLL_MIN;
        case c10d::ReduceOp::MAX:
            return logical ? ATOLL_OR : ATOLL_MAX;
        case c10d::ReduceOp::BAND:
            return ATOLL_AND;
        case c10d::ReduceOp::BOR:
            return ATOLL_OR;
        case c10d::ReduceOp::BXOR:
            return ATOLL_XOR;
        default:
            TORCH_CHECK_VALUE(
                false, operation,
                " takes SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR and BXOR; multiply the tensor before a "
                "sum instead of PREMUL_SUM.");
    }
}

}  // namespace atoll_c10d
