// Mailboxes: every word carries four bytes of data and the number of its message. A reader that finds the
// expected number in a word has that word's data, without any order between words.
// Messages from PE s to PE d have their slots in d's memory, and their credits (number of messages that d has
// read) in s's. While a side sleeps, it sets a mark in the *other's* memory. So the PE that may have to wake
// it polls its own, rarely changing word, and sends nothing. That load is not ordered after the preceding
// store. A side that falls asleep in that moment is missed, and wakes by SlowWait's timeout. A full barrier
// would cost every message more.
#include "atoll/mailbox.hpp"

#include "atoll/detail/measured.hpp"

#include "common/futex.hpp"
#include "common/text.hpp"
#include "core/calls/call_text.hpp"
#include "core/calls/element_codes.hpp"
#include "core/context/host_only.hpp"
#include "core/job/largest_team.hpp"
#include "memory/round_up.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace atl {

namespace {

using Word = std::atomic<std::uint64_t>;
constexpr std::size_t data_bytes = 4;  ///< in each word, beside four of flag
/// A slot begins with the message's length and its elements.
constexpr std::size_t length_word = 0, elements_word = 1, first_data_word = 2;
constexpr std::size_t line = core::line_bytes;
static_assert(std::endian::native == std::endian::little, "flag_half() is the upper half");

/// A word that one PE polls, alone in its cache line.
struct alignas(line) LonelyWord {
    std::atomic<std::uint32_t> value;
};

/// A PE's memory for one other PE. The slots follow.
struct alignas(line) PairBlock {
    LonelyWord credits;        ///< number of my messages to that PE that it has read
    LonelyWord reader_sleeps;  ///< that PE sleeps until I post to it
    LonelyWord poster_sleeps;  ///< that PE sleeps until I read what it posted
};

std::uint64_t word_of(std::uint32_t flag, std::uint32_t data) {
    return static_cast<std::uint64_t>(flag) << 32 | data;
}
std::uint32_t flag_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
std::atomic<std::uint32_t>& flag_half(Word& word) {
    return *(reinterpret_cast<std::atomic<std::uint32_t>*>(&word) + 1);
}

}  // namespace

struct Mailbox::State {
    std::weak_ptr<core::JobState> job;
    core::JobState* job_state = nullptr;  ///< valid while `job` has not expired
    Team team;
    std::size_t capacity = 0;
    std::uint32_t slots = 0;
    bool compares = false;  ///< elements, where both sides give them
    std::size_t slot_words = 0;
    std::size_t pair_bytes = 0;
    char* memory = nullptr;
    std::uint64_t serial = 0;

    /// State for one other PE: used by one poster and one reader, each in its own line.
    struct alignas(line) Pair {
        PairBlock* here = nullptr;   ///< this PE's block for the other
        PairBlock* there = nullptr;  ///< the other's block for this PE; null if the two share no memory
        std::uint64_t offset = 0;    ///< offset of `there` in the other's slot
        std::vector<std::uint64_t> outgoing;  ///< a message in flight to a PE of another host
        int world_pe = 0;
        std::uint64_t posted = 0;
        std::uint32_t credits = 0;  ///< last value read
        alignas(line) std::uint64_t read = 0;
    };
    struct Source {
        const void* data;
        std::size_t bytes;
        MessageElements elements;
    };
    struct Target {
        void* data;
        std::size_t room;
        MessageElements elements;
    };
    std::vector<Pair> pairs;
    void allocate(Job& owner);
    void make_pairs();
    Pair& with(int pe);
    Word* slot(PairBlock& block, std::uint64_t number) const {
        return reinterpret_cast<Word*>(&block + 1) + number % slots * slot_words;
    }
    detail::Measured measure(const char* operation, std::size_t bytes, const Pair& pair) const;
    detail::WaitReason reason(const char* operation, const Pair& pair) const;
    template <class Ready>
    void wait(const detail::WaitReason& why, double timeout_s, LonelyWord* mark,
              std::atomic<std::uint32_t>& word, Ready ready);

