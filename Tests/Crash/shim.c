// SPDX-License-Identifier: Apache-2.0
//
// Put before the C library by LD_PRELOAD: counts the calls that a program makes on the files of one folder, and lets
// chosen ones fail, fall short, do nothing, or be the last thing before a kill or a power loss.
//
//   HAUL_FAULT_FOLDER   the folder; calls on other files go past untouched
//   HAUL_FAULT_LOG      a file that gets a line "CALL KIND" for each counted call, with " !N" where rule N (from 0) was met
//   HAUL_FAULTS         rules, with ";" between them: CALL KIND NTH ACTION
//
// CALL is one of `names` below, or "*". KIND is what it is about: part, manifest, file (any other name), directory, or
// "*". NTH counts the matching calls from 1 on; "3+" is the third and all later ones, "/3" each third. ACTION:
//
//   EIO, ENOSPC ...   fails with that, without having been made
//   short             one byte is written or read
//   skip              does nothing, and says that it has
//   kill              the process is killed by SIGKILL before the call
//   power             the same, and nothing more reaches the disk (ext4, xfs; by root)
//
// With "+" behind it ("EIO+", "kill+", "power+") the call is made first.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum call {
  OPEN, PWRITE, PREAD, FDATASYNC, FSYNC, FALLOCATE, FTRUNCATE, RENAME, LINK, UNLINK, CLOSE, FCHMOD, FUTIMENS, FLOCK,
  STAT, FADVISE, CALLS
};
static const char *const names[CALLS] = {
  "open", "pwrite", "pread", "fdatasync", "fsync", "fallocate", "ftruncate", "rename", "link", "unlink", "close",
  "fchmod", "futimens", "flock", "stat", "fadvise",
};

enum kind { NONE, PART, MANIFEST, FILE_, DIRECTORY, KINDS };
static const char *const kinds[KINDS] = {"", "part", "manifest", "file", "directory"};

enum action { PASS, FAIL, SHORT, SKIP, KILL, POWER };

