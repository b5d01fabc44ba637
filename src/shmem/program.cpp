#include "shmem/program.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace atl::shmem {

namespace {

const link_map* executable() { return _r_debug.r_map; }

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

/// Strings of an object's dynamic section with a certain tag.
std::vector<std::string_view> strings(const link_map& object, ElfW(Sxword) tag) {
    const char* table = nullptr;
    for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_STRTAB) table = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    std::vector<std::string_view> found;
    for (const ElfW(Dyn)* entry = object.l_ld; table && entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == tag) found.emplace_back(table + entry->d_un.d_val);
    return found;
}

const link_map* find(std::string_view needed) {
    for (const link_map* object = executable(); object; object = object->l_next) {
        if (object->l_name && (object->l_name == needed || base_name(object->l_name) == needed))
            return object;
    }
    for (const link_map* object = executable()->l_next; object; object = object->l_next) {
        if (!object->l_name || !std::strchr(object->l_name, '/'))
            continue;  // the kernel's own object has no usable table
        const auto names = strings(*object, DT_SONAME);
        if (!names.empty() && names[0] == needed) return object;
    }
    return nullptr;
}

const void* own_base() {
    Dl_info where{};
    return ::dladdr(reinterpret_cast<const void*>(&is_linked_by_executable), &where) ? where.dli_fbase
                                                                                     : nullptr;
}

}  // namespace

bool is_linked_by_executable() {
    const void* own = own_base();
    std::vector<const link_map*> closure{executable()};
    for (std::size_t i = 0; i < closure.size(); ++i) {
        if (i > 0 && reinterpret_cast<const void*>(closure[i]->l_addr) == own) return true;
        for (const std::string_view needed : strings(*closure[i], DT_NEEDED)) {
            const link_map* object = find(needed);
            if (object && std::find(closure.begin(), closure.end(), object) == closure.end())
                closure.push_back(object);
        }
    }
    return false;
}

bool has_tsan_inside() {
    Dl_info where{}, program{};
    const void* tsan = ::dlsym(RTLD_DEFAULT, "__tsan_init");
    return tsan && ::dladdr(tsan, &where) && ::dladdr(executable()->l_ld, &program) &&
           where.dli_fbase == program.dli_fbase;
}

}  // namespace atl::shmem
