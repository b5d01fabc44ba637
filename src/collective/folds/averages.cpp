#include "collective/folds/averages.hpp"

#include "atoll/error.hpp"
#include "collective/folds/halves.hpp"

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
            "Averages and sums of scaled elements take float16, bfloat16, float, double and long double.");
}

}  // namespace

Kernel reduction_kernel(DType type, ReduceOp op, double factor) {
    const bool averages = op == ReduceOp::avg;
    if ((averages || factor != 1) && !is_half(type)) with_real(type, [](auto) {});
    Kernel kernel = kernel_for(type, averages ? ReduceOp::sum : op);
    if (kernel.widens()) {
        kernel.factor = static_cast<float>(factor);
        kernel.averages = averages;
    }
    return kernel;
}

void multiply(void* dst, const void* src, std::size_t count, DType type, double factor) {
    with_real(type, [&]<class T>(T) {
        for (std::size_t i = 0; i < count; ++i)
            static_cast<T*>(dst)[i] = static_cast<const T*>(src)[i] * static_cast<T>(factor);
    });
}

void finish_average(void* dst, std::size_t count, DType type, ReduceOp op, int n_pes) {
    if (op != ReduceOp::avg || is_half(type)) return;
    with_real(type, [&]<class T>(T) {
        for (std::size_t i = 0; i < count; ++i) static_cast<T*>(dst)[i] /= static_cast<T>(n_pes);
    });
}

}  // namespace atl::collective