struct rule {
  int call, kind;  // -1: any
  int nth, later, period;
  enum action action;
  int code, after;
  atomic_int met;
};
static struct rule rules[16];
static int rule_count;
static char folder[4096];
static int log_file = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct { const char *name; int code; } codes[] = {
  {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EINTR", EINTR}, {"EXDEV", EXDEV}, {"EROFS", EROFS},
  {"EOPNOTSUPP", EOPNOTSUPP}, {"EACCES", EACCES}, {"EPERM", EPERM}, {"EMFILE", EMFILE}, {"EEXIST", EEXIST},
  {"EINVAL", EINVAL}, {"ENOSYS", ENOSYS}, {"EFBIG", EFBIG}, {"ESTALE", ESTALE}, {"ENOMEM", ENOMEM},
  {"ENOENT", ENOENT}, {"ENOLCK", ENOLCK},
};

#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

static void refuse(const char *what) {
  fprintf(stderr, "shim: cannot read %s\n", what);
  _exit(99);
}

static int index_of(const char *word, const char *const *list, int count) {
  if (strcmp(word, "*") == 0) return -1;
  for (int index = 0; index < count; index++) {
    if (strcmp(word, list[index]) == 0) return index;
  }
  refuse(word);
  return -1;
}

static void read_action(struct rule *rule, char *word) {
  size_t length = strlen(word);
  rule->after = length > 0 && word[length - 1] == '+';
  if (rule->after) word[length - 1] = 0;
  if (strcmp(word, "short") == 0) rule->action = SHORT;
  else if (strcmp(word, "skip") == 0) rule->action = SKIP;
  else if (strcmp(word, "kill") == 0) rule->action = KILL;
  else if (strcmp(word, "power") == 0) rule->action = POWER;
  else {
    rule->action = FAIL;
    for (size_t index = 0; index < sizeof codes / sizeof *codes; index++) {
      if (strcmp(word, codes[index].name) == 0) rule->code = codes[index].code;
    }
    if (rule->code == 0) refuse(word);
  }
}

static void prepare(void) {
  const char *text = getenv("HAUL_FAULTS"), *where = getenv("HAUL_FAULT_FOLDER"), *log = getenv("HAUL_FAULT_LOG");
  if (where == NULL || text == NULL) return;
  snprintf(folder, sizeof folder, "%s", where);
  if (log != NULL) log_file = REAL(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  char *copy = strdup(text), *rest = copy, *line;
  while ((line = strsep(&rest, ";")) != NULL) {
    char call[16], kind[16], nth[16], action[16];
    if (sscanf(line, "%15s %15s %15s %15s", call, kind, nth, action) != 4) continue;
    if (rule_count == sizeof rules / sizeof *rules) refuse(text);
    struct rule *rule = &rules[rule_count++];
    rule->call = index_of(call, names, CALLS);
    rule->kind = index_of(kind, kinds, KINDS);
    if (nth[0] == '/') rule->period = atoi(nth + 1);
    else rule->nth = atoi(nth);
    rule->later = strchr(nth, '+') != NULL;
    read_action(rule, action);
  }
  free(copy);
}

// What a path inside the folder is; NONE for any other.
static enum kind kind_of_path(const char *path) {
  size_t length = strlen(folder);
  if (length == 0 || strncmp(path, folder, length) != 0) return NONE;
  if (path[length] == 0) return DIRECTORY;
  if (path[length] != '/') return NONE;
  char name[4096];
  snprintf(name, sizeof name, "%s", path + length + 1);
  char *deleted = strstr(name, " (deleted)");
  if (deleted != NULL) *deleted = 0;
  size_t end = strlen(name);
  if (end > 10 && strcmp(name + end - 10, ".haul-part") == 0) return PART;
  if (end > 5 && strcmp(name + end - 5, ".haul") == 0) return MANIFEST;
  return FILE_;
}

static enum kind kind_of(int descriptor) {
  pthread_once(&once, prepare);
  if (folder[0] == 0) return NONE;
  int kept = errno;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  errno = kept;
  if (length < 0) return NONE;
  path[length] = 0;
  return kind_of_path(path);
}

static enum kind kind_at(int directory, const char *name) {
  pthread_once(&once, prepare);
  if (name[0] == '/') return kind_of_path(name);
  if (directory == AT_FDCWD || kind_of(directory) != DIRECTORY) return NONE;
  char path[8192];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return kind_of_path(path);
}

static void end_it(enum action action) {
  if (action == POWER) {
    unsigned no_log_flush = 2;
    int descriptor = REAL(open)(folder, O_RDONLY | O_CLOEXEC);
    if (ioctl(descriptor, 0x8004587d, &no_log_flush) != 0) refuse("the answer to a shutdown");
  }
  kill(getpid(), SIGKILL);
}

// The rule that this call meets, or NULL. Kills what is to be killed before it.
static struct rule *meet(enum call call, enum kind kind) {
  if (kind == NONE) return NULL;
  struct rule *found = NULL;
  for (int index = 0; index < rule_count; index++) {
    struct rule *rule = &rules[index];
    if ((rule->call >= 0 && rule->call != (int)call) || (rule->kind >= 0 && rule->kind != (int)kind)) continue;
    int count = atomic_fetch_add(&rule->met, 1) + 1;
    bool is_meant = count == rule->nth || (rule->later && count > rule->nth);
    if (rule->period > 0) is_meant = count % rule->period == 0;
    if (found == NULL && is_meant) found = rule;
  }
  if (log_file >= 0) {
    char line[64], mark[8] = "";
    int kept = errno;
    if (found != NULL) snprintf(mark, sizeof mark, " !%d", (int)(found - rules));
    int length = snprintf(line, sizeof line, "%s %s%s\n", names[call], kinds[kind], mark);
    if (REAL(write)(log_file, line, (size_t)length) < 0) refuse("the log");
    errno = kept;
  }
  if (found != NULL && !found->after && found->action >= KILL) end_it(found->action);
  return found;
}

// Runs `body` as the rule that was met says. -1 and errno say that it failed.
#define CARRY_OUT(meeting, body, skipped)                                    \
  do {                                                                       \
    struct rule *met_rule = (meeting);                                       \
    if (met_rule != NULL && !met_rule->after) {                              \
      if (met_rule->action == SKIP) return skipped;                          \
      if (met_rule->action == FAIL) return fail(met_rule);                   \
    }                                                                        \
    __typeof__(body) result = (body);                                        \
    if (met_rule != NULL && met_rule->after) {                               \
      if (met_rule->action >= KILL) end_it(met_rule->action);                \
      if (met_rule->action == FAIL) return fail(met_rule);                   \
    }                                                                        \
    return result;                                                           \
  } while (0)

static int fail(const struct rule *met) {
  errno = met->code;
  return -1;
}

#define LENGTH(met, count) ((met) != NULL && (met)->action == SHORT && (count) > 1 ? 1 : (count))

#define OPEN_AS(function)                                                                         \
  int function(const char *path, int flags, ...) {                                                \
    va_list more;                                                                                 \
    va_start(more, flags);                                                                        \
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;                              \
    va_end(more);                                                                                 \
    CARRY_OUT(meet(OPEN, kind_at(AT_FDCWD, path)), REAL(function)(path, flags, mode), -1);        \
  }
OPEN_AS(open)
OPEN_AS(open64)

#define OPENAT_AS(function)                                                                                \
  int function(int directory, const char *path, int flags, ...) {                                          \
    va_list more;                                                                                          \
    va_start(more, flags);                                                                                 \
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;                                       \
    va_end(more);                                                                                          \
    CARRY_OUT(meet(OPEN, kind_at(directory, path)), REAL(function)(directory, path, flags, mode), -1);     \
  }
OPENAT_AS(openat)
OPENAT_AS(openat64)

#define PWRITE_AS(function)                                                                                \
  ssize_t function(int descriptor, const void *bytes, size_t count, off_t offset) {                        \
    struct rule *rule = meet(PWRITE, kind_of(descriptor));                                                 \
    CARRY_OUT(rule, REAL(function)(descriptor, bytes, LENGTH(rule, count), offset), (ssize_t)count);       \
  }
PWRITE_AS(pwrite)
PWRITE_AS(pwrite64)

#define PREAD_AS(function)                                                                                 \
  ssize_t function(int descriptor, void *bytes, size_t count, off_t offset) {                              \
    struct rule *rule = meet(PREAD, kind_of(descriptor));                                                  \
    CARRY_OUT(rule, REAL(function)(descriptor, bytes, LENGTH(rule, count), offset), (ssize_t)count);       \
  }
PREAD_AS(pread)
PREAD_AS(pread64)

int fdatasync(int descriptor) { CARRY_OUT(meet(FDATASYNC, kind_of(descriptor)), REAL(fdatasync)(descriptor), 0); }

int fsync(int descriptor) { CARRY_OUT(meet(FSYNC, kind_of(descriptor)), REAL(fsync)(descriptor), 0); }

#define FALLOCATE_AS(function)                                                                             \
  int function(int descriptor, int mode, off_t offset, off_t length) {                                     \
    CARRY_OUT(meet(FALLOCATE, kind_of(descriptor)), REAL(function)(descriptor, mode, offset, length), 0);  \
  }
FALLOCATE_AS(fallocate)
FALLOCATE_AS(fallocate64)

#define FTRUNCATE_AS(function)                                                                             \
  int function(int descriptor, off_t length) {                                                             \
    CARRY_OUT(meet(FTRUNCATE, kind_of(descriptor)), REAL(function)(descriptor, length), 0);                \
  }
FTRUNCATE_AS(ftruncate)
FTRUNCATE_AS(ftruncate64)

int renameat(int from, const char *name, int to, const char *new_name) {
  CARRY_OUT(meet(RENAME, kind_at(from, name)), REAL(renameat)(from, name, to, new_name), 0);
}

int renameat2(int from, const char *name, int to, const char *new_name, unsigned flags) {
  CARRY_OUT(meet(RENAME, kind_at(from, name)), REAL(renameat2)(from, name, to, new_name, flags), 0);
}

int linkat(int from, const char *name, int to, const char *new_name, int flags) {
  CARRY_OUT(meet(LINK, kind_at(from, name)), REAL(linkat)(from, name, to, new_name, flags), 0);
}

int unlinkat(int directory, const char *name, int flags) {
  CARRY_OUT(meet(UNLINK, kind_at(directory, name)), REAL(unlinkat)(directory, name, flags), 0);
}

// The descriptor is gone, whatever close says.
int close(int descriptor) {
  struct rule *rule = meet(CLOSE, kind_of(descriptor));
  int result = REAL(close)(descriptor);
  if (rule != NULL && rule->action >= KILL) end_it(rule->action);
  if (rule != NULL && rule->action == FAIL) return fail(rule);
  return result;
}

int fchmod(int descriptor, mode_t mode) {
  CARRY_OUT(meet(FCHMOD, kind_of(descriptor)), REAL(fchmod)(descriptor, mode), 0);
}

int futimens(int descriptor, const struct timespec times[2]) {
  CARRY_OUT(meet(FUTIMENS, kind_of(descriptor)), REAL(futimens)(descriptor, times), 0);
}

int flock(int descriptor, int operation) {
  CARRY_OUT(meet(FLOCK, kind_of(descriptor)), REAL(flock)(descriptor, operation), 0);
}

int fstat(int descriptor, struct stat *status) {
  CARRY_OUT(meet(STAT, kind_of(descriptor)), REAL(fstat)(descriptor, status), 0);
}

int fstatat(int directory, const char *name, struct stat *status, int flags) {
  CARRY_OUT(meet(STAT, kind_at(directory, name)), REAL(fstatat)(directory, name, status, flags), 0);
}

// Gives its error instead of setting errno.
int posix_fadvise(int descriptor, off_t offset, off_t length, int advice) {
  struct rule *rule = meet(FADVISE, kind_of(descriptor));
  if (rule != NULL && rule->action == SKIP) return 0;
  int result = REAL(posix_fadvise)(descriptor, offset, length, advice);
  if (rule != NULL && rule->action >= KILL) end_it(rule->action);
  return rule != NULL && rule->action == FAIL ? rule->code : result;
}
