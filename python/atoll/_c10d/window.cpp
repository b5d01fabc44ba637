#include "window.hpp"

#ifdef C10D_BACKEND_HAS_WINDOW

#include "buffers.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <sstream>
#include <unistd.h>

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

std::string random_text() {
    std::random_device random;
    return c10::str("window-", random(), "-", random());
}

WorkPtr done(int rank) { return AtollWork::completed(rank, {}, 0, 0); }

}  // namespace

/// Opens the processes of the other ranks, or refuses on all ranks. Collective. `texts`: of each rank a
/// letter, a number, its process, and the address and contents of some of its memory.
AtollWindow::Processes AtollWindow::reach(const Ranks& ranks, const std::vector<std::string>& texts) {
    Processes processes;
    std::string refusal;
    for (int rank = 0; rank < ranks.size; ++rank) {
        std::istringstream in(texts[static_cast<std::size_t>(rank)]);
        std::string letter, bytes, contents;
        pid_t process = 0;
        std::uintptr_t address = 0;
        in >> letter >> bytes >> process >> address >> contents;
        const int shown = ranks.names.empty() ? rank : ranks.names[static_cast<std::size_t>(rank)];
        processes.push_back(rank == ranks.rank
                                ? nullptr
                                : std::make_shared<ProcessMemory>(process, c10::str("rank ", shown)));
        if (refusal.empty() && rank != ranks.rank) refusal = processes.back()->refusal(address, contents);
    }
    if (!refusal.empty()) {
        const std::string text =
            c10::str("tensor_register: not all tensors are in symmetric memory of one size, and ", refusal,
                     " Or make the tensors by torch.distributed._symmetric_memory.empty(..., "
                     "device=\"cpu\"), or by the "
                     "backend's allocate_tensor, with equal sizes on all ranks.");
        ranks.store->set(c10::str(ranks.keys, "/", ranks.rank), refused + text);
        C10_THROW_ERROR(DistBackendError, text);
    }
    exchanged(ranks, "reached");
    return processes;
}

void AtollWindow::tensor_register(const at::Tensor& tensor, bool owning) {
    const char* const operation = "tensor_register";
    std::string refusal;
    atoll_block block{};
    if (!tensor.defined() || !tensor.device().is_cpu() || !tensor.is_contiguous())
        refusal = "tensor_register takes a contiguous CPU tensor.";
    else if (blocks_)
        refusal = "This window has a tensor; call tensor_deregister first.";
    const bool symmetric = refusal.empty() && symmetric_table->find(tensor.const_data_ptr(), &block) == 1;
    const Ranks ranks = ranks_.step(registrations_++);
    const WithoutGil released;
    if (!refusal.empty()) {
        ranks.store->set(c10::str(ranks.step("kinds").keys, "/", ranks.rank), refused + refusal);
        TORCH_CHECK_VALUE(false, refusal);
    }

    // Other ranks compare this text with what they read here.
    const std::string contents = random_text();
    const std::vector<std::string> texts = exchanged(
        ranks.step("kinds"), c10::str(symmetric ? 's' : 'p', ' ', block.bytes, ' ', ::getpid(), ' ',
                                      reinterpret_cast<std::uintptr_t>(contents.data()), ' ', contents));
    const auto is_like_first = [&](const std::string& text) {
        return text[0] == 's' &&
               text.substr(0, text.find(' ', 2)) == texts[0].substr(0, texts[0].find(' ', 2));
    };
    const bool shared = std::all_of(texts.begin(), texts.end(), is_like_first);
    Processes processes(texts.size());
    at::Tensor carrier;
    if (!shared) {
        processes = reach(ranks.step("processes"), texts);
        carrier = allocate_symmetric(1, at::TensorOptions().dtype(at::kByte));
    }
    auto* const data = static_cast<char*>(const_cast<void*>(tensor.const_data_ptr()));
    const auto offset = shared ? static_cast<std::uintptr_t>(data - static_cast<char*>(block.data))
                               : reinterpret_cast<std::uintptr_t>(data);
    const auto blocks = JoinedBlocks::join(
        ranks, shared ? data : carrier.const_data_ptr(), "",
        c10::str(tensor.numel(), ':', static_cast<int>(tensor.scalar_type()), ':', offset));
    std::vector<Remote> remotes;
    for (int rank = 0; rank < blocks->size(); ++rank) {
        const auto i = static_cast<std::size_t>(rank);
        std::int64_t elements = 0;
        std::uintptr_t at = 0;
        int type = 0;
        char colon = 0;
        std::istringstream(blocks->words()[i]) >> elements >> colon >> type >> colon >> at;
        TORCH_CHECK_TYPE(type == static_cast<int>(tensor.scalar_type()), operation, ": rank ", rank,
                         " has type ", static_cast<at::ScalarType>(type), ", and rank ", blocks->rank(), " ",
                         tensor.scalar_type(), ".");
        char* const base = shared ? static_cast<char*>(blocks->data()[i]) : nullptr;
        remotes.push_back({base + at, elements, processes[i]});
    }
    blocks_ = blocks;
    carrier_ = carrier;
    remotes_ = std::move(remotes);
    type_ = tensor.scalar_type();
    shape_ = tensor.sizes().vec();
    if (owning || !shared) kept_ = tensor;  // others write to an ordinary tensor's addresses
}

/// Collective, since no rank may release its tensor while others write to it.
void AtollWindow::tensor_deregister() {
    remote(ranks_.rank, "tensor_deregister");
    atoll_symmetric_call call{};
    call.kind = ATOLL_SYMMETRIC_BARRIER;
    blocks_->run(call);
    blocks_.reset();
    carrier_ = at::Tensor();
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
    char* const first = to.data + static_cast<std::size_t>(offset) * flat.element_size();
    if (to.process)
        to.process->write(reinterpret_cast<std::uintptr_t>(first), flat.const_data_ptr(), flat.nbytes());
    else if (flat.nbytes() != 0)
        std::memcpy(first, flat.const_data_ptr(), flat.nbytes());
    return done(ranks_.rank);
}

at::Tensor AtollWindow::map_remote_tensor(std::int64_t rank) {
    const Remote& of = remote(rank, "map_remote_tensor");
    const Remote& mine = remote(ranks_.rank, "map_remote_tensor");
    if (of.process)
        C10_THROW_ERROR(
            NotImplementedError,
            c10::str("map_remote_tensor: the tensor of rank ", rank,
                     " is in ordinary memory, which put reaches and no tensor can. Make the tensors "
                     "of all ranks by torch.distributed._symmetric_memory.empty."));
    const std::vector<std::int64_t> shape =
        of.elements == mine.elements ? shape_ : std::vector<std::int64_t>{of.elements};
    return at::from_blob(
        of.data, shape, [blocks = blocks_, kept = kept_](void*) {}, at::TensorOptions().dtype(type_));
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
