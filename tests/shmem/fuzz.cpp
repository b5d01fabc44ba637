// Fuzzed sequences of OpenSHMEM calls against a sequential model. All PEs draw the same numbers. So each
// knows the calls of all, and every byte of its memory after the next barrier. A failure prints round and
// seed; ATOLL_TEST_FUZZ_SEED repeats it. ATOLL_TEST_SOAK_SECONDS sets the duration, with a new seed after
// each sequence.
#include "fuzz_collectives.hpp"
#include "fuzz_transfers.hpp"

#include <sched.h>

#include <chrono>
#include <utility>

namespace {

using namespace fuzz;

Memory static_memory;
long static_lock;
long sync_words[SHMEM_REDUCE_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE];

class Sequence {
  public:
    Sequence(std::uint64_t seed)
        : random_(seed),
          me_(shmem_my_pe()),
          n_(shmem_n_pes()),
          model_(n_, random_),
          reads_(random_.below(2)) {
        heap_ = static_cast<Memory*>(shmem_malloc(sizeof(Memory)));
        lock_ = static_cast<long*>(shmem_calloc(1, sizeof(long)));
        expect(heap_ && lock_, "an allocation");
        mine_[0] = heap_;
        mine_[1] = &static_memory;
        for (int place = 0; place < places; ++place)
            std::memcpy(mine_[place], &model_.at(me_, place), sizeof(Memory));
        Group world{{}, SHMEM_TEAM_WORLD};
        for (int pe = 0; pe < n_; ++pe) world.members.push_back(pe);
        groups_.push_back(world);
        open_contexts();
        shmem_barrier_all();
    }
    ~Sequence() {
        for (std::size_t i = 1; i < 5; ++i) shmem_ctx_destroy(contexts_[i]);
        while (groups_.size() > 1) drop_group(groups_.size() - 1);
        shmem_team_destroy(backwards_);
        shmem_free(lock_);
        shmem_free(heap_);
    }
    Sequence(const Sequence&) = delete;
    Sequence& operator=(const Sequence&) = delete;

    void round() {
        ++position.round;
        reads_ = 1 - reads_;
        switch (random_.below(10)) {
            case 0:
            case 1:
            case 2:
                run("transfers", [&] { transfers(); });
                break;
            case 3:
                run("atomics", [&] { atomics(); });
                break;
            case 4:
                run("shared atomics", [&] { shared_atomics(); });
                break;
            case 5:
                run("teams", [&] { teams(); });
                break;
            case 6:
                run("an active set", [&] {
                    active_set_round(random_, model_, mine_, reads_, 1 - reads_, me_, n_, sync_words);
                });
                break;
            case 8:
                run("waits", [&] { waits(); });
                break;
            case 7:
                run("locks", [&] { locks(); });
                break;
            default:
                run("a collective", [&] { collective(); });
        }
    }

  private:
    template <class Body> void run(const char* doing, Body&& body) {
        position.doing = doing;
        body();
        for (shmem_ctx_t ctx : contexts_) shmem_ctx_quiet(ctx);
        shmem_barrier_all();
        compare();
        // No PE continues to write before all have compared.
        shmem_sync_all();
    }

    void compare() {
        for (int place = 0; place < places; ++place) {
            const auto* have = reinterpret_cast<const unsigned char*>(mine_[place]);
            const auto* want = reinterpret_cast<const unsigned char*>(&model_.at(me_, place));
            if (std::memcmp(have, want, sizeof(Memory)) == 0) continue;
            long at = 0;
            while (have[at] == want[at]) ++at;
            fail(place == 0 ? "a byte of the heap" : "a byte of the static memory", at);
        }
        for (const long word : sync_words) expect(word == SHMEM_SYNC_VALUE, "pSync");
    }

    void open_contexts() {
        const shmem_team_config_t config = {1};
        expect(shmem_team_split_strided(SHMEM_TEAM_WORLD, n_ - 1, -1, n_, &config, SHMEM_TEAM_NUM_CONTEXTS,
                                        &backwards_) == 0,
               "a split");
        contexts_.push_back(SHMEM_CTX_DEFAULT);
        for (const long options : {0L, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED, SHMEM_CTX_NOSTORE}) {
            contexts_.emplace_back();
            expect(shmem_ctx_create(options, &contexts_.back()) == 0, "a context");
        }
        contexts_.emplace_back();
        expect(shmem_team_create_ctx(backwards_, 0, &contexts_.back()) == 0, "a team's context");
    }
    shmem_ctx_t context(int k) const { return contexts_[static_cast<std::size_t>(k) % contexts_.size()]; }
    int number(int k, int pe) const { return context(k) == contexts_.back() ? n_ - 1 - pe : pe; }

