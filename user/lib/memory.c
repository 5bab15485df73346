/* SPDX-License-Identifier: BSD-2-Clause */
#include "user/lib/memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Paths are static, as the stack of a thread may be small: all is called under ovt_lock. */

/* The two versions of cgroups (Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst).
 * Both count the page cache, which is given up when memory is short. */
struct version {
	const char *filesystem, *controller; /* "": one hierarchy for all controllers */
	const char *limit, *usage, *cache[2];
};
static const struct version versions[] = {
	{"cgroup2", "", "memory.max", "memory.current", {"inactive_file", "active_file"}},
	{"cgroup",
	 "memory",
	 "memory.limit_in_bytes",
	 "memory.usage_in_bytes",
	 {"total_inactive_file", "total_active_file"}},
};

static FILE *open_in(const char *directory, const char *name)
{
	static char path[PATH_MAX];
	int length = snprintf(path, sizeof path, "%s/%s", directory, name);
	return length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
}

/* False where there is none; also for "max". */
static bool read_number(const char *directory, const char *name, unsigned long long *number)
{
	FILE *file = open_in(directory, name);
	if (!file)
		return false;
	bool found = fscanf(file, "%llu", number) == 1;
	fclose(file);
	return found;
}

/* The sum of those of the two names that "NAME VALUE" and "NAME: VALUE" lines of a file give. */
static unsigned long long sum_of(FILE *file, const char *const names[2], bool *found)
{
	char line[256], name[128];
	unsigned long long sum = 0, value;
	*found = false;
	while (fgets(line, sizeof line, file)) {
		if (sscanf(line, "%127[^: ]%*[: ]%llu", name, &value) != 2)
			continue;
		for (int i = 0; i < 2; i++) {
			if (!names[i] || strcmp(name, names[i]) != 0)
				continue;
			sum += value;
			*found = true;
		}
	}
	return sum;
}

/* What one group can give. A part stays with the program, lest its next allocation kill it. */
static size_t room_of(const char *group, const struct version *version)
{
	enum { KEPT = 16 }; /* one in so many */
	unsigned long long limit, usage, cache = 0;
	if (!read_number(group, version->limit, &limit) ||
	    !read_number(group, version->usage, &usage))
		return SIZE_MAX;
	FILE *file = open_in(group, "memory.stat");
	if (file) {
		bool found;
		cache = sum_of(file, version->cache, &found);
		fclose(file);
	}
	usage -= cache < usage ? cache : usage;
	unsigned long long room = usage < limit ? limit - usage : 0;
	room -= room / KEPT;
	return room < SIZE_MAX ? (size_t)room : SIZE_MAX;
}

static bool in_list(const char *list, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, word, length) == 0 && strchr(",\n", at[length]))
			return true; /* strchr finds the terminating null too */
	}
	return false;
}

/* The path of this process in a hierarchy, into path[PATH_MAX]. */
static bool own_group(const char *proc, const struct version *version, char *path)
{
	FILE *file = open_in(proc, "cgroup");
	if (!file)
		return false;
	char *line = NULL;
	size_t size = 0;
	bool found = false;
	while (!found && getline(&line, &size, file) > 0) {
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = '\0';
		controllers++;
		group[strcspn(group, "\n")] = '\0';
		found = (*version->controller ? in_list(controllers, version->controller)
					      : !*controllers) &&
			*group == '/' && strlen(group) < PATH_MAX;
		if (found)
			strcpy(path, group);
	}
	free(line);
	fclose(file);
	return found;
}

/* Where the group lies below a mount that shows the hierarchy from `root` on; null if not there. */
static const char *below(const char *group, const char *root)
{
	size_t length = strlen(root);
	if (strncmp(group, "/..", 3) == 0)
		return NULL; /* outside the namespace */
	if (strncmp(root, "/..", 3) == 0)
		return ""; /* a group that all of the namespace is in */
	if (strcmp(root, "/") == 0)
		return strcmp(group, "/") == 0 ? "" : group;
	bool inside = strncmp(group, root, length) == 0 && (!group[length] || group[length] == '/');
	return inside ? group + length : NULL;
}

/* mountinfo has blanks as \040, and so on. */
static void unescape(char *text)
{
	char *to = text;
	for (const char *from = text; *from; to++) {
		if (*from == '\\' && strspn(from + 1, "01234567") >= 3) {
			*to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* The least that any group from this one up to the mount point has. `path`: PATH_MAX bytes that
 * begin with the mount point. */
static size_t room_up_from(char *path, const char *group, const struct version *version)
{
	size_t mount = strlen(path), room = SIZE_MAX;
	if (mount + strlen(group) >= PATH_MAX)
		return SIZE_MAX;
	strcat(path, group);
	for (;;) {
		size_t here = room_of(path, version);
		if (here < room)
			room = here;
		if (strlen(path) <= mount)
			return room;
		*strrchr(path + mount, '/') = '\0';
	}
}

/* What a mount, as a line of mountinfo describes it, says. */
static size_t room_in_mount(const char *proc, const char *line)
{
	static char root[PATH_MAX], point[PATH_MAX], group[PATH_MAX];
	char filesystem[32], options[512];
	_Static_assert(PATH_MAX == 4096, "the widths below");
	const char *rest = strstr(line, " - ");
	if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2 ||
	    sscanf(rest, " - %31s %*s %511s", filesystem, options) != 2)
		return SIZE_MAX;
	unescape(root);
	unescape(point);
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
		const struct version *version = &versions[i];
		if (strcmp(filesystem, version->filesystem) != 0 ||
		    (*version->controller && !in_list(options, version->controller)) ||
		    !own_group(proc, version, group))
			continue;
		const char *path = below(group, root);
		if (path)
			return room_up_from(point, path, version);
	}
	return SIZE_MAX;
}

size_t ovt_memory_of_cgroups(const char *proc)
{
	FILE *file = open_in(proc, "mountinfo");
	if (!file)
		return SIZE_MAX;
	char *line = NULL;
	size_t size = 0, room = SIZE_MAX;
	while (getline(&line, &size, file) > 0) {
		size_t here = room_in_mount(proc, line);
		if (here < room)
			room = here;
	}
	free(line);
	fclose(file);
	return room;
}

static size_t memory_of_machine(void)
{
	static const char *const names[2] = {"MemAvailable", NULL};
	FILE *file = fopen("/proc/meminfo", "re");
	if (!file)
		return SIZE_MAX;
	bool found;
	unsigned long long kib = sum_of(file, names, &found);
	fclose(file);
	return found && kib < SIZE_MAX / 1024 ? (size_t)kib * 1024 : SIZE_MAX;
}

size_t ovt_memory_available(void)
{
	size_t machine = memory_of_machine(), cgroups = ovt_memory_of_cgroups("/proc/self");
	return machine < cgroups ? machine : cgroups;
}
