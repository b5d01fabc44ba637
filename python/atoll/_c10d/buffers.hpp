// Tensors as spans of bytes. Checks devices and types. Copies tensors that are not contiguous, and those of a
// type that a GPU does not reduce.
#pragma once

#include "profile.hpp"
#include "work.hpp"

#include <torch/csrc/distributed/c10d/Types.hpp>

namespace atoll_c10d {

inline void check_device(const at::Tensor& tensor, const char* operation) {
    TORCH_CHECK_VALUE(tensor.defined(), operation, " was given an undefined tensor.");
    if (!tensor.device().is_cpu() && !tensor.device().is_cuda())
        C10_THROW_ERROR(NotImplementedError,
                        c10::str("Atoll's backend moves tensors of CPUs and CUDA GPUs; ", operation,
                                 " was given one on ", tensor.device(), ". Copy it to the CPU first."));
    TORCH_CHECK_VALUE(tensor.layout() == at::kStrided, operation,
                      " takes dense tensors; it was given one of layout ", tensor.layout(), ".");
}

inline void check_alike(const at::Tensor& tensor, const at::Tensor& first, const char* operation) {
    check_device(tensor, operation);
    TORCH_CHECK_TYPE(tensor.scalar_type() == first.scalar_type(), operation,
                     " takes tensors of one type; it was given ", first.scalar_type(), " and ",
                     tensor.scalar_type(), ".");
    TORCH_CHECK_VALUE(tensor.device() == first.device(), operation,
                      " takes tensors of one device; it was given tensors on ", first.device(), " and ",
                      tensor.device(), ".");
}

inline bool is_eight_bit_float(at::ScalarType type) {
    return type == at::kFloat8_e4m3fn || type == at::kFloat8_e5m2;
}

inline const at::Tensor& single(const Tensors& tensors, const char* operation) {
    TORCH_CHECK_VALUE(tensors.size() == 1, operation, " takes one tensor a rank; it was given ",
                      tensors.size(), ".");
    check_device(tensors[0], operation);
    return tensors[0];
}

/// The arguments of one call, and what must live until it is done. The caller has checked the tensors, by
/// `single` or `check_alike`.
class Buffers {
  public:
    explicit Buffers(OpType type, bool reduces = false) : reduces_(reduces) {
        job_.type = type;
        job_.profiled = is_profiled();
    }

    void input(const at::Tensor& tensor) {
        show(tensor);
        push(in_, keep(readable(tensor)));
    }
    void output(const at::Tensor& tensor) {
        if (job_.type == OpType::BROADCAST || job_.type == OpType::RECV) show(tensor);
        job_.results.push_back(tensor);
        push(out_, writable(tensor, false));
    }
    /// One tensor that is read and written.
    void both(const at::Tensor& tensor) {
        show(tensor);
        job_.results.push_back(tensor);
        const at::Tensor flat = writable(tensor, true);
        push(in_, flat);
        push(out_, flat);
    }
    /// A tensor in pieces along dimension 0, or in equal pieces of its elements.
    void input_pieces(const at::Tensor& tensor, const std::vector<std::size_t>& bytes) {
        show(tensor);
        pieces(in_, keep(readable(tensor)), bytes);
    }
    void output_pieces(const at::Tensor& tensor, const std::vector<std::size_t>& bytes) {
        job_.results.push_back(tensor);
        pieces(out_, writable(tensor, false), bytes);
    }
    /// A tensor in `n` equal pieces.
    void input_pieces(const at::Tensor& tensor, std::size_t n) {
        show(tensor);
        const at::Tensor& flat = keep(readable(tensor));
        pieces(in_, flat, std::vector<std::size_t>(n, flat.nbytes() / n));
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

    /// Notes a tensor whose shape a profiler shows.
    void show(const at::Tensor& tensor) {
        if (job_.profiled) job_.shown.push_back(tensor);
    }

    /// GPUs reduce 8-bit floating-point numbers as float32; they are rounded once, at the end.
    bool widens(const at::Tensor& tensor) const {
        return reduces_ && tensor.device().is_cuda() && is_eight_bit_float(tensor.scalar_type());
    }
    at::Tensor readable(const at::Tensor& tensor) const {
        return widens(tensor) ? tensor.detach().to(at::kFloat).contiguous() : tensor.contiguous();
    }
    const at::Tensor& keep(at::Tensor tensor) {
        job_.kept.push_back(std::move(tensor));
        return job_.kept.back();
    }
    at::Tensor writable(const at::Tensor& tensor, bool read) {
        if (tensor.is_contiguous() && !widens(tensor)) return keep(tensor);
        const auto options = widens(tensor) ? tensor.options().dtype(at::kFloat) : tensor.options();
        at::Tensor flat = read ? readable(tensor) : at::empty(tensor.sizes(), options);
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

    const bool reduces_;
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

/// The type by which a GPU reduces: sums and averages of complex numbers are those of their two parts.
inline int type_on_gpu(at::ScalarType type, const atoll_call& call) {
    if (is_eight_bit_float(type)) return ATOLL_FLOAT32;
    const bool by_part = call.op == ATOLL_SUM || call.op == ATOLL_AVG;
    if (by_part && type == at::kComplexFloat) return ATOLL_FLOAT32;
    if (by_part && type == at::kComplexDouble) return ATOLL_FLOAT64;
    return call.type;
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
        case c10d::ReduceOp::PREMUL_SUM:
            return ATOLL_SUM;  // operation on the tensors that `multiplied` returns
        default:
            TORCH_CHECK_VALUE(false, operation,
                              " takes SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR and PREMUL_SUM.");
    }
}

/// The tensor to reduce: itself, or, for PREMUL_SUM, a new one that is multiplied by the operator's factor.
/// NCCL takes the same types.
inline at::Tensor multiplied(const at::Tensor& tensor, const c10d::ReduceOp& op, const char* operation) {
    if (op.op_ != c10d::ReduceOp::PREMUL_SUM) return tensor;
    const at::ScalarType type = tensor.scalar_type();
    TORCH_CHECK_TYPE(type == at::kFloat || type == at::kDouble || type == at::kHalf || type == at::kBFloat16,
                     operation, ": PREMUL_SUM takes float32, float64, float16 and bfloat16; this tensor is ",
                     type, ".");
    const auto* factor = dynamic_cast<const c10d::NCCLPreMulSumSupplement*>(op.supplement_.get());
    TORCH_CHECK_VALUE(factor != nullptr, operation, ": PREMUL_SUM has no factor; use _make_nccl_premul_sum.");
    const at::NoGradGuard no_grad;
    if (factor->tensor_factor.defined()) return tensor.mul(factor->tensor_factor.to(tensor.device(), type));
    return tensor.mul(factor->double_factor);
}

}  // namespace atoll_c10d
