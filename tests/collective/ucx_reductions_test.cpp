// Reductions over several hosts: the bits are those of a fold over all members in rank order, for every
// element type, operator and layout. Members are threads, which ATOLL_HOST_ID puts on hosts.
#include "collective/far_setup.hpp"
#include "collective/requests/folding.hpp"

#include <cstring>
#include <latch>
#include <random>

namespace atl::requests {
namespace {

using Bytes = std::vector<char>;

/// Finite values with few exponents: the bits of a NaN depend on the compiler.
template <class T> void fill_with(Bytes& bytes, std::mt19937& random) {
    std::uniform_real_distribution<float> values(-2, 2);
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
        const T value = values(random);
        std::memcpy(bytes.data() + at, &value, sizeof value);
    }
}

Bytes bytes_for(int type, std::size_t count, std::size_t element_bytes, unsigned seed) {
    Bytes bytes(count * element_bytes);
    std::mt19937 random(seed);
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (type == float8_e4m3 || type == float8_e5m2) {
        for (char& byte : bytes) byte = static_cast<char>(byte & 0xbf);
        return bytes;
    }
    switch (static_cast<DType>(type)) {
        case DType::float16:
        case DType::bfloat16:
            for (std::size_t i = 1; i < bytes.size(); i += 2) bytes[i] = static_cast<char>(bytes[i] & 0xbf);
            break;
        case DType::float32:
        case DType::complex64:
            fill_with<float>(bytes, random);
            break;
        case DType::float64:
        case DType::complex128:
            fill_with<double>(bytes, random);
            break;
        case DType::long_double:
            fill_with<long double>(bytes, random);
            break;
        default:
            break;
    }
    return bytes;
}

/// An all_reduce of every member's random elements, and its result in rank order.
struct Case {
    int type;
    ReduceOp op;
    std::size_t count;
    bool in_place;  ///< the result replaces the input

    Call call;
    Bytes in, out, expected;

