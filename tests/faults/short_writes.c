/* Every write to a file takes half of what it was given, as a disk that is nearly full or a signal makes it. Preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t part(int fd, size_t size) {
    struct stat found;
    return size > 1 && fd > 2 && !fstat(fd, &found) && S_ISREG(found.st_mode) ? size / 2 : size;
}

ssize_t write(int fd, const void *bytes, size_t size) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    return real(fd, bytes, part(fd, size));
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
    return real(fd, bytes, part(fd, size), at);
}
