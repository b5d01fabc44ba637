#include "collective/members/meeting.hpp"

#include "bootstrap/host/hosts.hpp"
#include "bootstrap/launcher/own_entry.hpp"
#include "collective/members/far_members.hpp"
#include "collective/members/segment.hpp"
#include "common/clock.hpp"
#include "common/elf/call_site.hpp"
#include "common/hashes/hmac.hpp"
#include "common/pe_ranges.hpp"
#include "common/settings/settings.hpp"
#include "common/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

namespace atl::requests {
namespace {

using far::Endpoint;
using far::FarMembers;
using far::Layout;

// ---- texts that members exchange: lists, of which a failed member's is its error alone

constexpr const char* failed = "failed";

bool is_failure(const std::vector<std::string>& parts) { return parts.size() == 2 && parts[0] == failed; }

std::string pack(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += std::to_string(part.size()) + ":" + part;
    return text;
}

std::vector<std::string> unpack(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t colon = text.find(':', at);
        const std::size_t bytes = std::strtoull(text.c_str() + at, nullptr, 10);
        if (colon == std::string::npos || bytes > text.size() - colon - 1)
            throw Error(ErrorCode::bootstrap,
                        "A member's text cannot be read; do all run one release of Atoll?");
        parts.push_back(text.substr(colon + 1, bytes));
        at = colon + 1 + bytes;
    }
    return parts;
}

class Meeting {
  public:
    Meeting(const Joining& joining, std::shared_ptr<bootstrap::OwnEntry> own_entry)
        : joining_(joining), own_entry_(std::move(own_entry)) {}

    /// Sends a text of this member, or its failure, to member 0. Returns the result of member 0's `body` for
    /// all texts.
    template <class Own, class Body>
    std::vector<std::string> exchange(const std::string& step, Own&& own, Body&& body) {
        std::vector<std::string> mine;
        Error error(ErrorCode::system, "");
        try {
            mine = own();
        } catch (const Error& own_error) {
            error = own_error;
            mine = {failed, name(joining_.rank) + ": " + own_error.what()};
        }
        const bool has_failed = is_failure(mine);
        if (joining_.rank != 0) put(step + "/" + std::to_string(joining_.rank), mine);
        std::vector<std::string> all = joining_.rank == 0 ? answer(step, mine, body) : get(step, 0);
        if (has_failed) throw error;
        if (is_failure(all)) throw Error(ErrorCode::bootstrap, all[1]);
        return all;
    }
    const Joining& joining() const { return joining_; }

  private:
    std::string name(int member) const { return "rank " + std::to_string(joining_.number(member)); }
    void put(const std::string& key, const std::vector<std::string>& parts) const {
        joining_.store.put(key, pack(parts));
    }
    /// Shows on the job board that a member has not come.
    void show(bootstrap::OwnEntry::Wait& wait, int member) const {
        if (!wait.claim()) return;
        common::WaitCopy values;
        values.team = common::team_number(joining_.label);
        common::copy_text(values.team == 0 ? "init_process_group" : "new_group", values.operation);
        common::copy_text(joining_.label, values.group);
        std::vector<int> numbers;
        for (int i = 0; i < joining_.n; ++i) numbers.push_back(joining_.number(i));
        std::sort(numbers.begin(), numbers.end());
        if (values.team != 0) common::copy_text("ranks " + common::pe_ranges(numbers), values.name);
        common::copy_text(common::file_name(common::site_of_thread()), values.site);
        values.since_ns = common::now_ns();
        const int number = joining_.number(member);
        if (own_entry_->numbers_are_pes() && number < own_entry_->n_pes())
            values.peer = values.missing[0] = number;
        wait.write(values);
    }
    std::vector<std::string> get(const std::string& key, int member) const {
        bootstrap::OwnEntry::Wait wait(own_entry_);
        show(wait, member);
        std::string text;
        try {
            text = joining_.store.get(key);
        } catch (const Error& error) {
            throw Error(
                ErrorCode::timeout,
                "Not all ranks joined the group: " + name(member) +
                    (member == 0 ? ", which waits for the others, gave no answer. " : " did not come. ") +
                    error.what());
        }
        return unpack(text);
    }

    template <class Body>
    std::vector<std::string> answer(const std::string& step, std::vector<std::string> mine, Body&& body) {
        std::vector<std::vector<std::string>> all{std::move(mine)};
        std::vector<std::string> result;
        try {
            for (int i = 1; i < joining_.n; ++i) all.push_back(get(step + "/" + std::to_string(i), i));
            const auto found = std::find_if(all.begin(), all.end(), is_failure);
            result = found != all.end() ? *found : body(all);
        } catch (const Error& error) {
            put(step, {failed, name(0) + ": " + error.what()});
            throw;
        }
        put(step, result);
        return result;
    }