    void post(Pair& pair, const Source& src, double timeout_s);
    std::size_t write(Word* words, std::uint64_t number, const Source& src) const;
    void send(Pair& pair, std::uint64_t number, const Source& src);
    bool has_room(Pair& pair) const;
    std::size_t take(Pair& pair, const Target& dst, double timeout_s);
    void check_fits(const Word* words, const Target& dst) const;
    static bool read(Word* words, std::uint32_t flag, char* dst, std::size_t bytes, std::size_t& done);
};

namespace {

/// Interval of messages that write a slot to its end, so that no word keeps a flag until flags wrap.
constexpr std::uint64_t full_write_interval = std::uint64_t{1} << 30;
/// Number of the first message: near the interval, so that this rare path runs early in every mailbox's life.
constexpr std::uint64_t first_number = full_write_interval - 16;

}  // namespace

/// Teams may differ between PEs; the allocation may not.
int core::largest_team(Job& job, const Team& team) {
    core::TeamState& world = job.state().world_state();
    const std::int64_t mine = team ? team.n_pes() : 0;
    world.exchange("mailbox", &mine, sizeof mine);
    std::int64_t most = 0;
    for (int i = 0; i < world.n_pes(); ++i) {
        std::int64_t theirs = 0;
        std::memcpy(&theirs, world.exchanged(i), sizeof theirs);
        most = std::max(most, theirs);
    }
    return static_cast<int>(most);
}

void Mailbox::State::allocate(Job& owner) {
    job = owner.handle();
    job_state = &owner.state();
    compares = job_state->settings().compares_calls();
    slot_words = first_data_word + (capacity + data_bytes - 1) / data_bytes;
    slot_words = memory::round_up(slot_words * sizeof(Word), line) / sizeof(Word);
    std::size_t bytes = 0;
    const bool huge = __builtin_mul_overflow(slot_words * sizeof(Word), std::size_t{slots}, &bytes) ||
                      __builtin_add_overflow(bytes, sizeof(PairBlock), &bytes);
    pair_bytes = bytes;
    const auto n = static_cast<std::size_t>(core::largest_team(owner, team));
    if (huge || __builtin_mul_overflow(bytes, n, &bytes))
        bytes = SIZE_MAX;  // allocate reports that it has no room
    const Allocation block = owner.allocate_zeroed(bytes, line);
    memory = static_cast<char*>(block.address);
    serial = block.serial;
}

void Mailbox::State::make_pairs() {
    if (!team) return;
    const core::TeamState& members = team.state();
    pairs.resize(static_cast<std::size_t>(members.n_pes()));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        Pair& pair = pairs[i];
        pair.world_pe = members.world_pe(static_cast<int>(i));
        pair.here = reinterpret_cast<PairBlock*>(memory + i * pair_bytes);
        char* mine_there = memory + static_cast<std::size_t>(members.my_pe()) * pair_bytes;
        // The window is used wherever memory is shared, even if a transport is forced: both ends of these
        // words are the library's.
        pair.offset = job_state->window().offset_of(mine_there);
        pair.there = static_cast<PairBlock*>(job_state->arena().address(pair.world_pe, pair.offset));
    }
}

Mailbox::State::Pair& Mailbox::State::with(int pe) {
    if (job.expired())
        throw Error(ErrorCode::not_initialized, "The job that this mailbox belongs to has been finalized.");
    if (!memory) throw Error(ErrorCode::use_after_free, "This mailbox was freed; make a new one.");
    if (pairs.empty())
        throw Error(ErrorCode::invalid_argument,
                    "This PE is not a member of the mailbox's team; it can only free the mailbox.");
    if (static_cast<unsigned>(pe) >= pairs.size()) detail::throw_pe(pe, static_cast<int>(pairs.size()));
    return pairs[static_cast<std::size_t>(pe)];
}

detail::Measured Mailbox::State::measure(const char* operation, std::size_t bytes, const Pair& pair) const {
    return {*job_state,   job_state->window().counts, detail::Measured::Kind::call, operation, bytes,
            pair.world_pe};
}

