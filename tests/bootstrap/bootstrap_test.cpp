// Every bootstrap: what works, and the reports of what does not.
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/rendezvous/host_link.hpp"
#include "bootstrap/rendezvous/rendezvous.hpp"
#include "bootstrap/store/wire.hpp"
#include "common/settings/job_environment.hpp"
#include "support/forked.hpp"
#include "support/quick_settings.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <random>
#include <thread>

namespace atl::bootstrap {
namespace {

using test::Forked;
using test::Outcome;
using test::quick_settings;
using test::run_forked;

/// Exercises a bootstrap through the store and the memory; returns the values that this PE read.
std::string exercise(Bootstrap& bootstrap) {
    const int pe = bootstrap.pe();
    bootstrap.put("key" + std::to_string(pe), std::string("va\0ue", 5) + std::to_string(pe));
    const std::vector<std::string> all = bootstrap.allgather(std::string("v\0", 2) + std::to_string(pe));
    if (all.size() != static_cast<std::size_t>(bootstrap.n_pes())) return "allgather";
    for (std::size_t other = 0; other < all.size(); ++other)
        if (all[other] != std::string("v\0", 2) + std::to_string(other)) return "allgather";
    if (bootstrap.allgather("")[0] != "") return "an empty allgather";
    HostSegment segment = bootstrap.host_segment();
    if (segment.pes.size() != all.size() || segment.pes.back() != bootstrap.n_pes() - 1) return "pes";
    constexpr std::size_t bytes = 4096;
    if (pe == 0 && ::ftruncate(segment.heap_fd.get(), bytes) != 0) return "ftruncate";
    bootstrap.fence();
    void* heap = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment.heap_fd.get(), 0);
    if (heap == MAP_FAILED) return "mmap";
    static_cast<int*>(heap)[pe] = 100 + pe;
    segment.board.set_state(pe, common::PeState::running);
    bootstrap.fence();
    std::string read;
    for (int other = 0; other < bootstrap.n_pes(); ++other) {
        const std::string value = bootstrap.get("key" + std::to_string(other));
        if (value != std::string("va\0ue", 5) + std::to_string(other)) return "value";
        if (segment.board.state(other) != common::PeState::running) return "board";
        read += std::to_string(static_cast<int*>(heap)[other]) + " ";
    }
    const std::unique_ptr<Monitor> monitor = bootstrap.monitor(segment.board);
    bootstrap.fence();
    bootstrap.goodbye(true);
    return read;
}

void expect_all(const std::vector<Outcome>& outcomes, const std::string& text) {
    for (std::size_t pe = 0; pe < outcomes.size(); ++pe) {
        EXPECT_TRUE(outcomes[pe].ok()) << "PE " << pe << " status " << outcomes[pe].status;
        EXPECT_EQ(outcomes[pe].text, text) << "PE " << pe;
    }
}

void expect_named(const Outcome& outcome, const std::vector<std::string>& parts) {
    EXPECT_TRUE(outcome.threw) << outcome.status << ": " << outcome.text;
    for (const std::string& part : parts)
        EXPECT_NE(outcome.text.find(part), std::string::npos)
            << "\"" << part << "\" is not in: " << outcome.text;
}

TEST(Single, IsAJobOfOne) {
    const auto bootstrap = create_single(quick_settings());
    EXPECT_EQ(bootstrap->name(), "single");
    EXPECT_EQ(exercise(*bootstrap), "100 ");
    EXPECT_THROW(bootstrap->get("nobody's"), Error);
}

TEST(Threads, ShareValuesAndFences) {
    const auto hub = create_hub(4, 1 << 20);
    std::vector<std::thread> threads;
    std::vector<std::string> seen(4);
    for (int pe = 0; pe < 4; ++pe)
        threads.emplace_back([&, pe] {
            const auto bootstrap = create_thread(hub, pe);
            const HostSegment segment = bootstrap->host_segment();
            segment.heap_memory[pe] = static_cast<char>('a' + pe);
            bootstrap->put("k" + std::to_string(pe), std::string(1, static_cast<char>('0' + pe)));
            bootstrap->fence();
            EXPECT_EQ(bootstrap->allgather(std::to_string(pe)),
                      (std::vector<std::string>{"0", "1", "2", "3"}));
            EXPECT_EQ(bootstrap->allgather(""), std::vector<std::string>(4));
            for (int other = 0; other < 4; ++other)
                seen[static_cast<std::size_t>(pe)] +=
                    bootstrap->get("k" + std::to_string(other)) + segment.heap_memory[other];
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& text : seen) EXPECT_EQ(text, "0a1b2c3d");
    EXPECT_THROW(create_thread(hub, 4), Error);
}

TEST(UniqueId, IsRandomAndPrintable) {
    const std::string id = get_unique_id();
    EXPECT_LE(id.size(), 128u);
    EXPECT_NE(id, get_unique_id());
    for (const char c : id) EXPECT_TRUE(std::isprint(static_cast<unsigned char>(c)));
}

TEST(UniqueId, ConnectsPesStartedInAnyOrder) {
    for (const std::vector<int>& order : {std::vector{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}}) {
        const std::string id = get_unique_id();
        expect_all(
            run_forked(
                4, [&](int pe) { return exercise(*create_unique_id(quick_settings(), id, pe, 4)); }, order),
            "100 101 102 103 ");
    }
}

TEST(UniqueId, OfOnePe) {
    EXPECT_EQ(exercise(*create_unique_id(quick_settings(), get_unique_id(), 0, 1)), "100 ");
}

TEST(UniqueId, InvalidTextIsRefused) {
    for (const std::string& id : {std::string("hello"), get_unique_id() + "0", std::string(300, 'a')})
        EXPECT_THROW(create_unique_id(quick_settings(), id, 0, 1), Error) << id;
}

TEST(UniqueId, NamesPesThatDoNotCome) {
    const std::string id = get_unique_id();
    // PE 1 arrives before PE 0's time starts, however busy the machine is.
    const auto outcomes = run_forked(
        4,
        [&](int pe) -> std::string {
            if (pe >= 2) return "";
            return exercise(*create_unique_id(pe == 0 ? quick_settings(3) : quick_settings(), id, pe, 4));
        },
        {1, 2, 3, 0});
    for (const int pe : {0, 1})
        expect_named(outcomes[static_cast<std::size_t>(pe)], {"2,3 of 4 did not come", "ATOLL_INIT_TIMEOUT"});
}

TEST(UniqueId, NamesAProcessOfAnotherUser) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    const std::string id = get_unique_id();
    Forked pe0([&] { return exercise(*create_unique_id(quick_settings(), id, 0, 3)); });
    const Outcome stranger = Forked([&]() -> std::string {
                                 constexpr uid_t other = 12345;
                                 if (::setuid(other) != 0) return "no other user";
                                 return exercise(*create_unique_id(quick_settings(), id, 1, 3));
                             }).wait();
    expect_named(stranger, {"this process runs as user 12345"});
    const Outcome pe1 =
        Forked([&] { return exercise(*create_unique_id(quick_settings(1), id, 1, 3)); }).wait();
    expect_named(pe1, {"PE 2 of 3 did not come", "a process of user 12345 was refused", "run as one user"});
    pe0.wait();
}

TEST(UniqueId, NamesAMissingPe0) {
    const Outcome outcome =
        Forked([] { return exercise(*create_unique_id(quick_settings(0.2), get_unique_id(), 1, 2)); }).wait();
    expect_named(outcome, {"PE 1 of 2 found no PE 0", "no process listens"});
}

TEST(UniqueId, NamesTwoWithOneNumber) {
    const std::string id = get_unique_id();
    const int pes[] = {0, 1, 1};
    const auto outcomes =
        run_forked(3, [&](int i) { return exercise(*create_unique_id(quick_settings(), id, pes[i], 3)); });
    for (const Outcome& outcome : outcomes) expect_named(outcome, {"says that it is PE 1", "already is"});
}

TEST(UniqueId, NamesDifferentNumbersOfPes) {
    const std::string id = get_unique_id();
    const auto outcomes =
        run_forked(2, [&](int pe) { return exercise(*create_unique_id(quick_settings(), id, pe, 2 + pe)); });
    for (const Outcome& outcome : outcomes)
        expect_named(outcome, {"PE 1 of 3", "PE 0 was told that there are 2"});
}

TEST(UniqueId, SaysThatDescriptorsRanOut) {
    const std::string id = get_unique_id();
    constexpr int many = 32;
    const auto outcomes = run_forked(many, [&](int pe) {
        if (pe == 0) {
            const rlimit few{20, 20};
            ::setrlimit(RLIMIT_NOFILE, &few);
        }
        return exercise(*create_unique_id(quick_settings(), id, pe, many));
    });
    for (const Outcome& outcome : outcomes)
        expect_named(outcome, {"descriptor for each of the 32 PEs", "ulimit -n"});
}

TEST(UniqueId, TwoPe0s) {
    const std::string id = make_unique_id();
    const auto first = create_unique_id(quick_settings(), id, 0, 2);
    EXPECT_THROW(create_unique_id(quick_settings(), id, 0, 2), Error);
}

TEST(UniqueId, NamesAPeThatDiesWhileOthersWait) {
    const std::string id = get_unique_id();
    const auto outcomes = run_forked(3, [&](int pe) -> std::string {
        if (pe == 2) ::alarm(0);
        const auto bootstrap = create_unique_id(quick_settings(), id, pe, 3);
        if (pe == 2) ::kill(::getpid(), SIGKILL);
        return exercise(*bootstrap);
    });
    for (const int pe : {0, 1})
        expect_named(outcomes[static_cast<std::size_t>(pe)], {"PE 2 (process", "ended while"});
}

// ---- strangers

/// Connects, sends `bytes`, and waits until the connection is closed.
bool is_turned_away(int family, const sockaddr* address, socklen_t size, const std::string& bytes) {
    for (;;) {
        const common::Fd fd(::socket(family, SOCK_STREAM, 0));
        if (::connect(fd.get(), address, size) != 0) {
            std::this_thread::yield();
            continue;
        }
        static_cast<void>(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
        char answer[256];
        ssize_t got = 0;
        std::size_t all = 0;
        // Any peer receives the server's greeting and number, but no welcome.
        while ((got = ::recv(fd.get(), answer, sizeof answer, 0)) > 0) all += static_cast<std::size_t>(got);
        return all < 300;
    }
}

std::vector<std::string> rubbish() {
    std::string huge_frame = "ATOLL/1\n";
    huge_frame += std::string("\xff\xff\xff\x7fH", 5);
    const std::string wrong_secret =
        "ATOLL/1\n" +
        encode('H', encode_hello({1, 2, 77, "0", "host", "number", ""}, "guessed", "its number"));
    return {"GET / HTTP/1.1\r\n\r\n",
            std::string(100000, '\0'),
            huge_frame,
            wrong_secret,
            "ATOLL/1\n" + encode('H', "1 2 77"),
            "ATOLL/1\n" + encode('P', std::string("atoll/\0x", 8)),
            "ATOLL/1\n" + encode('X', std::string("0 1\0over", 8)),
            "ATOLL/1\n\x01"};
}

TEST(UniqueId, StrangersAreIgnored) {
    const std::string id = get_unique_id();
    Forked pe0([&] { return exercise(*create_unique_id(quick_settings(), id, 0, 2)); });
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = "atoll-" + id.substr(id.find('-') + 1, 32);
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    std::vector<std::string> all = rubbish();
    all.pop_back();  // the connection that must be waited for
    for (const std::string& bytes : all)
        EXPECT_TRUE(is_turned_away(AF_UNIX, reinterpret_cast<sockaddr*>(&address), size, bytes));
    EXPECT_EQ(exercise(*create_unique_id(quick_settings(), id, 1, 2)), "100 101 ");
    EXPECT_TRUE(pe0.wait().ok());
}

// ---- torchrun's variables

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// Binds without SO_REUSEADDR, so that a lingering socket also conflicts.
common::Fd bind_plainly(int port) {
    common::Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in address = loopback(port);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
    return fd;
}

/// Returns a port outside the kernel's ephemeral range, whose ports may be taken before they are used.
int free_port() {
    std::random_device random;
    for (;;) {
        constexpr int first = 10000, count = 20000;  // Linux gives those from 32768 on
        const int port = first + static_cast<int>(random() % count);
        if (bind_plainly(port)) return port;
    }
}

/// True for PE 0 if it can listen there without options; for others if no process listens.
bool is_free(int port, int pe) {
    if (pe == 0) return static_cast<bool>(bind_plainly(port));
    const common::Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in address = loopback(port);
    return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
           errno == ECONNREFUSED;
}

void set_torchrun(int pe, int n_pes, int port) {
    ::setenv("RANK", std::to_string(pe).c_str(), 1);
    ::setenv("WORLD_SIZE", std::to_string(n_pes).c_str(), 1);
    ::setenv("MASTER_ADDR", "127.0.0.1", 1);
    ::setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
}

TEST(Tcp, ConnectsAndLeavesThePortFree) {
    for (const std::vector<int>& order : {std::vector{0, 1, 2}, {2, 1, 0}}) {
        const int port = free_port();
        const auto outcomes = run_forked(
            3,
            [&](int pe) {
                set_torchrun(pe, 3, port);
                const auto bootstrap = choose({}, quick_settings());
                // A PE that has left init finds no listener there: PE 0's torch may listen, and the others'
                // do not meet us.
                const std::string free = is_free(port, pe) ? "free " : "taken ";
                bootstrap->fence();
                return free + std::string(bootstrap->name()) + " " + exercise(*bootstrap);
            },
            order);
        expect_all(outcomes, "free tcp store 100 101 102 ");
    }
}

TEST(Tcp, StrangersAreIgnored) {
    const int port = free_port();
    const auto pe_at = [&](int pe) {
        set_torchrun(pe, 2, port);
        return exercise(*create_tcp(quick_settings()));
    };
    Forked pe0([&] { return pe_at(0); });
    const sockaddr_in address = loopback(port);
    std::vector<std::string> all = rubbish();
    all.pop_back();
    for (const std::string& bytes : all)
        EXPECT_TRUE(
            is_turned_away(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address, bytes));
    Forked pe1([&] { return pe_at(1); });
    EXPECT_EQ(pe1.wait().text, "100 101 ");
    EXPECT_TRUE(pe0.wait().ok());
}

TEST(Tcp, SaysWhatIsWrongWithTheVariables) {
    const auto attempt = [](const std::function<void()>& spoil) {
        return Forked([&]() -> std::string {
                   set_torchrun(0, 1, free_port());
                   spoil();
                   create_tcp(
                       quick_settings(3));  // time for PE 0 to greet itself, on a machine with too much to do
                   return "";
               })
            .wait();
    };
    expect_named(attempt([] { ::setenv("RANK", "x", 1); }), {"RANK=x"});
    expect_named(attempt([] { ::setenv("RANK", "1", 1); }), {"RANK=1", "WORLD_SIZE=1"});
    expect_named(attempt([] { ::setenv("MASTER_PORT", "99999", 1); }), {"99999"});
    expect_named(attempt([] { ::unsetenv("MASTER_ADDR"); }), {"MASTER_ADDR"});
    expect_named(attempt([] { ::setenv("MASTER_ADDR", "192.0.2.1", 1); }),
                 {"192.0.2.1", "RANK 0 must run on the host"});
    expect_named(attempt([] { ::setenv("TORCHELASTIC_USE_AGENT_STORE", "True", 1); }),
                 {"Pass torch's store"});
    expect_named(attempt([] { ::setenv("WORLD_SIZE", "2", 1); }), {"1 of 2 did not come"});
}

TEST(Tcp, SaysThatThePortIsTaken) {
    const int port = free_port();
    const common::Fd taken = bind_plainly(port);
    ASSERT_EQ(::listen(taken.get(), 1), 0);
    const Outcome outcome = Forked([&]() -> std::string {
                                set_torchrun(0, 2, port);
                                create_tcp(quick_settings());
                                return "";
                            }).wait();
    expect_named(outcome, {"another program does", "MASTER_PORT"});
}

// ---- a store that the program brings

JobOptions::Store store_of(Bootstrap& bootstrap) {
    return {[&](const std::string& key, const std::string& value) { bootstrap.put(key, value); },
            [&](const std::string& key) { return bootstrap.get(key); }};
}

TEST(Store, ConnectsThePes) {
    const auto hub = create_hub(3, 4096);
    std::vector<std::thread> threads;
    std::vector<std::string> seen(3);
    for (int pe = 0; pe < 3; ++pe)
        threads.emplace_back([&, pe] {
            const auto carrier = create_thread(hub, pe);
            JobOptions options;
            options.store = store_of(*carrier);
            options.pe = pe;
            options.n_pes = 3;
            const auto bootstrap = choose(options, quick_settings());
            seen[static_cast<std::size_t>(pe)] = std::string(bootstrap->name()) + " " + exercise(*bootstrap);
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& text : seen) EXPECT_EQ(text, "store 100 101 102 ");
}

/// Simulates several hosts for the rendezvous: the PEs are told that they are on different ones.
TEST(Store, ConnectsHostsByTcp) {
    const std::string id = get_unique_id();
    const auto outcomes = run_forked(3, [&](int pe) {
        const auto carrier = create_unique_id(quick_settings(), id, pe, 3);
        const auto bootstrap = meet(quick_settings(), exchange_by(store_of(*carrier), pe, 3), "store",
                                    pe == 1 ? "bootB net:[1]" : "bootA net:[1]");
        return std::string(bootstrap->name()) + " " + exercise(*bootstrap);
    });
    expect_all(outcomes, "store 100 101 102 ");
}

common::Settings with_secret(const std::string& secret, double init_timeout_s = 20) {
    common::Settings settings = quick_settings(init_timeout_s);
    settings.secret = secret;
    return settings;
}

TEST(Tcp, NamesAnotherSecret) {
    const int port = free_port();
    const auto outcomes =
        run_forked(2,
                   [&](int pe) {
                       set_torchrun(pe, 2, port);
                       return exercise(*create_tcp(pe == 0 ? with_secret("right", 3) : with_secret("wrong")));
                   },
                   {1, 0});
    expect_named(outcomes[0], {"PE 1 of 2 did not come", "refused"});
    expect_named(outcomes[1], {"PE 0 refused PE 1 of 2", "ATOLL_SECRET is another"});
}

TEST(Tcp, KnowsOneSecret) {
    const int port = free_port();
    expect_all(run_forked(2,
                          [&](int pe) {
                              set_torchrun(pe, 2, port);
                              return exercise(*create_tcp(with_secret("one for both")));
                          }),
               "100 101 ");
}

TEST(Tcp, NamesSettingsThatDiffer) {
    const int port = free_port();
    const auto outcomes = run_forked(2, [&](int pe) {
        set_torchrun(pe, 2, port);
        common::Settings settings = quick_settings();
        if (pe == 1) settings.transport = common::TransportChoice::loopback;
        return exercise(*create_tcp(settings));
    });
    for (const Outcome& outcome : outcomes)
        expect_named(outcome, {"ATOLL_TRANSPORT=auto", "ATOLL_TRANSPORT=loopback", "PE 1"});
}

TEST(Tcp, TakesAtollPort) {
    const int taken = free_port(), port = free_port();
    const common::Fd torchs = bind_plainly(taken);
    ASSERT_EQ(::listen(torchs.get(), 1), 0);
    expect_all(run_forked(2,
                          [&](int pe) {
                              set_torchrun(pe, 2, taken);
                              common::Settings settings = quick_settings();
                              settings.port = port;
                              return exercise(*create_tcp(settings));
                          }),
               "100 101 ");
}

TEST(Hello, IsReadOnlyAsItWasWritten) {
    const Hello hello{3, 4, 77, "0.1.0", "host", "number", "A=1 B=2"};
    const std::string body = encode_hello(hello, "secret", "challenge");
    bool proven = false;
    const std::optional<Hello> read = decode_hello(body, "secret", "challenge", proven);
    ASSERT_TRUE(read && proven);
    EXPECT_EQ(read->pe, 3);
    EXPECT_EQ(read->settings, "A=1 B=2");
    EXPECT_TRUE(decode_hello(body, "other", "challenge", proven) && !proven);
    EXPECT_TRUE(decode_hello(body, "secret", "another", proven) && !proven);
    for (std::size_t i = 0; i < body.size(); ++i) {
        std::string spoiled = body;
        spoiled[i] = static_cast<char>(spoiled[i] ^ 1);
        proven = false;
        decode_hello(spoiled, "secret", "challenge", proven);
        EXPECT_FALSE(proven) << i;
        proven = false;
        decode_hello(body.substr(0, i), "secret", "challenge", proven);
        EXPECT_FALSE(proven) << i;
    }
}

TEST(Choose, ChecksWhatItIsGiven) {
    JobOptions options;
    options.pe = 1;
    EXPECT_THROW(choose(options, quick_settings()), Error);
    options.unique_id = get_unique_id();
    EXPECT_THROW(choose(options, quick_settings()), Error);
    options.n_pes = 1;
    EXPECT_THROW(choose(options, quick_settings()), Error);
    EXPECT_EQ(choose({}, quick_settings())->name(), "single");
}

TEST(Choose, SaysWhichVariablesOfALauncherAreMissing) {
    const auto said = [](std::initializer_list<std::pair<const char*, const char*>> variables) {
        return Forked([&] {
                   for (const auto& [name, value] : variables) ::setenv(name, value, 1);
                   return common::read_job_environment().incomplete();
               })
            .wait()
            .text;
    };
    EXPECT_EQ(said({}), "");
    EXPECT_EQ(said({{"RANK", "0"}}), "RANK is set, but WORLD_SIZE, MASTER_ADDR and MASTER_PORT are not");
    EXPECT_EQ(said({{"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}),
              "WORLD_SIZE, MASTER_ADDR and MASTER_PORT are set, but RANK is not");
    EXPECT_EQ(said({{"RANK", "0"}, {"WORLD_SIZE", "1"}}), "");
    EXPECT_EQ(said({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}),
              "PMI_RANK and PMI_SIZE are set, but PMI_FD is not");
    EXPECT_EQ(said({{"PMIX_RANK", "0"}}), "PMIX_RANK is set, but PMIX_NAMESPACE is not");
    EXPECT_EQ(said({{"OMPI_COMM_WORLD_SIZE", "4"}}),
              "OMPI_COMM_WORLD_SIZE is set, but PMIX_NAMESPACE is not");
}

TEST(Choose, TakesNoNoticeOfTheRanksThatAtollRunHasSetForPytorch) {
    const auto chosen = [](const char* port) {
        return Forked([port]() -> std::string {
                   set_torchrun(1, 2, 4711);
                   ::setenv(common::ranks_record, "RANK=1 WORLD_SIZE=2 MASTER_PORT=4711 LOCAL_RANK=1", 1);
                   ::setenv("MASTER_PORT", port, 1);
                   testing::internal::CaptureStderr();
                   const bool is_torchruns = common::read_job_environment().has_torchrun_variables();
                   const std::string name(is_torchruns ? "tcp" : choose({}, quick_settings())->name());
                   return name + testing::internal::GetCapturedStderr();
               })
            .wait()
            .text;
    };
    EXPECT_EQ(chosen("4711"), "single");
    EXPECT_EQ(chosen("4712"), "tcp");
}

TEST(Choose, WarnsOfAJobOfOneThatWasToBeLarger) {
    const Outcome outcome =
        Forked([]() -> std::string {
            ::setenv("RANK", "1", 1);
            testing::internal::CaptureStderr();
            const auto bootstrap = choose({}, quick_settings());
            return testing::internal::GetCapturedStderr() + std::string(bootstrap->name());
        }).wait();
    EXPECT_NE(outcome.text.find("RANK is set, but WORLD_SIZE"), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("single"), std::string::npos) << outcome.text;
}

TEST(Choose, SettingsComeBeforeTheEnvironment) {
    const Outcome outcome = Forked([]() -> std::string {
                                set_torchrun(1, 2, 1);
                                common::Settings settings = quick_settings();
                                settings.bootstrap = common::BootstrapChoice::single;
                                return std::string(choose({}, settings)->name());
                            }).wait();
    EXPECT_EQ(outcome.text, "single");
}

}  // namespace
}  // namespace atl::bootstrap
