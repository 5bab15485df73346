/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Says in which cgroup a thread is: when it is created, in the snapshot, when it is first named
 * beside a traced one, and when it is put into another cgroup. A switch costs nothing. The path of
 * a cgroup is sent once, when a thread in it is first met, because the cgroup may vanish soon.
 */

/* The id of a version 1 hierarchy whose cgroups count for threads that are in the root of
 * version 2; 0: none. The loader sets it before loading. */
const volatile __u32 old_hierarchy = 0;

/* Cgroups whose path was sent, by key. */
MAP(HASH, 0, sent_cgroups, __u64, __u8, CAPTURE_CGROUPS);
RING(cgroup_paths, CAPTURE_CGROUP_RING);

/* Before 6.15, 741c10b096bc "kernfs: Use RCU to access kernfs_node::parent.". */
struct kernfs_node___parent {
	struct kernfs_node *parent;
} __attribute__((preserve_access_index));

static __always_inline struct kernfs_node *parent_of(struct kernfs_node *node)
{
	struct kernfs_node___parent *old = (void *)node;

	if (bpf_core_field_exists(old->parent))
		return BPF_CORE_READ(old, parent);
	return BPF_CORE_READ(node, __parent);
}

static __always_inline __u64 key_of_cgroup(struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, kn, id) << CAPTURE_CGROUP_KEY_SHIFT |
	       (__u8)BPF_CORE_READ(cgroup, root, hierarchy_id);
}

/* Sends the parts of a path, the last one first. Not static, so that the verifier looks at it once.
 */
__noinline int send_cgroup_path(__u64 address, __u64 key)
{
	struct cgroup *cgroup = (void *)address;
	struct cgroup_record *r = bpf_ringbuf_reserve(&cgroup_paths, sizeof(*r), 0);
	struct kernfs_node *node, *parent;
	__u32 used = 0;

	if (!r)
		return 0;
	r->key = key;
	node = BPF_CORE_READ(cgroup, kn);
	for (int n = 0; n < CAPTURE_CGROUP_LEVELS; n++) {
		long bytes;

		parent = parent_of(node);
		if (!parent || used >= CAPTURE_CGROUP_PATH)
			break;
		bytes = bpf_probe_read_kernel_str(r->text + (used & (CAPTURE_CGROUP_PATH - 1)),
						  CAPTURE_CGROUP_NAME, BPF_CORE_READ(node, name));
		if (bytes <= 0)
			break;
		used += bytes;
		node = parent;
	}
	r->bytes = used;
	r->cut = parent_of(node) != NULL; /* not the root of the hierarchy */
	bpf_ringbuf_submit(r, 0);
	return 1;
}

static __always_inline struct cgroup *cgroup_of(__u64 set)
{
	struct cgroup *cgroup = (void *)cgroup_in(set, 0), *old;

	if (!old_hierarchy || BPF_CORE_READ(cgroup, level))
		return cgroup;
	old = (void *)cgroup_in(set, old_hierarchy);
	return old && BPF_CORE_READ(old, level) ? old : cgroup;
}

/* Returns the key of the cgroup of the threads with this set (an address), whose path is sent. Not
 * static, so that the verifier looks at it once. */
__noinline __u64 name_cgroup(__u64 set)
{
	struct cgroup *cgroup = cgroup_of(set);
	__u64 key;
	__u8 sent = 1;

	if (!cgroup)
		return 0;
	key = key_of_cgroup(cgroup);
	if (bpf_map_lookup_elem(&sent_cgroups, &key))
		return key;
	if (bpf_map_update_elem(&sent_cgroups, &key, &sent, BPF_NOEXIST))
		return key; /* another CPU sends it, or there are too many */
	if (!send_cgroup_path((__u64)cgroup, key))
		bpf_map_delete_elem(&sent_cgroups, &key); /* the next thread in it sends it */
	return key;
}

static __always_inline void fill_cgroup(struct life_record *r, struct task_struct *p)
{
	r->cgroup = BPF_CORE_READ(p, flags) & PF_KTHREAD
			    ? CAPTURE_KERNEL_CGROUP
			    : name_cgroup((__u64)BPF_CORE_READ(p, cgroups));
}

/* Logs that `p` was put into another cgroup. `all`: 1 if all threads of its process were, otherwise
 * 0. */
static __noinline int log_cgroup(struct task_struct *p, __u32 all)
{
	struct life_record r;

	if (!p || (!all && !is_traced(p->pid)))
		return 0;
	life_fill(&r, LIFE_CGROUP, p, all);
	fill_cgroup(&r, p);
	life_send(&r);
	return 0;
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_cgroup_end, struct cgroup *cgroup)
{
	__u64 key = key_of_cgroup(cgroup);

	bpf_map_delete_elem(&sent_cgroups, &key);
	return 0;
}