    const Joining& joining_;
    const std::shared_ptr<bootstrap::OwnEntry> own_entry_;
};

// ---- the hosts, and the endpoint that all have

std::string own_host(const Joining& joining) {
    const int name = joining.names.empty() ? joining.rank : joining.names[std::size_t(joining.rank)];
    const std::string id = bootstrap::host_id_of(common::read_settings().host_ids, name);
    // An id of ATOLL_HOST_ID is the host's name.
    return memory::host_text() + (id.empty() ? "" : ":" + id);
}

/// Returns a text such as "JOB PE", the place of this member on a job board; empty without one.
std::string entry_text(const std::string& job, int pe) { return job + " " + std::to_string(pe); }

bool is_default_group(const Joining& joining) { return common::team_number(joining.label) == 0; }

using Board = std::shared_ptr<bootstrap::MappedBoard>;

/// A board for the members of a default group. Null if this machine has no room for it: a group works
/// without.
Board make_board(const Joining& joining) {
    try {
        common::Fd fd;
        return std::make_shared<bootstrap::MappedBoard>(bootstrap::MappedBoard::create_shared(joining.n, fd));
    } catch (const Error&) {
        return nullptr;
    }
}

/// The PE of each member. Empty unless all are different PEs of one job.
std::vector<int> pes_of(const std::vector<std::string>& entries) {
    std::vector<int> pes;
    for (const std::string& entry : entries) {
        const std::size_t space = entry.find(' ');
        if (space == std::string::npos || entry.substr(0, space) != entries[0].substr(0, space)) return {};
        pes.push_back(std::stoi(entry.substr(space)));
    }
    const std::set<int> different(pes.begin(), pes.end());
    return different.size() == pes.size() ? pes : std::vector<int>();
}

using Endpoints = std::vector<std::shared_ptr<Endpoint>>;

/// A member first gives its host and its entry, then names and numbers of endpoints.
constexpr std::size_t first_endpoint = 2;

std::string number_at(const std::vector<std::string>& parts, const std::string& endpoint) {
    for (std::size_t i = first_endpoint; i + 1 < parts.size(); i += 2)
        if (parts[i] == endpoint) return parts[i + 1];
    return {};
}

/// The hosts of all members, the name of the endpoint, and the members' numbers at it.
std::vector<std::string> plan(const std::vector<std::vector<std::string>>& received) {
    std::vector<std::string> hosts, numbers;
    for (const auto& each : received) hosts.push_back(each[0]);
    for (std::size_t i = first_endpoint; i + 1 < received[0].size(); i += 2) {
        numbers.clear();
        for (const auto& each : received) numbers.push_back(number_at(each, received[0][i]));
        if (std::find(numbers.begin(), numbers.end(), "") == numbers.end())
            return {pack(hosts), received[0][i], pack(numbers)};
    }
    return {pack(hosts), common::random_digits(16), ""};
}

Layout layout_of(int rank, const std::vector<std::string>& hosts, const std::vector<std::string>& numbers) {
    Layout layout;
    layout.rank = rank;
    std::map<std::string, int> known;
    for (const std::string& host : hosts) {
        const auto [at, is_new] = known.try_emplace(host, static_cast<int>(known.size()));
        if (is_new) layout.names.push_back(memory::name_of_host(host));
        layout.host_of.push_back(at->second);
        const auto member = layout.numbers.size();
        layout.numbers.push_back(numbers.empty() ? static_cast<int>(member) : std::stoi(numbers[member]));
    }
    return layout;
}

int first_of_host(const Layout& layout, int member) {
    const auto& hosts = layout.host_of;
    return static_cast<int>(std::find(hosts.begin(), hosts.end(), hosts[std::size_t(member)]) -
                            hosts.begin());
}

Membership membership_in(const Joining& joining, const std::shared_ptr<Segment>& segment) {
    Membership membership;
    membership.rank = joining.rank;
    membership.n = joining.n;
    for (int i = 0; i < joining.n; ++i) membership.areas.push_back(segment->area(i));
    membership.memory = segment;
    return membership;
}

/// The members of one host get the address of the memory, their entries, and a new board's path and identity.
/// Those of several hosts get a plan, which has another number of parts.
enum OneHost : std::size_t { its_memory, its_entries, its_board, its_identity, its_parts };

/// Takes the entry of this member on a board that member 0 made. Null if it cannot be mapped.
std::shared_ptr<bootstrap::OwnEntry> entry_on(Board board, const Joining& joining,
                                              const std::vector<std::string>& how) {
    try {
        if (!board)
            board = std::make_shared<bootstrap::MappedBoard>(
                bootstrap::MappedBoard::open(how[its_board], how[its_identity], joining.n));
        return bootstrap::OwnEntry::take_on_board_of_group(std::move(board), joining.rank);
    } catch (const Error&) {
        return nullptr;
    }
}

Membership join_one_host(const Joining& joining, std::shared_ptr<Segment> segment, Board board,
                         const std::vector<std::string>& how,
                         std::shared_ptr<bootstrap::OwnEntry> own_entry) {
    const std::string& address = how[its_memory];
    if (!segment) segment = Segment::join(address, joining.n);
    Membership membership = membership_in(joining, segment);
    membership.shares_heaps = true;
    membership.end_of = [segment](int member) { return segment->end_of(member); };
    membership.identity =
        common::team_identity(static_cast<std::uint32_t>(std::hash<std::string>{}(address)), 0);
    membership.pes = pes_of(unpack(how[its_entries]));
    if (!how[its_board].empty()) own_entry = entry_on(std::move(board), joining, how);
    if (membership.pes.empty() || !own_entry || !own_entry->take()) return membership;
    for (int i = 0; i < joining.n; ++i)
        if (joining.number(i) != membership.pes[std::size_t(i)]) own_entry->set_other_numbers();
    membership.own_entry = std::move(own_entry);
    return membership;
}

Membership join_several_hosts(Meeting& meeting, const std::vector<std::string>& plan,
                              const Endpoints& known) {
    const Joining& joining = meeting.joining();
    const Layout layout = layout_of(joining.rank, unpack(plan[0]), unpack(plan[2]));
    const bool is_new = plan[2].empty();
    const int first = first_of_host(layout, joining.rank);
    std::shared_ptr<Segment> segment;
    std::shared_ptr<Endpoint> endpoint;
    std::shared_ptr<FarMembers> far;
    const auto own = [&]() -> std::vector<std::string> {
        const auto has_name = [&](const auto& each) { return each->name() == plan[1]; };
        endpoint = is_new ? Endpoint::make(plan[1], joining.rank, joining.n)
                          : *std::find_if(known.begin(), known.end(), has_name);
        if (first == joining.rank) segment = Segment::create(joining.n);
        far = std::make_shared<FarMembers>(endpoint, layout);
        return {std::to_string(far->offset()), is_new ? endpoint->address() : "",
                segment ? segment->address() : ""};
    };
    const auto list = [](const std::vector<std::vector<std::string>>& received) {
        std::vector<std::string> all;
        for (const auto& each : received) all.insert(all.end(), each.begin(), each.end());
        return all;
    };
    const std::vector<std::string> all = meeting.exchange("far", own, list);
    std::vector<std::uint64_t> offsets;
    std::vector<std::string> addresses;
    for (std::size_t i = 0; i + 2 < all.size(); i += 3) {
        offsets.push_back(std::stoull(all[i]));
        addresses.push_back(all[i + 1]);
    }
    if (is_new) endpoint->set_addresses(std::move(addresses));
    if (!segment) segment = Segment::join(all[3 * std::size_t(first) + 2], joining.n);
    Membership membership = membership_in(joining, segment);
    far->open(std::move(offsets), membership.areas, segment);
    membership.far = far;
    membership.end_of = [segment, far](int member) {
        return far->is_far(member) ? far->end_of(member) : segment->end_of(member);
    };
    return membership;
}

}  // namespace

