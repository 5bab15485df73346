/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds out whether a thread is in a chosen cgroup, or in one inside it. Cgroups that are chosen by
 * name are found when they are made, before a thread can be in them.
 */
#include <ovnitrace/selection.h>

const volatile __u32 cgroup_names_used = 0; /* set by the loader before loading */

/* The loader gives both their sizes if cgroups are chosen: SELECT_CGROUPS and SELECT_CGROUP_NAMES.
 * It fills the first from the end, and on_cgroup_mkdir() fills it from the start. */
ARRAY(chosen_cgroups, struct chosen_cgroup, 1);
ARRAY(cgroup_names, struct cgroup_name, 1);

/* The path of the cgroup that is being made. The kernel has a lock that lets one be made at a time.
 */
struct cgroup_path {
	__u32 hierarchy;
	__u32 length;
	__u32 last; /* where its last part starts */
	char text[SELECT_CGROUP_LENGTH];
};
ARRAY(cgroup_path, struct cgroup_path, 1);

__u32 cgroups_left_out = 0; /* found no free place in chosen_cgroups */

/* struct cgroup before 6.1, 7f203bc89eb6 "cgroup: Replace cgroup->ancestor_ids[] with
 * ->ancestors[]". */
struct cgroup___ids {
	__u64 ancestor_ids[1];
} __attribute__((preserve_access_index));

/* Returns the id of the ancestor of `cgroup`, or of `cgroup` itself, at depth `level` (0: the
 * root); 0 if `cgroup` is not that deep. */
static __always_inline __u64 id_at_level(struct cgroup *cgroup, __u32 level)
{
	struct cgroup___ids *old = (void *)cgroup;
	struct cgroup *ancestor = 0;
	__u64 id = 0;

	if (!cgroup || (__u32)BPF_CORE_READ(cgroup, level) < level)
		return 0;
	if (bpf_core_field_exists(old->ancestor_ids)) {
		bpf_probe_read_kernel(&id, sizeof(id),
				      (char *)cgroup + bpf_core_field_offset(old->ancestor_ids) +
					      level * sizeof(id));
		return id;
	}
	bpf_probe_read_kernel(&ancestor, sizeof(void *),
			      (char *)cgroup + bpf_core_field_offset(cgroup->ancestors) +
				      level * sizeof(void *));
	return BPF_CORE_READ(ancestor, kn, id);
}

/* Returns the address of the cgroup that a thread's set (an address, too) has in a hierarchy; 0:
 * none. This and set_fits() are not static, so that the verifier looks at them once. */
__noinline __u64 cgroup_in(__u64 address, __u32 hierarchy)
{
	const __u64 offset = bpf_core_field_offset(struct cgrp_cset_link, cgrp_link);
	struct css_set *set = (void *)address;
	struct list_head *first = (void *)(address + bpf_core_field_offset(set->cgrp_links));
	struct list_head *at;

	if (!hierarchy)
		return (__u64)BPF_CORE_READ(set, dfl_cgrp);
	at = BPF_CORE_READ(first, next);
	for (int n = 0; n < 32 && at && at != first; n++) {
		struct cgrp_cset_link *link = (void *)((char *)at - offset);
		struct cgroup *cgroup = BPF_CORE_READ(link, cgrp);

		if ((__u32)BPF_CORE_READ(cgroup, root, hierarchy_id) == hierarchy)
			return (__u64)cgroup;
		at = BPF_CORE_READ(at, next);
	}
	return 0;
}

__noinline int set_fits(__u64 set)
{
	for (__u32 n = 0; n < SELECT_CGROUPS; n++) {
		__u32 key = n;
		volatile struct chosen_cgroup *one = bpf_map_lookup_elem(&chosen_cgroups, &key);

		if (!one || !one->id)
			continue;
		if (id_at_level((void *)cgroup_in(set, one->hierarchy), one->level) == one->id)
			return 1;
	}
	return 0;
}

static __always_inline bool cgroup_fits(struct task_struct *p)
{
	return set_fits((__u64)BPF_CORE_READ(p, cgroups));
}

/* Returns whether the cgroup that is being made has a name that was given. Not static, so that the
 * verifier looks at it once. */
__noinline int has_name(__u32 which)
{
	__u32 zero = 0, at, length;
	struct cgroup_path *path = bpf_map_lookup_elem(&cgroup_path, &zero);
	struct cgroup_name *name = bpf_map_lookup_elem(&cgroup_names, &which);

	if (!path || !name ||
	    (name->hierarchy != SELECT_ANY_HIERARCHY && name->hierarchy != path->hierarchy))
		return 0;
	at = name->anywhere ? path->last : 0;
	length = name->length;
	if (name->open ? at + length > path->length : at + length != path->length)
		return 0;
	for (__u32 n = 0; n < SELECT_CGROUP_LENGTH && n < length; n++)
		if (path->text[(at + n) & (SELECT_CGROUP_LENGTH - 1)] != name->text[n])
			return 0;
	return 1;
}

static __noinline int choose_cgroup(struct cgroup *cgroup)
{
	for (__u32 n = 0; n < SELECT_CGROUPS; n++) {
		__u32 key = n;
		struct chosen_cgroup *one = bpf_map_lookup_elem(&chosen_cgroups, &key);

		if (!one || one->id)
			continue;
		one->hierarchy = BPF_CORE_READ(cgroup, root, hierarchy_id);
		one->level = BPF_CORE_READ(cgroup, level);
		__sync_lock_test_and_set(&one->id, BPF_CORE_READ(cgroup, kn, id));
		return 0;
	}
	cgroups_left_out++;
	return 0;
}

SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(on_cgroup_mkdir, struct cgroup *cgroup, const char *text)
{
	__u32 zero = 0;
	struct cgroup_path *path = bpf_map_lookup_elem(&cgroup_path, &zero);
	long got;

	if (!path)
		return 0;
	got = bpf_probe_read_kernel_str(path->text, sizeof(path->text), text);
	if (got <= 0)
		return 0;
	path->length = got - 1;
	path->hierarchy = BPF_CORE_READ(cgroup, root, hierarchy_id);
	path->last = 0;
	for (__u32 n = 0; n < SELECT_CGROUP_LENGTH; n++) {
		if (!path->text[n])
			break;
		if (path->text[n] == '/')
			path->last = n + 1;
	}
	for (__u32 n = 0; n < SELECT_CGROUP_NAMES && n < cgroup_names_used; n++)
		if (has_name(n))
			return choose_cgroup(cgroup);
	return 0;
}

/* Frees the place of a cgroup. No thread is in it any more. */
SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_cgroup_rmdir, struct cgroup *cgroup, const char *text)
{
	__u64 id = BPF_CORE_READ(cgroup, kn, id);
	__u32 hierarchy = BPF_CORE_READ(cgroup, root, hierarchy_id);

	for (__u32 n = 0; n < SELECT_CGROUPS; n++) {
		__u32 key = n;
		struct chosen_cgroup *one = bpf_map_lookup_elem(&chosen_cgroups, &key);

		if (one && one->id == id && one->hierarchy == hierarchy)
			one->id = 0;
	}
	return 0;
}