detail::WaitReason Mailbox::State::reason(const char* operation, const Pair& pair) const {
    detail::WaitReason why;
    why.operation = operation;
    why.team = team.state().number();
    why.peer = pair.world_pe;
    return why;
}

/// Spins, yields, then sleeps on `word` with `mark` set in the other PE's memory. Without a mark sleeps are
/// short: a PE of another host would need a message for each change of it.
template <class Ready>
void Mailbox::State::wait(const detail::WaitReason& why, double timeout_s, LonelyWord* mark,
                          std::atomic<std::uint32_t>& word, Ready ready) {
    for (int i = 0, spins = job_state->pace().spins; i < spins; ++i) {
        if (ready()) return;
        if (i >= detail::tight_spins) detail::cpu_pause();
    }
    detail::SlowWait slow(*job_state, why, timeout_s);
    while (!ready()) {
        if (!slow.must_sleep()) continue;
        if (mark) mark->value.store(1, std::memory_order_seq_cst);
        const std::uint32_t seen = word.load(std::memory_order_seq_cst);
        if (!ready()) slow.sleep_on(word, seen);
        if (mark) mark->value.store(0, std::memory_order_relaxed);
    }
}

// ---- the poster

bool Mailbox::State::has_room(Pair& pair) const {
    if (static_cast<std::uint32_t>(pair.posted) - pair.credits < slots) return true;
    pair.credits = pair.here->credits.value.load(std::memory_order_acquire);
    return static_cast<std::uint32_t>(pair.posted) - pair.credits < slots;
}

/// Returns the number of words written.
std::size_t Mailbox::State::write(Word* words, std::uint64_t number, const Source& src) const {
    const auto flag = static_cast<std::uint32_t>(number);
    const auto* from = static_cast<const char*>(src.data);
    const auto* const end = from + src.bytes;
    words[elements_word].store(word_of(flag, core::packed(src.elements)), std::memory_order_relaxed);
    std::size_t i = first_data_word;
    for (; end - from >= std::ptrdiff_t{data_bytes}; ++i, from += data_bytes) {
        std::uint32_t data;
        std::memcpy(&data, from, data_bytes);
        words[i].store(word_of(flag, data), std::memory_order_relaxed);
    }
    if (const auto rest = static_cast<std::size_t>(end - from); rest != 0) {
        std::uint32_t data = 0;
        std::memcpy(&data, from, rest);
        words[i++].store(word_of(flag, data), std::memory_order_relaxed);
    }
    if (number % full_write_interval < slots)
        for (; i < slot_words; ++i) words[i].store(word_of(flag, 0), std::memory_order_relaxed);
    // Written last, since the reader polls it first. The reader needs no order.
    words[length_word].store(word_of(flag, static_cast<std::uint32_t>(src.bytes)), std::memory_order_release);
    return i;
}

/// Sends to a PE of another host. The word that the reader polls first is sent last.
void Mailbox::State::send(Pair& pair, std::uint64_t number, const Source& src) {
    transport::Transport& transport = *job_state->transport();
    pair.outgoing.resize(slot_words);
    auto* words = reinterpret_cast<Word*>(pair.outgoing.data());
    const std::size_t n = write(words, number, src);
    const auto at = static_cast<std::uint64_t>(reinterpret_cast<char*>(slot(*pair.here, number)) -
                                               reinterpret_cast<char*>(pair.here)) +
                    pair.offset;
    transport.put(0, pair.world_pe, at + sizeof(Word), words + 1, (n - 1) * sizeof(Word),
                  transport::Completion::local);
    transport.fence(0, pair.world_pe);
    transport.put(0, pair.world_pe, at, words, sizeof(Word), transport::Completion::local);
    transport.progress();
}

