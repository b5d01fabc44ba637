#include "collective/folds/averages.hpp"

#include "atoll/error.hpp"

namespace atl::collective {

namespace {

template <class Body> void with_real(DType type, Body&& body) {
    if (type == DType::float32)
        body(float{});
    else if (type == DType::float64)
        body(double{});
    else if (type == DType::long_double)
        body(0.0L);
    else
        throw Error(
            ErrorCode::dtype_mismatch,
            "Averages and sums of scaled elements take float, double and long double; float16 and bfloat16 "
            "too, in device memory.");
}

}  // namespace

ReduceOp folded_as(DType type, ReduceOp op, double factor) {
    if (op == ReduceOp::avg || factor != 1) with_real(type, [](auto) {});
    return op == ReduceOp::avg ? ReduceOp::sum : op;
}

void multiply(void* dst, const void* src, std::size_t count, DType type, double factor) {
    with_real(type, [&]<class T>(T) {
        for (std::size_t i = 0; i < count; ++i)
            static_cast<T*>(dst)[i] = static_cast<const T*>(src)[i] * static_cast<T>(factor);
    });
}

void finish_average(void* dst, std::size_t count, DType type, ReduceOp op, int n_pes) {
    if (op != ReduceOp::avg) return;
    with_real(type, [&]<class T>(T) {
        for (std::size_t i = 0; i < count; ++i) static_cast<T*>(dst)[i] /= static_cast<T>(n_pes);
    });
}

}  // namespace atl::collective
