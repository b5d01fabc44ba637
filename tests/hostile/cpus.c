/* Preloaded, it makes a process see as many CPUs as PRETENDED_CPUS says, whatever the machine has. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static int simulated(void) {
    const char* text = getenv("PRETENDED_CPUS");
    return text ? atoi(text) : 1;
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t* set) {
    (void)pid;
    if (bytes * 8 < (size_t)simulated()) {
        errno = EINVAL;
        return -1;
    }
    memset(set, 0, bytes);
    for (int cpu = 0; cpu < simulated(); ++cpu) CPU_SET_S(cpu, bytes, set);
    return 0;
}

/* Does nothing: the CPUs of the set may not exist. */
int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t* set) {
    (void)pid, (void)bytes, (void)set;
    return 0;
}

int get_nprocs(void) { return simulated(); }
int get_nprocs_conf(void) { return simulated(); }

long sysconf(int name) {
    extern long __sysconf(int);
    return name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? simulated() : __sysconf(name);
}
