#include "cli/hosts/trace_wire.hpp"

#include <algorithm>
#include <concepts>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace atl::cli {
namespace {

using common::LoggedEvent;

constexpr std::size_t chunk_bytes = 1 << 20;

// The fields of each type in their order on the wire, for both directions. `T` is const with a Packer.

template <class T, class Of>
concept Is = std::same_as<std::remove_const_t<T>, Of>;

template <class Io, class... Fields> void pass_all(Io& io, Fields&... fields) { (io.pass(fields), ...); }

template <class Io, Is<LoggedEvent> T> void pass(Io& io, T& e) {
    pass_all(io, e.kind, e.state, e.operation, e.team, e.call, e.peer, e.began, e.ended, e.bytes, e.offset,
             e.value, e.waiting, e.thread, e.site);
}

template <class Io, Is<KernelSlice> T> void pass(Io& io, T& s) {
    pass_all(io, s.name, s.operation, s.began, s.ended, s.bytes, s.offset, s.value, s.peer, s.gpu, s.block,
             s.track);
}

template <class Io, Is<std::string> T> void pass(Io& io, T& title) { io.pass(title); }

/// Without its events, titles and slices.
template <class Io, Is<PeTrace> T> void pass(Io& io, T& pe) {
    pass_all(io, pe.pe, pe.pid, pe.log.dropped, pe.kernels.dropped, pe.kernels.gpu, pe.kernels.clock_error_ns,
             pe.kernels.clock_is_assumed, pe.log.texts);
}

bool is_valid(const LoggedEvent& event) {
    return static_cast<std::size_t>(event.kind) < std::size(common::event_names) &&
           static_cast<std::size_t>(event.state) < std::size(common::event_state_names);
}
bool is_valid(const PeTrace& pe) { return pe.pe >= 0; }
template <class Item> bool is_valid(const Item&) { return true; }

/// Reads the next item, and adds it. False if it is malformed.
template <class Item> bool add_next(Unpacker& bytes, std::vector<Item>& items) {
    Item item;
    pass(bytes, item);
    if (!bytes.is_good() || !is_valid(item)) return false;
    items.push_back(std::move(item));
    return true;
}

template <class Item>
bool send_all(const std::vector<Item>& items, char type,
              const std::function<bool(char, const std::string&)>& send) {
    for (std::size_t i = 0; i < items.size();) {
        Packer packer;
        for (; i < items.size() && packer.bytes().size() < chunk_bytes; ++i) pass(packer, items[i]);
        if (!send(type, packer.bytes())) return false;
    }
    return true;
}

template <class Item> bool add_all(const std::string& body, std::vector<Item>& items) {
    for (Unpacker bytes(body); !bytes.at_end();)
        if (!add_next(bytes, items)) return false;
    return true;
}

}  // namespace

bool send_pe(const PeTrace& pe, const std::function<bool(char, const std::string&)>& send) {
    Packer head;
    pass(head, pe);
    return send('p', head.bytes()) && send_all(pe.log.events, 'e', send) &&
           send_all(pe.kernels.titles, 't', send) && send_all(pe.kernels.slices, 'k', send);
}

bool add_frame(char type, const std::string& body, std::vector<PeTrace>& pes) {
    Unpacker head(body);
    if (type == 'p') return add_next(head, pes);
    if (pes.empty()) return false;
    if (type == 'e') return add_all(body, pes.back().log.events);
    if (type == 't') return add_all(body, pes.back().kernels.titles);
    return type == 'k' && add_all(body, pes.back().kernels.slices);
}

}  // namespace atl::cli
