// Message passing among three PEs: a writer, a middle PE that passes the news on, and a reader. The reader
// never communicates with the writer directly. Kernels and threads of the host run it.
#pragma once

#include "atoll/device/device.hpp"

namespace atl::testing {

enum class News {
    passed_on,   ///< the writer puts data and a signal to the middle, which signals the reader; the reader
                 ///< gets the data from the middle
    own_data,    ///< data stay in the writer's memory; the middle and the reader receive signals only
    after_quiet  ///< the writer puts data to the middle, calls quiet, then stores a flag at the reader
};

/// Each PE is the writer of one chain, the middle of its left neighbour's, and the reader of the one before.
/// With fewer than three PEs one PE has several roles at once.
struct ThirdParty {
    using Word = unsigned long long;
    Word* data;   ///< symmetric, n words
    Word* words;  ///< symmetric, three signals: for the middle, for the reader, back to the writer
    Word n;
    Word rounds;
};
enum class Role { writer, middle, reader };

ATOLL_ANYWHERE inline int pe_after(const device::Team& team, int steps) {
    return (team.my_pe + steps + 2 * team.n_pes) % team.n_pes;
}
ATOLL_ANYWHERE inline ThirdParty::Word word_of(ThirdParty::Word round, ThirdParty::Word i) {
    return round * 1000 + i;
}

/// `mine` has n words that only this scope uses.
template <class Scope>
ATOLL_ANYWHERE void write_news(const device::Team& team, News how, const ThirdParty& t,
                               ThirdParty::Word* mine, Scope scope) {
    const int next = pe_after(team, 1), after = pe_after(team, 2);
    for (ThirdParty::Word round = 1; round <= t.rounds; ++round) {
        device::signal_wait_until(team, t.words + 2, device::Compare::ge, round - 1, scope);
        ThirdParty::Word* to = how == News::own_data ? t.data : mine;
        for (ThirdParty::Word i = scope.rank(); i < t.n; i += scope.size()) to[i] = word_of(round, i);
        scope.sync();
        if (how == News::passed_on) {
            device::put_signal(team, t.data, mine, t.n, t.words, round, next, scope);
        } else if (how == News::own_data) {
            if (scope.rank() == 0) device::signal_set(team, t.words, round, next);
        } else {
            device::put(team, t.data, mine, t.n, next, scope);
            device::quiet(team, scope);
            if (scope.rank() == 0) device::p(team, t.words + 1, round, after);
        }
    }
}

template <class Scope>
ATOLL_ANYWHERE void pass_news_on(const device::Team& team, News how, const ThirdParty& t, Scope scope) {
    if (how == News::after_quiet) return;
    for (ThirdParty::Word round = 1; round <= t.rounds; ++round) {
        device::signal_wait_until(team, t.words, device::Compare::ge, round, scope);
        if (scope.rank() == 0) device::signal_set(team, t.words + 1, round, pe_after(team, 1));
    }
}

/// Returns the number of words that this thread found wrong.
template <class Scope>
ATOLL_ANYWHERE int read_news(const device::Team& team, News how, const ThirdParty& t, ThirdParty::Word* mine,
                             Scope scope) {
    int wrong = 0;
    const int writer = pe_after(team, -2), from = how == News::own_data ? writer : pe_after(team, -1);
    for (ThirdParty::Word round = 1; round <= t.rounds; ++round) {
        device::signal_wait_until(team, t.words + 1, device::Compare::ge, round, scope);
        device::get(team, mine, t.data, t.n, from, scope);
        scope.sync();
        for (ThirdParty::Word i = scope.rank(); i < t.n; i += scope.size())
            wrong += mine[i] != word_of(round, i);
        scope.sync();
        if (scope.rank() == 0) device::signal_set(team, t.words + 2, round, writer);
    }
    return wrong;
}

template <class Scope>
ATOLL_ANYWHERE int play(const device::Team& team, News how, Role role, const ThirdParty& t,
                        ThirdParty::Word* mine, Scope scope) {
    if (role == Role::reader) return read_news(team, how, t, mine, scope);
    if (role == Role::writer)
        write_news(team, how, t, mine, scope);
    else
        pass_news_on(team, how, t, scope);
    return 0;
}

}  // namespace atl::testing
