// Errors of CUDA as exceptions, and the time of what is launched on a stream: for our programs and their
// peers'.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>

namespace bench {

inline void check(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

class Timer {
  public:
    Timer() {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        check(cudaEventCreate(&begin_));
        check(cudaEventCreate(&end_));
    }
    cudaStream_t stream() const { return stream_; }
    /// Microseconds of `launch(stream)`.
    template <class Launch> double us(Launch&& launch) {
        check(cudaEventRecord(begin_, stream_));
        launch(stream_);
        check(cudaGetLastError());
        check(cudaEventRecord(end_, stream_));
        check(cudaStreamSynchronize(stream_));
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin_, end_));
        return ms * 1e3;
    }

  private:
    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace bench
