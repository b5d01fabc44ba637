// Windows of PyTorch (2.15): one-sided access to a tensor of symmetric memory on each rank of a group.
#pragma once

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
        char* data;
        std::int64_t elements;
    };
    const Remote& remote(std::int64_t rank, const char* operation) const;

    Ranks ranks_;
    int registrations_ = 0;
    std::shared_ptr<JoinedBlocks> blocks_;  ///< null without a tensor
    std::vector<Remote> remotes_;
    at::ScalarType type_ = at::kByte;
    std::vector<std::int64_t> shape_;
    at::Tensor kept_;
};

}  // namespace atoll_c10d

#endif