void Mailbox::State::post(Pair& pair, const Source& src, double timeout_s) {
    if (!has_room(pair)) {
        const auto why = reason("mailbox post", pair);
        wait(why, timeout_s, pair.there ? &pair.there->poster_sleeps : nullptr, pair.here->credits.value,
             [&] { return has_room(pair); });
    }
    const std::uint64_t number = first_number + pair.posted++;
    if (!pair.there) return send(pair, number, src);
    Word* words = slot(*pair.there, number);
    write(words, number, src);
    if (pair.here->reader_sleeps.value.load(std::memory_order_seq_cst) != 0)
        common::futex_wake_all(flag_half(words[length_word]));
}

// ---- the reader

/// Continues copying from byte `done` as far as words have arrived.
bool Mailbox::State::read(Word* words, std::uint32_t flag, char* dst, std::size_t bytes, std::size_t& done) {
    for (; done < bytes; done = std::min(done + data_bytes, bytes)) {
        const std::uint64_t word = words[first_data_word + done / data_bytes].load(std::memory_order_relaxed);
        if (flag_of(word) != flag) return false;
        const auto data = static_cast<std::uint32_t>(word);
        std::memcpy(dst + done, &data, std::min(data_bytes, bytes - done));
    }
    return true;
}

/// Throws if the message that has begun in `words` is not one for `dst`.
void Mailbox::State::check_fits(const Word* words, const Target& dst) const {
    const auto bytes = static_cast<std::uint32_t>(words[length_word].load(std::memory_order_acquire));
    if (bytes > dst.room)
        throw Error(ErrorCode::shape_mismatch, "The message has " + std::to_string(bytes) +
                                                   " bytes, the buffer room for " + std::to_string(dst.room) +
                                                   "; it can still be received with a larger one.");
    const MessageElements sent =
        core::unpacked(static_cast<std::uint32_t>(words[elements_word].load(std::memory_order_relaxed)));
    if (!compares || bytes == 0 || core::are_same(sent, dst.elements)) [[likely]]
        return;
    const auto text = [](const MessageElements& elements) {
        return core::elements_text(core::elements_of(elements));
    };
    throw Error(ErrorCode::dtype_mismatch,
                "The message has elements of " + text(sent) + ", the buffer elements of " +
                    text(dst.elements) + "; it can still be received with a buffer of the message's dtype.");
}

/// With a `timeout_s` of 0 it does not wait for a message to begin.
std::size_t Mailbox::State::take(Pair& pair, const Target& dst, double timeout_s) {
    const std::uint64_t number = first_number + pair.read;
    const auto flag = static_cast<std::uint32_t>(number);
    Word* words = slot(*pair.here, number);
    const auto begun = [&] {
        return flag_of(words[length_word].load(std::memory_order_acquire)) == flag &&
               flag_of(words[elements_word].load(std::memory_order_relaxed)) == flag;
    };
    if (!begun()) {
        if (!pair.there) job_state->transport()->progress();
        if (timeout_s == 0 && !begun()) return none;
        const auto why = reason("mailbox receive", pair);
        wait(why, timeout_s, pair.there ? &pair.there->reader_sleeps : nullptr, flag_half(words[length_word]),
             begun);
    }
    check_fits(words, dst);
    const auto bytes = static_cast<std::uint32_t>(words[length_word].load(std::memory_order_acquire));
    auto* const data = static_cast<char*>(dst.data);
    std::size_t done = 0;
    if (!read(words, flag, data, bytes, done)) {
        // The rest is in flight: its poster only has to continue storing.
        const auto why = reason("mailbox receive", pair);
        detail::wait(*job_state, job_state->pace().spins, why, timeout_s > 0 ? timeout_s : -1,
                     [&] { return read(words, flag, data, bytes, done); });
    }
    // Release: the poster must not overwrite words that have not been read yet.
    const auto credit = static_cast<std::uint32_t>(++pair.read);
    if (!pair.there) {
        transport::Transport& transport = *job_state->transport();
        transport.fence(0, pair.world_pe);  // not before the previous credit
        transport.put(0, pair.world_pe, pair.offset + offsetof(PairBlock, credits), &credit, sizeof credit,
                      transport::Completion::local);
        transport.progress();
        return bytes;
    }
    pair.there->credits.value.store(credit, std::memory_order_release);
    if (pair.here->poster_sleeps.value.load(std::memory_order_seq_cst) != 0)
        common::futex_wake_all(pair.there->credits.value);
    return bytes;
}