    void prepare(int rank, int n) {
        const Folding folding(type, op);
        const auto of = [&](int i) {
            return bytes_for(type, count, folding.element_bytes(), unsigned(i * 100 + type));
        };
        std::vector<Bytes> all;
        for (int i = 0; i < n; ++i) all.push_back(of(i));
        expected.resize(all[0].size());
        folding.fold(
            n, [&](int i) { return static_cast<const char*>(all[std::size_t(i)].data()); }, expected.size(),
            expected.data());
        in = all[std::size_t(rank)];
        out.resize(in.size());
        call.kind = Kind::all_reduce;
        call.type = type;
        call.op = op;
        call.in = {{in.data(), in.size()}};
        call.out = {in_place ? call.in[0] : Span{out.data(), out.size()}};
    }
    bool is_right() const {
        const Bytes& result = in_place ? in : out;
        // The rest of a long double is padding.
        const bool pads = type == static_cast<int>(DType::long_double);
        const std::size_t element = pads ? sizeof(long double) : 1, used = pads ? 10 : 1;
        for (std::size_t at = 0; at < expected.size(); at += element)
            if (std::memcmp(result.data() + at, expected.data() + at, used) != 0) return false;
        return true;
    }
    std::string text(const char* hosts, int rank) const {
        return std::string(hosts) + ": type " + std::to_string(type) + ", operator " +
               std::to_string(static_cast<int>(op)) + ", " + std::to_string(count) + " elements, rank " +
               std::to_string(rank);
    }
};

bool is_defined(int type, ReduceOp op) {
    try {
        Folding(type, op);
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// Equal and different numbers of ranks, two and three hosts, and hosts whose ranks are not consecutive.
constexpr const char* layouts[] = {"a,a,b,b", "a,a,a,b,b,c,c", "a,a,a,b,b,b",
                                   "a,b,a,b", "a,b,b",         "a,a,b,c,c"};

class FarReductions : public FarSetup, public ::testing::WithParamInterface<const char*> {};

TEST_P(FarReductions, EveryTypeAndOperatorHasTheBitsOfRankOrder) {
    as_members(GetParam(), [](Group& group, int rank) {
        for (int type = 0; type <= float8_e5m2; ++type)
            for (int op = 0; op < reduce_op_count; ++op) {
                if (!is_defined(type, static_cast<ReduceOp>(op))) continue;
                const std::size_t element = Folding(type, static_cast<ReduceOp>(op)).element_bytes();
                Case each{type, static_cast<ReduceOp>(op), 140'001 / element + 3, op % 2 == 1, {}, {}, {},
                          {}};
                each.prepare(rank, group.n());
                group.run(each.call, 0);
                EXPECT_TRUE(each.is_right()) << each.text(GetParam(), rank);
            }
    });
}

TEST_P(FarReductions, EverySizeHasTheBitsOfRankOrder) {
    as_members(GetParam(), [](Group& group, int rank) {
        const std::size_t counts[] = {0, 1, 9, 16'383, 16'384, 16'385, 32'769, 65'537, 700'001};
        for (const DType type : {DType::float32, DType::bfloat16})
            for (const std::size_t count : counts) {
                Case each{static_cast<int>(type), ReduceOp::sum, count, count % 2 == 0, {}, {}, {}, {}};
                each.prepare(rank, group.n());
                group.run(each.call, 0);
                EXPECT_TRUE(each.is_right()) << each.text(GetParam(), rank);
            }
    });
}

TEST_P(FarReductions, DataOfAllMembersMoveBesideOtherCalls) {
    as_members(GetParam(), [](Group& group, int rank) {
        const int n = group.n(), last = n - 1;
        for (const std::size_t count : {std::size_t{3}, std::size_t{40'003}, std::size_t{400'001}}) {
            std::vector<RequestPtr> requests;
            Case sum{static_cast<int>(DType::float32), ReduceOp::avg, count, true, {}, {}, {}, {}};
            sum.prepare(rank, n);
            Values sent = values_of<Values>(last, count), got(count), message(count);
            Values mine = values_of<Values>(rank, count + std::size_t(rank));
            std::vector<Values> gathered;
            Call broadcast = call_of(Kind::broadcast, last), gather = call_of(Kind::all_gather);
            if (rank == last) broadcast.in = {span_of(sent)};
            if (rank != last) broadcast.out = {span_of(got)};
            for (int i = 0; i < n; ++i) gathered.emplace_back(count + std::size_t(i));
            for (Values& each : gathered) gather.out.push_back(span_of(each));
            gather.in = {span_of(mine)};
            Call send = call_of(Kind::send, (rank + 1) % n),
                 receive = call_of(Kind::receive, (rank + last) % n);
            send.in = {span_of(mine, 0, count)};
            receive.out = {span_of(message)};
            for (const Call& call : {send, sum.call, broadcast, Call{}, gather, receive})
                requests.push_back(group.start(call, 0));
            for (const RequestPtr& request : requests) {
                group.wait(request, -1);
                Group::rethrow(*request);
            }
            EXPECT_TRUE(sum.is_right()) << sum.text(GetParam(), rank);
            EXPECT_TRUE(rank == last || got == sent);
            EXPECT_TRUE(message == values_of<Values>((rank + last) % n, count));
            for (int i = 0; i < n; ++i)
                EXPECT_TRUE(gathered[std::size_t(i)] == values_of<Values>(i, count + std::size_t(i)));
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Layouts, FarReductions, ::testing::ValuesIn(layouts));

class FarEnds : public FarSetup {};

/// The last member does what a process does that exits, in the middle of a large call.
TEST_F(FarEnds, AMemberThatEndsInALargeCallIsNamedByAll) {
    for (const Kind kind : {Kind::all_reduce, Kind::all_gather, Kind::broadcast}) {
        std::vector<std::string> texts(4);
        std::latch ended(1);
        as_members("a,a,b,b", [&](std::unique_ptr<Group>& group, int rank) {
            const std::size_t count = 1'000'000;  // more rounds than slots
            Values in(count), out(kind == Kind::all_gather ? 4 * count : count);
            Call call = call_of(kind, 3);
            if (kind != Kind::broadcast || rank == 3) call.in = {span_of(in)};
            if (kind == Kind::all_reduce || (kind == Kind::broadcast && rank != 3)) call.out = {span_of(out)};
            for (std::size_t i = 0; kind == Kind::all_gather && i < 4; ++i)
                call.out.push_back(span_of(out, i * count, count));
            try {
                group->run(Call{}, 0);
                if (rank == 2) ended.wait();  // so no member can complete the call
                const RequestPtr request = group->start(call, 20);
                if (rank == 3) {
                    for (const auto& endpoint : far::Endpoint::all())
                        if (endpoint->number() == 3) endpoint->transport().close();
                    group->abort("rank 3 has ended its part");
                    ended.count_down();
                }
                group->wait(request, -1);
                texts[std::size_t(rank)] = request->error;
            } catch (const Error& error) {  // a slow member hears of it before its call
                texts[std::size_t(rank)] = error.what();
            }
        });
        for (const std::string& text : texts) EXPECT_NE(text.find("rank 3"), std::string::npos) << text;
    }
}

TEST_F(FarEnds, ATimeOutInALargeCallNamesTheMembersThatAreMissing) {
    std::vector<std::string> texts(4);
    std::latch over(4);  // a member that left would be named for that
    as_members("a,a,b,b", [&](std::unique_ptr<Group>& group, int rank) {
        Values in(100'000), out(100'000);
        Call call = call_of(Kind::all_reduce);
        call.in = {span_of(in)};
        call.out = {span_of(out)};
        group->run(call, 0);
        if (rank == 3) return over.arrive_and_wait();
        const RequestPtr request = group->start(call, 0.2);
        group->wait(request, -1);
        texts[std::size_t(rank)] = request->error;
        over.arrive_and_wait();
    });
    for (int rank = 0; rank < 3; ++rank)
        EXPECT_NE(texts[std::size_t(rank)].find("Timed out"), std::string::npos) << texts[std::size_t(rank)];
    for (int rank = 0; rank < 3; ++rank)
        EXPECT_NE(texts[std::size_t(rank)].find("rank 3"), std::string::npos) << texts[std::size_t(rank)];
}

/// A message for the shared copies may come before this process has joined.
TEST(FarCopies, AMessageBeforeTheStartIsKept) {
    constexpr int n = 2;
    far::Layout layout;
    layout.host_of = {0, 1};
    layout.names = {"a", "b"};
    layout.numbers = {0, 1};
    far::FarMembers members(far::Endpoint::make("early", 0, n), layout);
    const std::uint64_t copies =
        Area::bytes_of_copy(n) * n + sizeof(std::uint64_t);  // the shared ones are behind
    std::vector<char> areas(2 * Area::bytes(n));
    char* const theirs = areas.data() + Area::bytes(n);
    const auto offset_of = [&](const void* at) {
        return copies + Area::bytes_of_copy(n) + std::uint64_t(static_cast<const char*>(at) - theirs);
    };
    Area area(theirs, n);
    const std::string data = "data";
    members.put(offset_of(area.slot(0)), data.data(), data.size());
    members.set(offset_of(&area.head().headers[0].round), 1);
    EXPECT_FALSE(members.take_shared());
    members.open({0, 0}, {areas.data(), theirs}, nullptr);
    EXPECT_EQ(std::string(area.slot(0), data.size()), data);
    EXPECT_EQ(area.head().headers[0].round.load(), 1u);
    EXPECT_TRUE(members.take_shared());
    EXPECT_FALSE(members.take_shared());
}

}  // namespace
}  // namespace atl::requests
