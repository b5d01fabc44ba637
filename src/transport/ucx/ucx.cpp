#include "transport/ucx/ucx.hpp"

#include "atoll/detail/memory_ops.hpp"
#include "atoll/error.hpp"
#include "transport/apply_atomic.hpp"
#include "transport/ucx/waiting.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace atl::transport {
namespace {

using namespace ucx;

/// The limit of messages in flight; above it a put waits.
constexpr std::size_t most_in_flight = 1024;
/// The number of messages after which a sender drives the worker.
constexpr std::uint32_t posts_per_poll = 32;

class Ucx final : public Transport {
  public:
    explicit Ucx(UcxOptions options) : pe_(options.pe), n_pes_(options.n_pes), base_(options.base) {
        const bool with_thread = options.progress_thread;
        engine_ = std::make_unique<Engine>(std::move(options));
        waiting_ = std::make_unique<Waiting>(*engine_, with_thread);
        contexts_.emplace_back().emplace();
    }
    ~Ucx() override {
        if (::getpid() == process_) {
            close();
            return;
        }
        // A forked child is not a PE and leaves its parent's state alone.
        waiting_->forget();
        static_cast<void>(engine_.release());
    }

    std::string_view name() const override { return "ucx"; }
    std::string note() const override {
        return Rma::describe(engine_->options().rma, engine_->worker().ucp());
    }
    bool reaches(int pe) const override { return pe >= 0 && pe < n_pes_; }

    ContextId create_context() override {
        const std::lock_guard lock(engine_->mutex());
        const auto unused = std::find_if(contexts_.begin(), contexts_.end(), [](auto& c) { return !c; });
        const auto id = static_cast<ContextId>(unused - contexts_.begin());
        if (unused == contexts_.end()) contexts_.emplace_back();
        contexts_[id].emplace();
        return id;
    }
    void destroy_context(ContextId context) override {
        try {
            quiet(context, -1);
        } catch (const Error&) {
            // The error was reported before, or the job is over. The remaining operations cannot complete.
        }
        const std::lock_guard lock(engine_->mutex());
        engine_->forget_all(context);  // drops the operations that could not complete
        contexts_[context].reset();
    }

    void put(ContextId context, int pe, std::uint64_t offset, const void* src, std::size_t bytes,
             Completion completion) override {
        if (pe == pe_) return detail::copy(base_ + offset, src, bytes);
        put_with(context, pe, Header{.offset = offset, .kind = Kind::put}, src, bytes, completion);
    }
    void put_signal(ContextId context, int pe, std::uint64_t offset, const void* src, std::size_t bytes,
                    const Signal& signal, Completion completion) override {
        if (pe == pe_) return Transport::put_signal(context, pe, offset, src, bytes, signal, completion);
        put_with(context, pe,
                 Header{.offset = offset,
                        .a = signal.offset,
                        .b = signal.value,
                        .kind = Kind::put_signal,
                        .op = signal.op == SignalOp::set ? AtomicOp::set : AtomicOp::add},
                 src, bytes, completion);
    }
    void get(ContextId context, int pe, std::uint64_t offset, void* dst, std::size_t bytes,
             Completion completion) override {
        if (pe == pe_) return detail::copy(dst, base_ + offset, bytes);
        if (get_by_rma(context, pe, offset, dst, bytes, completion)) return;
        ask(context, pe, Header{.offset = offset, .a = bytes, .kind = Kind::get},
            {.dst = static_cast<char*>(dst), .left = bytes, .blocks = {}},
            completion == Completion::local ? "get" : nullptr);
    }

    std::uint64_t atomic(ContextId context, int pe, std::uint64_t offset, AtomicOp op, DType type,
                         std::uint64_t value, std::uint64_t compare) override {
        check_atomic(op, type);
        if (pe == pe_) return apply_atomic(op, type, base_ + offset, value, compare);
        Header header{
            .offset = offset, .a = value, .b = compare, .kind = Kind::fetch, .op = op, .type = type};
        std::uint64_t before = 0;
        if (is_fetching(op)) {
            ask(context, pe, header, answer_to(&before, type), "atomic operation");
        } else {
            header.kind = Kind::atomic;
            const auto lock = lock_connected(pe);
            note(context, pe, engine_->post(engine_->peer(pe), header, nullptr, 0));
        }
        return before;
    }
    void fetch_atomic(ContextId context, int pe, std::uint64_t offset, AtomicOp op, DType type,
                      std::uint64_t value, std::uint64_t compare, void* result) override {
        check_atomic(op, type);
        if (pe == pe_) return Transport::fetch_atomic(context, pe, offset, op, type, value, compare, result);
        ask(context, pe,
            Header{.offset = offset, .a = value, .b = compare, .kind = Kind::fetch, .op = op, .type = type},
            answer_to(result, type), nullptr);
    }