// ---- the object

Mailbox::Mailbox(Job& job, std::size_t nbytes, int slots) : Mailbox(job, job.world(), nbytes, slots) {}

Mailbox::Mailbox(Job& job, const Team& team, std::size_t nbytes, int slots)
    : state_(std::make_unique<State>()) {
    const core::Meetings::Within within(job.state().world_state().meetings(), "mailbox");
    // All PEs compare the arguments before any of them rejects its own.
    job.state().world_state().agree(core::call_record("mailbox", nbytes, static_cast<std::uint64_t>(slots)));
    if (slots < 1)
        throw Error(ErrorCode::invalid_argument,
                    "A mailbox needs at least 1 slot; " + std::to_string(slots) + " were asked for.");
    if (nbytes > UINT32_MAX)
        throw Error(ErrorCode::invalid_argument, "A mailbox's messages have less than 4 GiB; " +
                                                     common::bytes_text(nbytes) +
                                                     " were asked for. Use put_signal for large data.");
    state_->team = team;
    state_->capacity = nbytes;
    state_->slots = static_cast<std::uint32_t>(slots);
    state_->allocate(job);
    state_->make_pairs();
}

Mailbox::~Mailbox() {
    if (state_ && state_->memory) Job(state_->job.lock()).drop(state_->serial);
}

Mailbox::Mailbox(Mailbox&&) noexcept = default;

Mailbox& Mailbox::operator=(Mailbox&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}

static Mailbox::State& present(const std::unique_ptr<Mailbox::State>& state) {
    if (!state) throw Error(ErrorCode::use_after_free, "This mailbox was moved from.");
    return *state;
}

std::size_t Mailbox::capacity_bytes() const { return present(state_).capacity; }

void Mailbox::post(const void* src, std::size_t bytes, int pe, double timeout_s, MessageElements elements) {
    State& state = present(state_);
    State::Pair& pair = state.with(pe);
    if (bytes > state.capacity)
        throw Error(ErrorCode::shape_mismatch,
                    "A message of " + std::to_string(bytes) + " bytes does not fit into a mailbox of " +
                        std::to_string(state.capacity) + "; make one with a larger nbytes.");
    core::refuse_gpu_memory(*state.job_state, "Mailbox::post", src);
    detail::Measured measured = state.measure("mailbox post", bytes, pair);
    measured.set_subject(state.memory);
    state.post(pair, {src, bytes, elements}, timeout_s);
}

std::size_t Mailbox::receive(void* dst, std::size_t capacity, int from_pe, double timeout_s,
                             MessageElements elements) {
    State& state = present(state_);
    State::Pair& pair = state.with(from_pe);
    core::refuse_gpu_memory(*state.job_state, "Mailbox::receive", dst);
    detail::Measured measured = state.measure("mailbox receive", 0, pair);
    measured.set_subject(state.memory);
    // `take` reads 0 as "at once". Use the shortest wait that can still receive.
    const std::size_t bytes = state.take(pair, {dst, capacity, elements}, timeout_s == 0 ? 1e-9 : timeout_s);
    measured.set_bytes(bytes);
    return bytes;
}

std::size_t Mailbox::try_receive(void* dst, std::size_t capacity, int from_pe, MessageElements elements) {
    State& state = present(state_);
    State::Pair& pair = state.with(from_pe);
    core::refuse_gpu_memory(*state.job_state, "Mailbox::try_receive", dst);
    return state.take(pair, {dst, capacity, elements}, 0);
}

void Mailbox::free() {
    State& state = present(state_);
    if (state.memory) Job(state.job.lock()).free(state.memory);
    state.memory = nullptr;
}

}  // namespace atl
