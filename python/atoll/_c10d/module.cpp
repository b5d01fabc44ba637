// The module: makes backends for PyTorch. It is compiled for one version of PyTorch (see _build.py) and
// reaches libatoll through a table of functions.
#include "backend.hpp"

#include <pybind11/chrono.h>

#include <map>

namespace atoll_c10d {
namespace {

constexpr std::size_t address_room = 512;

/// Groups of one name that this process has made. A store may outlive a group, so each group has its own
/// keys.
int generation_of(const std::string& group_id) {
    static std::mutex mutex;
    static std::map<std::string, int> made;
    const std::lock_guard lock(mutex);
    return made[group_id]++;
}

std::string first_address(c10d::Store& store, const std::string& key, int first, Milliseconds timeout) {
    try {
        store.wait({key}, timeout);
    } catch (const std::exception& error) {
        throw_failure(ATOLL_TIMED_OUT,
                      c10::str("Rank ", first, " did not make the group's memory within ",
                               std::chrono::duration<double>(timeout).count(), " s: ", error.what()));
    }
    return store.get_to_str(key);
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> create_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                                 int size, double timeout_s, const std::string& group_id,
                                                 std::vector<int> names) {
    if (names.empty())
        for (int i = 0; i < size; ++i) names.push_back(i);
    const Milliseconds timeout(static_cast<std::int64_t>(timeout_s * 1e3));
    const std::string key = "atoll/" + std::to_string(generation_of(group_id));
    atoll_group* group = nullptr;
    if (rank == 0) {
        char address[address_room];
        group = table->create(rank, size, names.data(), group_id.c_str(), address, sizeof address);
        if (group != nullptr) store->set(key, std::string(address));
    } else {
        const std::string address = first_address(*store, key, names[0], timeout);
        group = table->join(address.c_str(), rank, size, names.data(), group_id.c_str());
    }
    if (group == nullptr) throw_failure(table->last_failure(), table->last_error());
    return c10::make_intrusive<AtollBackend>(group, rank, size, timeout, std::move(names));
}

}  // namespace atoll_c10d

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    using namespace atoll_c10d;
    m.def(
        "load",
        [](std::uintptr_t address) {
            table = reinterpret_cast<const atoll_groups_table*>(address);
            TORCH_CHECK(table->version == ATOLL_GROUPS_VERSION,
                        "Atoll's module for PyTorch was compiled for version ", ATOLL_GROUPS_VERSION,
                        " of libatoll's groups; the library has version ", table->version, ".");
        },
        pybind11::arg("table"));
    m.def("create_backend", &create_backend, pybind11::arg("store"), pybind11::arg("rank"),
          pybind11::arg("size"), pybind11::arg("timeout_s"), pybind11::arg("group_id"),
          pybind11::arg("names"), pybind11::call_guard<pybind11::gil_scoped_release>());
}
