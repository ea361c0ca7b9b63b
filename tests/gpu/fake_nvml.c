/* A libnvidia-ml.so.1 without a GPU: answers as the file that $FAKE_NVML names says, or /etc/fake-nvml, read anew at every call.

   Lines are `name value`. `count 2`, `used_mib 512`, `util 40`, `temp 55`, `power_mw 90000`, `pid 4711`, `pid_mib 256`, `ecc 0`,
   `mig 0` (slices a GPU is cut into), `first 0` (the machine's number of the first GPU, as a container is shown it), `xid 79` (heard once for each new value), and `error.FUNCTION 15` or `hang.FUNCTION 1`. Whoever loads the
   driver leaves a file of the name that $FAKE_NVML_MET gives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { unsigned int gpu, memory; } utilization_t;
typedef struct { unsigned int pid; unsigned long long used; unsigned int gi, ci; } process_t;
typedef struct { void *device; unsigned long long type, data; unsigned int gi, ci; } event_t;

enum { OK = 0, INVALID = 2, NOT_FOUND = 6, INSUFFICIENT = 7, TIMED_OUT = 10 };
static const unsigned long long MIB = 1024 * 1024;
static long long heard_xid = 0;

static long long setting(const char *name, long long otherwise) {
    const char *path = getenv("FAKE_NVML");
    FILE *file = fopen(path ? path : "/etc/fake-nvml", "r");
    char line[200], found[100];
    long long value, answer = otherwise;
    if (!file) return otherwise;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%99s %lld", found, &value) == 2 && strcmp(found, name) == 0) answer = value;
    fclose(file);
    return answer;
}

static int met(const char *function) {
    char name[120];
    snprintf(name, sizeof name, "hang.%s", function);
    while (setting(name, 0)) usleep(20000);
    snprintf(name, sizeof name, "error.%s", function);
    return (int)setting(name, OK);
}
#define MEET(function) do { int status = met(function); if (status) return status; } while (0)

/* GPU n is handle n + 1; its slice m is handle (n + 1) * 100 + m + 1. The UUIDs are those of tests/process/fake_gpus.py. */
static unsigned long number(void *device) { return (unsigned long)device; }

int nvmlInit_v2(void) {
    const char *trace = getenv("FAKE_NVML_MET");
    FILE *file = trace ? fopen(trace, "a") : NULL;
    if (file) fclose(file);
    return met("Init");
}
int nvmlInitWithFlags(unsigned int flags) { (void)flags; return nvmlInit_v2(); }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int status) { (void)status; return "an error of the fake"; }
int nvmlDeviceGetCount_v2(unsigned int *count) { MEET("Count"); *count = (unsigned)setting("count", 1); return OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device) {
    MEET("Handle");
    if (index >= setting("count", 1)) return INVALID;
    *device = (void *)(unsigned long)(index + 1);
    return OK;
}
int nvmlDeviceGetIndex(void *device, unsigned int *index) { *index = (unsigned)number(device) - 1; return OK; }
int nvmlDeviceGetName(void *device, char *name, unsigned int length) {
    MEET("Name");
    snprintf(name, length, number(device) > 100 ? "Fake MIG %lu" : "Fake GPU %lu", number(device));
    return OK;
}
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned int length) {
    MEET("UUID");
    unsigned long n = number(device), first = (unsigned long)setting("first", 0);
    if (n > 100) snprintf(uuid, length, "MIG-%08lu-%lu", first + n / 100 - 1, n % 100 - 1);
    else snprintf(uuid, length, "GPU-%08lu-aaaa-bbbb-cccc-dddddddddddd", first + n - 1);
    return OK;
}
int nvmlDeviceGetMemoryInfo(void *device, memory_t *memory) {
    (void)device;
    MEET("Memory");
    memory->total = 40960 * MIB;
    memory->used = (unsigned long long)setting("used_mib", 512) * MIB;
    memory->free = memory->total - memory->used;
    return OK;
}
int nvmlDeviceGetUtilizationRates(void *device, utilization_t *used) {
    (void)device;
    MEET("Utilization");
    used->gpu = (unsigned)setting("util", 0);
    used->memory = 0;
    return OK;
}
int nvmlDeviceGetPowerUsage(void *device, unsigned int *mw) {
    (void)device;
    MEET("Power");
    *mw = (unsigned)setting("power_mw", 90000);
    return OK;
}
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *degrees) {
    (void)device; (void)sensor;
    MEET("Temperature");
    *degrees = (unsigned)setting("temp", 40);
    return OK;
}
int nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, unsigned long long *count) {
    (void)device; (void)kind; (void)counter;
    MEET("Ecc");
    *count = (unsigned long long)setting("ecc", 0);
    return OK;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *count, process_t *infos) {
    (void)device;
    MEET("Processes");
    unsigned int room = *count;
    long long pid = setting("pid", 0);
    *count = pid ? 1 : 0;
    if (!pid) return OK;
    if (room < 1) return INSUFFICIENT;
    infos[0].pid = (unsigned)pid;
    infos[0].used = (unsigned long long)setting("pid_mib", 256) * MIB;
    infos[0].gi = infos[0].ci = 0xFFFFFFFF;
    return OK;
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned int *count, process_t *infos) {
    (void)device; (void)infos;
    MEET("Processes");
    *count = 0;
    return OK;
}
int nvmlDeviceGetMigMode(void *device, unsigned int *current, unsigned int *pending) {
    (void)device;
    MEET("Mig");
    *current = *pending = setting("mig", 0) > 0;
    return OK;
}
int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned int *count) { (void)device; *count = 7; return OK; }
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned int index, void **part) {
    if (index >= setting("mig", 0)) return NOT_FOUND;
    *part = (void *)(number(device) * 100 + index + 1);
    return OK;
}
int nvmlEventSetCreate(void **set) { MEET("Events"); *set = (void *)1; return OK; }
int nvmlDeviceRegisterEvents(void *device, unsigned long long kinds, void *set) {
    (void)device; (void)kinds; (void)set;
    return OK;
}
int nvmlEventSetWait_v2(void *set, event_t *event, unsigned int wait_ms) {
    (void)set; (void)wait_ms;
    long long xid = setting("xid", 0);
    if (!xid || xid == heard_xid) return TIMED_OUT;
    heard_xid = xid;
    memset(event, 0, sizeof *event);
    event->device = (void *)1;
    event->type = 8;
    event->data = (unsigned long long)xid;
    return OK;
}