Membership join(const Joining& joining) {
    // A default group makes a board of its own where no launcher did.
    if (is_default_group(joining)) bootstrap::OwnEntry::leave_board_of_group();
    std::shared_ptr<bootstrap::OwnEntry> own_entry = bootstrap::OwnEntry::of_process();
    Meeting meeting(joining, own_entry);
    const Endpoints known = Endpoint::all();
    const auto own = [&] {
        std::vector<std::string> parts{own_host(joining),
                                       own_entry ? entry_text(own_entry->job(), own_entry->pe()) : ""};
        for (const auto& endpoint : known) {
            parts.push_back(endpoint->name());
            parts.push_back(std::to_string(endpoint->number()));
        }
        return parts;
    };
    std::shared_ptr<Segment> segment;
    Board board;
    const auto decide =
        [&](const std::vector<std::vector<std::string>>& received) -> std::vector<std::string> {
        const auto is_here = [&](const auto& each) { return each[0] == received[0][0]; };
        if (!std::all_of(received.begin(), received.end(), is_here)) return plan(received);
        segment = Segment::create(joining.n);
        std::vector<std::string> entries;
        for (const auto& each : received) entries.push_back(each[1]);
        const bool has_none =
            std::all_of(entries.begin(), entries.end(), [](const auto& one) { return one.empty(); });
        if (has_none && is_default_group(joining)) board = make_board(joining);
        for (int i = 0; board && i < joining.n; ++i)
            entries[std::size_t(i)] = entry_text(board->identity(), i);
        return {segment->address(), pack(entries), board ? board->path() : "",
                board ? board->identity() : ""};
    };
    const std::vector<std::string> how = meeting.exchange("hosts", own, decide);
    constexpr std::size_t of_plan = 3;
    if (how.size() == its_parts)
        return join_one_host(joining, std::move(segment), std::move(board), how, std::move(own_entry));
    if (how.size() != of_plan)
        throw Error(ErrorCode::bootstrap, "Rank 0's text has " + std::to_string(how.size()) +
                                              " parts; do all ranks run one release of Atoll?");
    return join_several_hosts(meeting, how, known);
}

}  // namespace atl::requests