    void transfers() {
        const Halves halves{reads_, 1 - reads_};
        unsigned char private_bytes[ops][cell_bytes] __attribute__((aligned(16)));
        std::vector<Transfer> all;
        for (int pe = 0; pe < n_; ++pe)
            for (int i = random_.between(0, ops); i > 0; --i)
                all.push_back(draw_transfer(random_, n_, pe, i - 1));
        for (const Transfer& t : all)
            if (t.origin == me_)
                perform(mine_, halves, t, context(t.context), number(t.context, t.target),
                        private_bytes[t.index]);
        for (const Transfer& t : all) apply(model_, halves, t);
        // Before any quiet: a signal orders its own data.
        for (const Transfer& t : all)
            if (t.signals && t.target == me_) await(halves, t);
        for (shmem_ctx_t ctx : contexts_) shmem_ctx_quiet(ctx);  // private_bytes end here
    }
    void await(const Halves& halves, const Transfer& t) {
        const int where = t.origin * ops + t.index;
        Memory& want = model_.at(me_, t.dest_place);
        const std::uint64_t value = want.signals[where];
        expect(shmem_signal_wait_until(&mine_[t.dest_place]->signals[where], SHMEM_CMP_EQ, value) == value,
               "a signal");
        with_type(t.type, [&](auto* typed) {
            const std::size_t bytes = static_cast<std::size_t>(t.block) * sizeof *typed;
            expect(std::memcmp(halves.dest(*mine_[t.dest_place], t, sizeof *typed),
                               halves.dest(want, t, sizeof *typed), bytes) == 0,
                   "data behind a signal", where);
        });
    }

    void atomics() {
        for (int pe = 0; pe < n_; ++pe)
            for (int i = 0; i < ops; ++i) {
                const Atomic a = draw_atomic(random_, n_, pe, i);
                act(model_, pe == me_ ? mine_ : nullptr, a, context(a.context), number(a.context, a.target));
            }
    }

    void shared_atomics() {
        for (int pe = 0; pe < n_; ++pe)
            for (int i = 0; i < 20; ++i) {
                const int target = random_.below(n_), place = random_.below(places), kind = random_.below(4),
                          k = random_.below(1000);
                const std::uint64_t value = random_.bits();
                std::uint64_t& word = model_.at(target, place).shared[kind];
                word = kind == 0   ? word + value
                       : kind == 1 ? word & value
                       : kind == 2 ? word | value
                                   : word ^ value;
                if (pe != me_) continue;
                std::uint64_t* mine = &mine_[place]->shared[kind];
                const int to = number(k, target);
                if (kind == 0)
                    shmem_ctx_uint64_atomic_add(context(k), mine, value, to);
                else if (kind == 1)
                    shmem_ctx_uint64_atomic_and(context(k), mine, value, to);
                else if (kind == 2)
                    shmem_ctx_uint64_atomic_fetch_or(context(k), mine, value, to);
                else
                    shmem_ctx_uint64_atomic_xor(context(k), mine, value, to);
            }
    }

    /// Each PE sets words of the others, and waits for its own words by one form of wait or test.
    void waits() {
        const int form = random_.below(6), place = random_.below(places);
        int excluded[word_count];
        for (int& e : excluded) e = 1;
        for (int pe = 0; pe < n_; ++pe)
            for (int i = 0; i < ops; ++i) {
                const int target = random_.below(n_), where = pe * ops + i;
                const std::uint64_t value = random_.bits();
                model_.at(target, place).signals[where] = value;
                if (pe == me_) shmem_signal_set(&mine_[place]->signals[where], value, target);
                if (target == me_) excluded[where] = 0;
            }
        await_words(form, mine_[place]->signals, model_.at(me_, place).signals, excluded);
    }
    void await_words(int form, std::uint64_t* words, const std::uint64_t* values, int* excluded) {
        constexpr int eq = SHMEM_CMP_EQ;
        std::size_t left = 0, found[word_count];
        for (int i = 0; i < word_count; ++i) left += excluded[i] == 0;
        if (form == 0) shmem_wait_until_all_vector(words, word_count, excluded, eq, values);
        while (form == 1 && !shmem_test_all_vector(words, word_count, excluded, eq, values)) sched_yield();
        while (form > 1 && left > 0) {
            std::size_t count = 1;
            if (form == 2)
                found[0] = shmem_wait_until_any_vector(words, word_count, excluded, eq, values);
            else if (form == 3)
                found[0] = shmem_test_any_vector(words, word_count, excluded, eq, values);
            else if (form == 4)
                count = shmem_wait_until_some_vector(words, word_count, found, excluded, eq, values);
            else
                count = shmem_test_some_vector(words, word_count, found, excluded, eq, values);
            if (count == 0 || found[0] == SIZE_MAX) {
                sched_yield();
                continue;
            }
            for (std::size_t i = 0; i < count; ++i, --left) {
                expect(excluded[found[i]] == 0 && words[found[i]] == values[found[i]],
                       "a word that was found", form);
                excluded[found[i]] = 1;
            }
        }
    }

    void locks() {
        const int target = random_.below(n_), times = random_.between(1, 3);
        long* lock = random_.chance(50) ? lock_ : &static_lock;
        std::uint64_t* word = &mine_[lock == lock_ ? 0 : 1]->guarded;
        for (int i = 0; i < times; ++i) {
            shmem_set_lock(lock);
            shmem_uint64_p(word, shmem_uint64_g(word, target) + 1, target);
            shmem_clear_lock(lock);
        }
        model_.at(target, lock == lock_ ? 0 : 1).guarded += static_cast<std::uint64_t>(times * n_);
    }

