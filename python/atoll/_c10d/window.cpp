#include "window.hpp"

#ifdef C10D_BACKEND_HAS_WINDOW

#include "buffers.hpp"

#include <cstring>
#include <sstream>

namespace atoll_c10d {
namespace {

/// A wait that is carried out by the caller of `wait`.
class LaterWork : public c10d::Work {
  public:
    LaterWork(int rank, std::function<void()> body) : Work(rank, OpType::UNKNOWN), body_(std::move(body)) {}
    bool isCompleted() override { return !body_; }
    bool isSuccess() const override { return !body_; }
    void synchronize() override { wait(kNoTimeout); }
    bool wait(Milliseconds) override {
        if (const std::function<void()> body = std::exchange(body_, nullptr)) body();
        return true;
    }

  private:
    std::function<void()> body_;
};

WorkPtr done(int rank) { return AtollWork::completed(rank, {}, 0, 0); }

}  // namespace

void AtollWindow::tensor_register(const at::Tensor& tensor, bool owning) {
    const char* const operation = "tensor_register";
    std::string refusal;
    atoll_block block{};
    if (!tensor.defined() || !tensor.device().is_cpu() || !tensor.is_contiguous())
        refusal = "tensor_register takes a contiguous CPU tensor.";
    else if (symmetric_table->find(tensor.const_data_ptr(), &block) != 1)
        refusal =
            "tensor_register takes a tensor of symmetric memory. Make it by "
            "torch.distributed._symmetric_memory.empty(..., device=\"cpu\"), or by the backend's "
            "allocate_tensor.";
    else if (blocks_)
        refusal = "This window has a tensor; call tensor_deregister first.";
    std::ostringstream word;
    if (refusal.empty())
        word << tensor.numel() << ':' << static_cast<int>(tensor.scalar_type()) << ':'
             << static_cast<const char*>(tensor.const_data_ptr()) - static_cast<char*>(block.data);
    Ranks ranks = ranks_;
    ranks.keys += "/" + std::to_string(registrations_++);
    const WithoutGil released;
    const auto blocks = JoinedBlocks::join(ranks, refusal.empty() ? tensor.const_data_ptr() : nullptr,
                                           refusal, refusal.empty() ? word.str() : "-");
    std::vector<Remote> remotes;
    for (int rank = 0; rank < blocks->size(); ++rank) {
        std::int64_t elements = 0, offset = 0;
        int type = 0;
        char colon = 0;
        std::istringstream(blocks->words()[static_cast<std::size_t>(rank)]) >> elements >> colon >> type >>
            colon >> offset;
        TORCH_CHECK_TYPE(type == static_cast<int>(tensor.scalar_type()), operation, ": rank ", rank,
                         " has type ", static_cast<at::ScalarType>(type), ", and rank ", blocks->rank(), " ",
                         tensor.scalar_type(), ".");
        remotes.push_back(
            {static_cast<char*>(blocks->data()[static_cast<std::size_t>(rank)]) + offset, elements});
    }
    blocks_ = blocks;
    remotes_ = std::move(remotes);
    type_ = tensor.scalar_type();
    shape_ = tensor.sizes().vec();
    if (owning) kept_ = tensor;
}

/// Collective, since no rank may release its tensor while others write to it.
void AtollWindow::tensor_deregister() {
    remote(ranks_.rank, "tensor_deregister");
    atoll_symmetric_call call{};
    call.kind = ATOLL_SYMMETRIC_BARRIER;
    blocks_->run(call);
    blocks_.reset();
    remotes_.clear();
    kept_ = at::Tensor();
}

const AtollWindow::Remote& AtollWindow::remote(std::int64_t rank, const char* operation) const {
    TORCH_CHECK_VALUE(blocks_ != nullptr, operation,
                      ": this window has no tensor; call tensor_register first.");
    TORCH_CHECK_VALUE(rank >= 0 && rank < ranks_.size, operation, " was given rank ", rank,
                      "; the group has ranks 0 to ", ranks_.size - 1, ".");
    return remotes_[static_cast<std::size_t>(rank)];
}

WorkPtr AtollWindow::put(const at::Tensor& tensor, std::int64_t rank, std::int64_t offset, bool,
                         const c10d::PutOptions&) {
    const char* const operation = "put";
    const Remote& to = remote(rank, operation);
    TORCH_CHECK_VALUE(tensor.defined() && tensor.device().is_cpu(), operation, " takes a CPU tensor.");
    TORCH_CHECK_TYPE(tensor.scalar_type() == type_, operation, " was given a tensor of type ",
                     tensor.scalar_type(), "; the window has type ", type_, ".");
    TORCH_CHECK_VALUE(offset >= 0 && offset <= to.elements && tensor.numel() <= to.elements - offset,
                      operation, " of ", tensor.numel(), " elements at element ", offset,
                      ": the tensor of rank ", rank, " has ", to.elements, ".");
    const at::Tensor flat = tensor.contiguous();
    const WithoutGil released;
    if (flat.nbytes() != 0)
        std::memcpy(to.data + static_cast<std::size_t>(offset) * flat.element_size(), flat.const_data_ptr(),
                    flat.nbytes());
    return done(ranks_.rank);
}

at::Tensor AtollWindow::map_remote_tensor(std::int64_t rank) {
    const Remote& of = remote(rank, "map_remote_tensor");
    const Remote& mine = remote(ranks_.rank, "map_remote_tensor");
    const std::vector<std::int64_t> shape =
        of.elements == mine.elements ? shape_ : std::vector<std::int64_t>{of.elements};
    return at::from_blob(
        of.data, shape, [blocks = blocks_](void*) {}, at::TensorOptions().dtype(type_));
}

WorkPtr AtollWindow::signal(std::int64_t rank, bool, const c10d::SignalOptions&) {
    remote(rank, "signal");
    atoll_symmetric_call call{};
    call.kind = ATOLL_SYMMETRIC_NOTIFY;
    call.member = static_cast<int>(rank);
    blocks_->run(call);
    return done(ranks_.rank);
}

WorkPtr AtollWindow::wait_signal(std::int64_t rank, bool async, const c10d::WaitSignalOptions& options) {
    remote(rank, "wait_signal");
    atoll_symmetric_call call{};
    call.kind = ATOLL_SYMMETRIC_AWAIT;
    call.member = static_cast<int>(rank);
    if (options.timeout != c10d::kUnsetTimeout)
        call.timeout_s = std::chrono::duration<double>(options.timeout).count();
    const auto wait = [blocks = blocks_, call] { blocks->run(call); };
    if (async) return c10::make_intrusive<LaterWork>(ranks_.rank, wait);
    wait();
    return done(ranks_.rank);
}

c10d::WindowAttr AtollWindow::get_attr(std::int64_t rank) {
    remote(rank, "get_attr");
    return {};  // one coherent memory
}

}  // namespace atoll_c10d

#endif
