// Shared by the tests of streams: a stream of this PE's GPU, graphs of it, and values read without Atoll.
#pragma once

#include "gpu/support.hpp"

#include "atoll/stream.hpp"

#include <functional>
#include <optional>

namespace atl::testing {

/// Captures the work that `record` enqueues on the stream.
class Graph {
  public:
    Graph(cudaStream_t stream, const std::function<void()>& record) : stream_(stream) {
        check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        record();
        cudaGraph_t graph = nullptr;
        check_cuda(cudaStreamEndCapture(stream, &graph));
        check_cuda(cudaGraphInstantiate(&instance_, graph, 0));
        check_cuda(cudaGraphDestroy(graph));
    }
    ~Graph() { cudaGraphExecDestroy(instance_); }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    void launch() { check_cuda(cudaGraphLaunch(instance_, stream_)); }

  private:
    cudaStream_t stream_;
    cudaGraphExec_t instance_ = nullptr;
};

class OnStream : public OnDevice {
  protected:
    void SetUp() override {
        OnDevice::SetUp();
        if (IsSkipped()) return;
        check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    }
    void TearDown() override {
        if (stream_) check_cuda(cudaStreamDestroy(stream_));
    }
    StreamContext on_stream() const { return {context_, {stream_}}; }
    StreamTeam team_on_stream() const { return {job_.world(), {stream_}}; }
    void finish() const { check_cuda(cudaStreamSynchronize(stream_)); }
    /// PEs on one GPU time-slice it for milliseconds, and a waiting kernel keeps the others from running.
    int replays() const {
        int gpus = 0;
        check_cuda(cudaGetDeviceCount(&gpus));
        return job_.n_pes() <= gpus ? 1000 : 20;
    }
    template <class T> static std::vector<T> values(const T* from, std::size_t n) {
        std::vector<T> result(n);
        check_cuda(cudaMemcpy(result.data(), from, n * sizeof(T), cudaMemcpyDefault));
        return result;
    }
    template <class T> static void set(T* to, const std::vector<T>& from) {
        check_cuda(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyDefault));
        check_cuda(cudaDeviceSynchronize());
    }
    static std::optional<ErrorCode> code_of(const std::function<void()>& call) {
        try {
            call();
        } catch (const Error& error) {
            return error.code();
        }
        return std::nullopt;
    }
    cudaStream_t stream_ = nullptr;
};

}  // namespace atl::testing
