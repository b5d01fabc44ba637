// Tests, and waits for many words of a GPU: in stream order, and by the host.
#include "gpu/streams.hpp"
#include "support/multi_main.hpp"

#include <numeric>

namespace atl::testing {
namespace {

class StreamWaits : public OnStream {
  protected:
    using Out = std::vector<std::int64_t>;
    void SetUp() override {
        OnStream::SetUp();
        if (IsSkipped()) return;
        out_ = zeros<std::int64_t>(most + 1);
        status_ = zeros<int>(most);
    }
    void TearDown() override {
        if (out_) {
            job_.world().barrier();
            job_.free(status_);
            job_.free(out_);
        }
        OnStream::TearDown();
    }
    std::int64_t told() const {
        finish();
        return values(out_, 1)[0];
    }
    Out found_some() const {
        const auto n = static_cast<std::size_t>(told());
        const Out all = values(out_, n + 1);
        return {all.begin() + 1, all.end()};
    }
    template <class T> void forms_agree_with_the_host(std::size_t n);

    static constexpr std::size_t most = 100;
    std::int64_t* out_ = nullptr;
    int* status_ = nullptr;
};

/// Words of both signs, some of them left out, against the host's own loops.
template <class T> void StreamWaits::forms_agree_with_the_host(std::size_t n) {
    auto* words = zeros<T>(n);
    auto* each = zeros<T>(n);
    const StreamContext stream = on_stream();
    std::vector<T> mine(n), wanted(n);
    std::vector<int> left_out(n);
    for (std::size_t i = 0; i < n; ++i) {
        mine[i] = static_cast<T>(i % 5 - 2);
        wanted[i] = static_cast<T>(i % 3 - 1);
        left_out[i] = i % 4 == 1 ? -1 : 0;
    }
    set(words, mine);
    set(each, wanted);
    set(status_, left_out);
    for (const int* status : {static_cast<const int*>(nullptr), static_cast<const int*>(status_)})
        for (const Compare cmp :
             {Compare::eq, Compare::ne, Compare::gt, Compare::ge, Compare::lt, Compare::le})
            for (const bool vector : {false, true}) {
                Out met;
                bool all = true;
                for (std::size_t i = 0; i < n; ++i) {
                    if (status && left_out[i] != 0) continue;
                    const bool holds = detail::compare(mine[i], cmp, vector ? wanted[i] : T{1});
                    all &= holds;
                    if (holds) met.push_back(static_cast<std::int64_t>(i));
                }
                const auto in = [&](const char* what) {
                    return std::string(what) + " of " + std::to_string(n) + " words of " +
                           std::to_string(sizeof(T)) + " bytes, comparison " +
                           std::to_string(static_cast<int>(cmp)) + (vector ? ", each its own" : "");
                };
                const std::int64_t lowest = met.empty() ? -1 : met.front();
                vector ? stream.test_all_vector(words, n, out_, status, cmp, each)
                       : stream.test_all(words, n, out_, status, cmp, 1);
                EXPECT_EQ(told(), all ? 1 : 0) << in("test_all");
                vector ? stream.test_any_vector(words, n, out_, status, cmp, each)
                       : stream.test_any(words, n, out_, status, cmp, 1);
                EXPECT_EQ(told(), lowest) << in("test_any");
                vector ? stream.test_some_vector(words, n, out_, status, cmp, each)
                       : stream.test_some(words, n, out_, status, cmp, 1);
                EXPECT_EQ(found_some(), met) << in("test_some");
                const int* on_host = status ? left_out.data() : nullptr;
                EXPECT_EQ(vector ? context_.test_all_vector(words, n, on_host, cmp, wanted.data())
                                 : context_.test_all(words, n, on_host, cmp, 1),
                          all)
                    << in("the host's test_all");
                if (all) {
                    vector ? stream.wait_until_all_vector(words, n, status, cmp, each)
                           : stream.wait_until_all(words, n, status, cmp, 1);
                    finish();
                }
                if (met.empty()) continue;
                vector ? stream.wait_until_any_vector(words, n, out_, status, cmp, each)
                       : stream.wait_until_any(words, n, out_, status, cmp, 1);
                EXPECT_EQ(told(), lowest) << in("wait_until_any");
                vector ? stream.wait_until_some_vector(words, n, out_, status, cmp, each)
                       : stream.wait_until_some(words, n, out_, status, cmp, 1);
                EXPECT_EQ(found_some(), met) << in("wait_until_some");
            }
    job_.world().barrier();
    job_.free(each);
    job_.free(words);
}

TEST_F(StreamWaits, AllFormsAgreeWithTheHost) {
    for (const std::size_t n : {1u, 31u, 32u, 33u, 100u}) {
        forms_agree_with_the_host<std::int8_t>(n);
        forms_agree_with_the_host<std::uint8_t>(n);
        forms_agree_with_the_host<std::int16_t>(n);
        forms_agree_with_the_host<std::uint16_t>(n);
        forms_agree_with_the_host<std::int32_t>(n);
        forms_agree_with_the_host<std::uint32_t>(n);
        forms_agree_with_the_host<std::int64_t>(n);
        forms_agree_with_the_host<std::uint64_t>(n);
    }
}

TEST_F(StreamWaits, EmptySetsEndAtOnce) {
    auto* words = zeros<int>(3);
    const StreamContext stream = on_stream();
    set(status_, std::vector<int>{1, 7, -1});
    for (const std::size_t n : {3u, 0u}) {
        stream.wait_until_all(words, n, status_, Compare::eq, 5);
        stream.test_all(words, n, out_, status_, Compare::eq, 5);
        EXPECT_EQ(told(), 1);
        stream.wait_until_any(words, n, out_, status_, Compare::eq, 5);
        EXPECT_EQ(told(), -1);
        stream.wait_until_some(words, n, out_, status_, Compare::eq, 5);
        EXPECT_EQ(told(), 0);
    }
    job_.world().barrier();
    job_.free(words);
}

TEST_F(StreamWaits, StoresOfOthersEndWaitsOfStreamsAndHosts) {
    const auto n = static_cast<std::size_t>(job_.n_pes()), me = static_cast<std::size_t>(job_.my_pe());
    auto* words = zeros<std::int32_t>(n);
    job_.world().barrier();
    const StreamContext stream = on_stream();
    const auto tell = [&](int value) {
        for (int pe = 0; pe < job_.n_pes(); ++pe) stream.p(words + me, value, pe);
    };
    tell(1);
    stream.wait_until_all(words, n, nullptr, Compare::eq, 1);
    finish();
    job_.world().barrier();
    tell(2);
    std::vector<int> seen(n);
    for (std::size_t i = 0; i < n; ++i) {
        set(status_, seen);
        stream.wait_until_any(words, n, out_, status_, Compare::eq, 2);
        const auto k = static_cast<std::size_t>(told());
        ASSERT_LT(k, n);
        EXPECT_EQ(std::exchange(seen[k], 1), 0);
    }
    job_.world().barrier();
    tell(3);
    finish();
    context_.wait_until_all(words, n, nullptr, Compare::ge, 3);
    std::vector<std::size_t> indices(n);
    EXPECT_EQ(context_.wait_until_some(words, n, indices.data(), nullptr, Compare::ge, 3), n);
    job_.world().barrier();
    job_.free(words);
}

/// Each replay compares with the contents of `values` at that time.
TEST_F(StreamWaits, AReplayedGraphReadsItsArraysAgain) {
    auto* words = zeros<std::uint64_t>(2);
    auto* wanted = zeros<std::uint64_t>(2);
    auto* seen = zeros<std::int64_t>(4);
    job_.world().barrier();
    const StreamContext stream = on_stream();
    const int rounds = replays();
    Graph graph(stream_, [&] {
        stream.atomic_inc(words, right_of(job_));
        stream.atomic_inc(wanted, job_.my_pe());
        stream.wait_until_all_vector(words, 2, nullptr, Compare::ge, wanted);
        stream.test_some_vector(words, 2, out_, nullptr, Compare::ge, wanted);
        stream.test(words + 1, seen, Compare::eq, 0);
    });
    for (int i = 0; i < rounds; ++i) graph.launch();
    EXPECT_EQ(found_some(), (Out{0, 1}));
    EXPECT_EQ(values(wanted, 1)[0], static_cast<std::uint64_t>(rounds));
    EXPECT_EQ(values(seen, 1)[0], 1);
    job_.world().barrier();
    EXPECT_EQ(values(words, 1)[0], static_cast<std::uint64_t>(rounds));
    for (void* block : {static_cast<void*>(seen), static_cast<void*>(wanted), static_cast<void*>(words)})
        job_.free(block);
}

TEST_F(StreamWaits, WrongCallsAreRefused) {
    auto* words = zeros<int>(4);
    std::int64_t ordinary = 0;
    int ordinary_status[4] = {};
    const StreamContext stream = on_stream();
    EXPECT_EQ(code_of([&] { stream.test_any(words, 4, nullptr, nullptr, Compare::eq, 0); }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { stream.test_any(words, 4, &ordinary, nullptr, Compare::eq, 0); }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { stream.test_any(words, 4, out_, ordinary_status, Compare::eq, 0); }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { stream.wait_until_all(ordinary_status, 4, nullptr, Compare::eq, 0); }),
              ErrorCode::not_symmetric);
    EXPECT_EQ(code_of([&] { stream.wait_until_all(words, SIZE_MAX / 4, nullptr, Compare::eq, 0); }),
              ErrorCode::not_symmetric);
    EXPECT_EQ(code_of([&] {
                  stream.test_any(reinterpret_cast<int*>(reinterpret_cast<char*>(words) + 2), 1, out_,
                                  nullptr, Compare::eq, 0);
              }),
              ErrorCode::invalid_argument);
    job_.world().barrier();
    job_.free(words);
}

}  // namespace
}  // namespace atl::testing