    void teams() {
        if (groups_.size() > 1 && random_.chance(groups_.size() > 5 ? 90 : 30))
            return drop_group(1 +
                              static_cast<std::size_t>(random_.below(static_cast<int>(groups_.size()) - 1)));
        const std::size_t parent = static_cast<std::size_t>(random_.below(static_cast<int>(groups_.size())));
        if (random_.chance(50))
            split_strided(groups_[parent]);
        else
            split_2d(groups_[parent]);
    }
    void drop_group(std::size_t k) {
        shmem_team_destroy(groups_[k].handle);  // members only; others have SHMEM_TEAM_INVALID
        groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(k));
    }
    void split_strided(const Group parent) {
        const int size = parent.size(), start = random_.below(size), stride = random_.between(-3, 3);
        const int count = random_.between(1, size);
        const int last = start + stride * (count - 1);
        const bool valid = last >= 0 && last < size && (stride != 0 || count == 1);
        Group made{{}, SHMEM_TEAM_WORLD};
        for (int i = 0; valid && i < count; ++i) made.members.push_back(parent.pe(start + i * stride));
        if (parent.place_of(me_) >= 0) {
            const int status =
                shmem_team_split_strided(parent.handle, start, stride, count, nullptr, 0, &made.handle);
            expect((status == 0) == valid, "the status of a split");
        } else {
            made.handle = SHMEM_TEAM_INVALID;
        }
        if (valid)
            keep(made);
        else
            expect(made.handle == SHMEM_TEAM_INVALID, "the handle of a failed split");
    }
    void split_2d(const Group parent) {
        const int width = random_.between(1, parent.size() + 1),
                  clamped = width < parent.size() ? width : parent.size();
        const int place = parent.place_of(me_);
        shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
        if (place >= 0)
            expect(shmem_team_split_2d(parent.handle, width, nullptr, 0, &row, nullptr, 0, &column) == 0,
                   "a 2d split");
        std::vector<Group> rows(static_cast<std::size_t>((parent.size() - 1) / clamped + 1)),
            columns(static_cast<std::size_t>(clamped));
        for (int i = 0; i < parent.size(); ++i) {
            rows[static_cast<std::size_t>(i / clamped)].members.push_back(parent.pe(i));
            columns[static_cast<std::size_t>(i % clamped)].members.push_back(parent.pe(i));
        }
        for (auto& [all, handle] : {std::pair{&rows, row}, std::pair{&columns, column}})
            for (Group& group : *all) {
                group.handle = group.place_of(me_) >= 0 ? handle : SHMEM_TEAM_INVALID;
                keep(group);
            }
    }
    void keep(const Group& group) {
        const int place = group.place_of(me_);
        expect(shmem_team_my_pe(group.handle) == place, "a team's my_pe");
        expect(shmem_team_n_pes(group.handle) == (place < 0 ? -1 : group.size()), "a team's n_pes");
        for (int i = 0; place >= 0 && i < group.size(); ++i)
            expect(shmem_team_translate_pe(group.handle, i, SHMEM_TEAM_WORLD) == group.pe(i),
                   "a translated PE", i);
        groups_.push_back(group);
    }

    void collective() {
        const Group& group =
            groups_[static_cast<std::size_t>(random_.below(static_cast<int>(groups_.size())))];
        collective_round(model_, mine_, group, draw_collective(random_, group.size()), reads_, 1 - reads_,
                         me_);
    }

    Random random_;
    int me_, n_;
    Model model_;
    int reads_;
    Memory *heap_, *mine_[places];
    long* lock_;
    shmem_team_t backwards_ = SHMEM_TEAM_INVALID;
    std::vector<shmem_ctx_t> contexts_;
    std::vector<Group> groups_;
};

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Uses PE 0's clock, so that all PEs end together.
bool time_is_left(std::chrono::steady_clock::time_point end) {
    static int mine, all;
    mine = std::chrono::steady_clock::now() < end ? 1 : 0;
    shmem_int_broadcast(SHMEM_TEAM_WORLD, &all, &mine, 1, 0);
    return all != 0;
}

}  // namespace

int main() {
    shmem_init();
    if (shmem_n_pes() > fuzz::max_pes) shmem_global_exit(2);
    const auto seconds = environment("ATOLL_TEST_SOAK_SECONDS", 0);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    fuzz::position.seed = environment("ATOLL_TEST_FUZZ_SEED", 20260101);
    do {
        fuzz::position.round = 0;
        Sequence sequence(fuzz::position.seed);
        for (int i = 0; i < 400; ++i) sequence.round();
        ++fuzz::position.seed;
    } while (seconds != 0 ? time_is_left(end) : fuzz::position.seed % 3 != 0);
    shmem_finalize();
    return 0;
}