    void put_blocks(ContextId context, int pe, std::uint64_t offset, const void* src,
                    const Blocks& blocks) override;
    void get_blocks(ContextId context, int pe, std::uint64_t offset, void* dst,
                    const Blocks& blocks) override;

    /// A PE's messages are carried out in order without a fence.
    void fence(ContextId context, int pe) override {
        if (engine_->rma()) fence_rma(context, pe);
    }
    void quiet(ContextId context, int pe) override;

    void release(std::uint64_t begin, std::uint64_t end,
                 const std::function<void(std::uint64_t, std::uint64_t)>& release_pages) override {
        const std::lock_guard lock(engine_->mutex());
        if (!engine_->rma()) return release_pages(begin, end);
        engine_->rma()->slot_keys().for_each_gap(begin, end, release_pages);
    }

    bool carries_device_heaps() const override { return true; }
    void add_device_chunk(std::uint64_t offset, char* memory, std::size_t bytes) override {
        const std::lock_guard lock(engine_->mutex());
        engine_->add_device_chunk(offset, memory, bytes);
    }
    void serve_device_heap(DeviceOwner* owner) override {
        const std::lock_guard lock(engine_->mutex());
        engine_->serve_device_heap(owner);
    }

    bool progress() override {
        waiting_->note();
        return progress_in_passing();
    }
    bool progress_in_passing() override {
        const std::unique_lock lock(engine_->mutex(), std::try_to_lock);
        return lock && engine_->progress();
    }
    bool sleep(std::uint64_t ns, int also) override {
        waiting_->sleep(ns, also);
        return true;
    }
    bool is_sending() override {
        const std::lock_guard lock(engine_->mutex());
        return engine_->worker().in_flight() != 0;
    }
    bool polls() const override { return true; }
    void connect_all() override {
        const auto& carries = engine_->options().carries;
        std::vector<int> others;
        for (int step = 1; step < n_pes_; ++step) {
            const int pe = (pe_ + step) % n_pes_;  // spreads the connections over the PEs
            if (!carries || carries(pe)) others.push_back(pe);
        }
        for (const int pe : others) lock_connected(pe);
        Lock lock(engine_->mutex());
        for (const int pe : others) {
            const Peer& to = engine_->peer(pe);
            wait(lock, "connect", pe, [&] { return to.done >= to.awaited; });
        }
    }
    void expect_end() override {
        const std::lock_guard lock(engine_->mutex());
        engine_->expect_end();
    }
    void close() noexcept override {
        if (::getpid() != process_) return;
        const std::lock_guard lock(engine_->mutex());
        engine_->close();
        waiting_->stop();
    }

  private:
    /// PEs to which a context has sent since they last acknowledged everything.
    using Touched = std::vector<int>;

    static Pending answer_to(void* result, DType type) {
        return {.dst = static_cast<char*>(result), .left = size_of(type), .blocks = {}};
    }

    /// Takes the lock, with a connection to `pe`. May wait for that PE to publish its address.
    Lock lock_connected(int pe) {
        Lock lock(engine_->mutex());
        engine_->check(engine_->peer(pe));
        if (!engine_->is_connected(pe)) {
            lock.unlock();
            const std::string address = engine_->options().find(pe);
            lock.lock();
            engine_->connect(pe, address);
        }
        return lock;
    }

    // Called with the lock held.
    void note(ContextId context, int pe, std::uint64_t sequence) {
        Peer& peer = engine_->peer(pe);
        if (Engine::last(peer, context) <= peer.done) touch(*contexts_[context], pe);
        engine_->note_sent(peer, context, sequence);
    }
    static void touch(Touched& touched, int pe) {
        if (std::find(touched.begin(), touched.end(), pe) == touched.end()) touched.push_back(pe);
    }

    /// Waits like Waiting::until.
    template <class Ready> void wait(Lock& lock, const char* operation, int pe, Ready&& ready) {
        waiting_->until(lock, operation, pe, std::forward<Ready>(ready));
    }
    /// True if UCX's own access was used.
    bool put_by_rma(Lock& lock, ContextId context, int pe, const Header& header, const void* src,
                    std::size_t bytes, Completion completion);
    bool get_by_rma(ContextId context, int pe, std::uint64_t offset, void* dst, std::size_t bytes,
                    Completion completion);
    void fence_rma(ContextId context, int pe);
    void posted(Lock& lock, int pe);
    void put_with(ContextId context, int pe, Header header, const void* src, std::size_t bytes,
                  Completion completion);
    void ask(ContextId context, int pe, Header header, Pending pending, const char* operation);
    /// Does the work of quiet. May throw without holding the lock.
    void complete(Lock& lock, ContextId context, int pe);

