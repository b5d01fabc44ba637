// The module: makes backends for PyTorch. It is compiled for one version of PyTorch (see _build.py) and
// reaches libatoll through tables of functions.
#include "backend.hpp"
#include "gpu_symmetric.hpp"
#include "store.hpp"
#include "symmetric.hpp"

#include <pybind11/chrono.h>
#include <unistd.h>

namespace atoll_c10d {
namespace {

constexpr const char* all_joined = "all joined";

}  // namespace

c10::intrusive_ptr<c10d::Backend> create_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                                 int size, double timeout_s, const std::string& group_id,
                                                 std::vector<int> names, std::string shown) {
    if (names.empty())
        for (int i = 0; i < size; ++i) names.push_back(i);
    const Milliseconds timeout(static_cast<std::int64_t>(timeout_s * 1e3));
    const std::string keys = keys_of_group(*store, prefix_of_ranks(names), size);
    StoreCalls calls(*store, keys + "/", timeout);
    const atoll_store joining = calls.calls();
    atoll_group* group = table->join(&joining, rank, size, names.data(), group_id.c_str());
    if (group == nullptr) {
        const int failure = table->last_failure();
        const std::string text = table->last_error() + calls.reason();
        store->set(keys + "/end",
                   c10::str("rank ", names[static_cast<std::size_t>(rank)], " could not join: ", text));
        throw_failure(failure, text);
    }
    const Meeting meeting{store, keys, rank, size, timeout_s};
    auto backend = c10::make_intrusive<AtollBackend>(group, meeting, timeout, std::move(names), group_id,
                                                     std::move(shown));
    if (store->add(keys + "/joined", 1) == size) store->set(keys + "/end", std::string(all_joined));
    const std::string end = awaited(*store, keys + "/end", "Not all ranks joined the group", timeout);
    if (end != all_joined) throw_failure(ATOLL_FAILED, "The group was not made, since " + end);
    return backend;
}

}  // namespace atoll_c10d

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    using namespace atoll_c10d;
    m.def(
        "load",
        [](std::uintptr_t address, std::uintptr_t device_address, std::uintptr_t symmetric_address,
           std::uintptr_t device_memory_address) {
            table = reinterpret_cast<const atoll_groups_table*>(address);
            device_table = reinterpret_cast<const atoll_device_table*>(device_address);
            symmetric_table = reinterpret_cast<const atoll_symmetric_table*>(symmetric_address);
            device_memory_table = reinterpret_cast<const atoll_device_memory_table*>(device_memory_address);
            static std::once_flag once;
            std::call_once(once, [] {
                const auto end = [process = ::getpid()] {
                    if (::getpid() != process) return;  // a forked child has no such threads
                    const pybind11::gil_scoped_release no_gil;
                    Completions::end_with_python();
                };
                pybind11::module_::import("atexit").attr("register")(pybind11::cpp_function(end));
            });
            TORCH_CHECK(table->version == ATOLL_GROUPS_VERSION,
                        "Atoll's module for PyTorch was compiled for version ", ATOLL_GROUPS_VERSION,
                        " of libatoll's groups; the library has version ", table->version, ".");
        },
        pybind11::arg("table"), pybind11::arg("device_table"), pybind11::arg("symmetric_table"),
        pybind11::arg("device_memory_table"));
    m.def("register_symmetric", &register_symmetric);
    pybind11::class_<Turn, std::shared_ptr<Turn>>(m, "Turn", pybind11::module_local())
        .def_static("of", &Turn::of)
        .def("run", &Turn::run)
        .def("follow", &Turn::follow);
    m.def("create_backend", &create_backend, pybind11::arg("store"), pybind11::arg("rank"),
          pybind11::arg("size"), pybind11::arg("timeout_s"), pybind11::arg("group_id"),
          pybind11::arg("names"), pybind11::arg("shown"),
          pybind11::call_guard<pybind11::gil_scoped_release>());
}
