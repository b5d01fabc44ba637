// Windows of PyTorch (2.15): one-sided access to a tensor on each rank of a group. Ranks share memory if all
// tensors are in symmetric memory. Else the system copies between processes.
#pragma once

#include "process_memory.hpp"
#include "symmetric.hpp"

#ifdef C10D_BACKEND_HAS_WINDOW

#include <torch/csrc/distributed/c10d/Window.hpp>

namespace atoll_c10d {

class AtollWindow : public c10d::Window {
  public:
    /// `ranks.keys` serves this window alone.
    explicit AtollWindow(Ranks ranks) : ranks_(std::move(ranks)) {}

    void tensor_register(const at::Tensor& tensor, bool owning) override;
    void tensor_deregister() override;
    WorkPtr put(const at::Tensor& tensor, std::int64_t rank, std::int64_t offset, bool async,
                const c10d::PutOptions& options) override;
    at::Tensor map_remote_tensor(std::int64_t rank) override;
    WorkPtr signal(std::int64_t rank, bool async, const c10d::SignalOptions& options) override;
    WorkPtr wait_signal(std::int64_t rank, bool async, const c10d::WaitSignalOptions& options) override;
    c10d::WindowAttr get_attr(std::int64_t rank) override;

  private:
    /// A rank's tensor.
    struct Remote {
        char* data;  ///< in that process if `process` is there, else in this one
        std::int64_t elements;
        std::shared_ptr<ProcessMemory> process;
    };
    using Processes = std::vector<std::shared_ptr<ProcessMemory>>;
    static Processes reach(const Ranks& ranks, const std::vector<std::string>& texts);
    const Remote& remote(std::int64_t rank, const char* operation) const;

    Ranks ranks_;
    int registrations_ = 0;
    std::shared_ptr<JoinedBlocks> blocks_;  ///< null without a tensor; of `carrier_` if memory is not shared
    at::Tensor carrier_;                    ///< has the words of signals
    std::vector<Remote> remotes_;
    at::ScalarType type_ = at::kByte;
    std::vector<std::int64_t> shape_;
    at::Tensor kept_;
};

}  // namespace atoll_c10d

#endif