    const int pe_;
    const int n_pes_;
    char* const base_;
    const pid_t process_ = ::getpid();
    std::unique_ptr<Engine> engine_;
    std::vector<std::optional<Touched>> contexts_;
    std::uint32_t posts_ = 0;
    std::unique_ptr<Waiting> waiting_;
};

void Ucx::put_with(ContextId context, int pe, Header header, const void* src, std::size_t bytes,
                   Completion completion) {
    Lock lock = lock_connected(pe);
    Peer& peer = engine_->peer(pe);
    if (bytes <= packet_data_bytes) {
        // The last flags of the job are waited for: data in flight when a connection ends may be lost.
        header.is_awaited = completion != Completion::unconfirmed || engine_->expects_end();
        const std::uint64_t sequence = engine_->post(peer, header, src, bytes);
        if (header.is_awaited) note(context, pe, sequence);
        return posted(lock, pe);
    }
    if (put_by_rma(lock, context, pe, header, src, bytes, completion)) return;
    auto flight = completion == Completion::at_quiet ? nullptr : std::make_unique<Flight>();
    for (std::size_t at = 0; at < bytes;) {
        const std::size_t part = std::min(bytes - at, chunk_bytes);
        Header next = header;
        if (at + part < bytes) next.kind = Kind::put;  // the signal goes with the last part
        next.offset += at;
        note(context, pe,
             engine_->post_from(peer, next, static_cast<const char*>(src) + at, part, flight.get()));
        at += part;
    }
    if (!flight) return posted(lock, pe);
    try {
        wait(lock, "put", pe, [&] { return flight->left == 0; });
    } catch (...) {
        if (!lock) lock.lock();
        flight->abandoned = true;
        if (flight->left != 0) static_cast<void>(flight.release());  // the last message deletes it
        throw;
    }
}

bool Ucx::put_by_rma(Lock& lock, ContextId context, int pe, const Header& header, const void* src,
                     std::size_t bytes, Completion completion) {
    Rma* rma = engine_->rma();
    Peer& peer = engine_->peer(pe);
    if (!rma || !rma->reaches(lock, *waiting_, "put", peer, header.offset, bytes)) return false;
    touch(*contexts_[context], pe);
    const bool at_quiet = completion == Completion::at_quiet;
    rma->put(lock, *waiting_, peer, context, header.offset, src, bytes, at_quiet);
    if (header.kind != Kind::put_signal) return true;
    rma->complete_puts(lock, *waiting_, "put_signal", peer, context);
    note(context, pe, engine_->post(peer, header, nullptr, 0));
    return true;
}

bool Ucx::get_by_rma(ContextId context, int pe, std::uint64_t offset, void* dst, std::size_t bytes,
                     Completion completion) {
    Rma* rma = engine_->rma();
    if (!rma || bytes <= packet_data_bytes) return false;
    Lock lock = lock_connected(pe);
    Peer& peer = engine_->peer(pe);
    if (!rma->reaches(lock, *waiting_, "get", peer, offset, bytes)) return false;
    const bool at_quiet = completion == Completion::at_quiet;
    if (at_quiet) touch(*contexts_[context], pe);
    rma->get(lock, *waiting_, peer, context, offset, dst, bytes, at_quiet);
    return true;
}

/// Orders UCX's own puts, which the target's CPU does not see, against messages. Waits here for the puts
/// before the fence. Puts after it wait for the messages sent before.
void Ucx::fence_rma(ContextId context, int pe) {
    engine_->note_fence();
    if (!engine_->rma()->is_open()) return;
    Lock lock(engine_->mutex());
    Touched to;  // a copy, since other threads may send meanwhile
    if (pe >= 0)
        to.push_back(pe);
    else
        to = *contexts_[context];
    for (const int each : to) engine_->rma()->begin_completing(engine_->peer(each), context);
    for (const int each : to)
        engine_->rma()->complete_puts(lock, *waiting_, "fence", engine_->peer(each), context);
}

/// Call after a message without a wait. A program that sends continuously drives the worker itself: waking
/// its thread for each acknowledgement would make sending half as slow again. Between its calls it does not
/// serve other PEs. If it sends rarely, the thread does.
void Ucx::posted(Lock& lock, int pe) {
    const Worker& worker = engine_->worker();
    if (++posts_ % posts_per_poll == 0) {
        waiting_->note();
        engine_->progress();
    }
    if (worker.in_flight() < most_in_flight) return;
    wait(lock, "put", pe, [&] { return worker.in_flight() < most_in_flight / 2; });
}

/// Sends a request. Waits for the answer if `operation` names a caller; else quiet waits.
void Ucx::ask(ContextId context, int pe, Header header, Pending pending, const char* operation) {
    pending.context = context;
    Lock lock = lock_connected(pe);
    // Earlier puts of this context must be complete first. Messages have this order already.
    if (Rma* rma = engine_->rma())
        rma->complete_puts(lock, *waiting_, operation ? operation : "get", engine_->peer(pe), context);
    const std::uint64_t token = header.token = engine_->expect(pending);
    note(context, pe, engine_->post(engine_->peer(pe), header, nullptr, 0));
    if (!operation) return posted(lock, pe);
    try {
        wait(lock, operation, pe, [&] { return !engine_->is_expected(token); });
    } catch (...) {
        if (!lock) lock.lock();
        engine_->forget(token);  // a later answer has no target
        throw;
    }
}

void Ucx::put_blocks(ContextId context, int pe, std::uint64_t offset, const void* src, const Blocks& blocks) {
    const std::size_t block = blocks.block_bytes;
    if (pe == pe_ || block > packet_data_bytes)
        return Transport::put_blocks(context, pe, offset, src, blocks);
    const std::size_t most = packet_data_bytes / block;
    const auto* from = static_cast<const char*>(src);
    Lock lock = lock_connected(pe);
    for (std::size_t first = 0; first < blocks.n_blocks;) {
        const std::size_t n = std::min(blocks.n_blocks - first, most);
        Packet& packet = engine_->worker().packet();
        for (std::size_t i = 0; i < n; ++i)
            detail::copy(packet.data + i * block, from + (first + i) * blocks.local_stride, block);
        const Header header{.offset = offset + first * blocks.remote_stride,
                            .a = blocks.remote_stride,
                            .b = block,
                            .kind = Kind::put_blocks};
        note(context, pe, engine_->post_filled(engine_->peer(pe), header, packet, n * block));
        posted(lock, pe);
        first += n;
    }
}

void Ucx::get_blocks(ContextId context, int pe, std::uint64_t offset, void* dst, const Blocks& blocks) {
    if (pe == pe_ || blocks.block_bytes > packet_data_bytes)
        return Transport::get_blocks(context, pe, offset, dst, blocks);
    const std::size_t bytes = blocks.block_bytes * blocks.n_blocks;
    ask(context, pe,
        Header{.offset = offset,
               .a = bytes,
               .b = blocks.block_bytes,
               .c = blocks.remote_stride,
               .kind = Kind::get_blocks},
        {.dst = static_cast<char*>(dst), .left = bytes, .blocks = blocks}, "get");
}

void Ucx::quiet(ContextId context, int pe) {
    Lock lock(engine_->mutex());
    try {
        complete(lock, context, pe);
    } catch (const Error& error) {
        // The job is over, and the target's memory may be freed. After other errors the wait may be repeated.
        if (error.code() == ErrorCode::pe_died) {
            if (!lock) lock.lock();
            engine_->forget_all(context);
        }
        throw;
    }
}

void Ucx::complete(Lock& lock, ContextId context, int pe) {
    const auto complete_at = [&](int of) {
        Peer& peer = engine_->peer(of);
        if (Rma* rma = engine_->rma()) rma->begin_completing(peer, context);
        const std::uint64_t last = Engine::last(peer, context);
        wait(lock, "quiet", of, [&] { return peer.done >= last; });
        if (Rma* rma = engine_->rma()) rma->complete(lock, *waiting_, "quiet", peer, context);
    };
    if (pe >= 0) return complete_at(pe);
    // A wait releases the lock, and other threads of the context go on. Their quiet has to find a PE for as
    // long as anything is outstanding there, so the PE stays in the list until then.
    const Touched now = *contexts_[context];
    for (const int of : now) complete_at(of);
    std::erase_if(*contexts_[context], [&](int of) {
        Peer& peer = engine_->peer(of);
        Rma* const rma = engine_->rma();
        return Engine::last(peer, context) <= peer.done && (!rma || rma->is_complete(peer, context));
    });
}

}  // namespace

std::unique_ptr<Transport> create_ucx(UcxOptions options) {
    return std::make_unique<Ucx>(std::move(options));
}

std::string describe_ucx(const std::string& given) {
    const Library& ucp = library(given);
    return "UCX " + ucp.version + " (" + ucp.path + ")";
}

}  // namespace atl::transport
