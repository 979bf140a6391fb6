// SPDX-License-Identifier: GPL-2.0
/*
 * kernel.c - what kernel.h promises and a header cannot hold
 */
#include "kernel.h"
#include "kernel_run.h"

unsigned long jiffies;
unsigned int kernel_locks;
unsigned int kernel_rcu;
long kernel_objects;

static struct kernel_task task;
struct kernel_task *current = &task;
struct user_namespace init_user_ns;

/* Memory */

void *kernel_alloc(size_t size, gfp_t gfp, bool zero)
{
	void *memory;

	if (gfp & GFP_KERNEL)
		might_sleep();
	memory = zero ? calloc(1, size) : malloc(size);
	fuzz_assert(memory);
	kernel_objects++;
	return memory;
}

void kernel_free(const void *memory)
{
	kernel_objects -= !!memory;
	free((void *)memory);
}

struct kmem_cache *kernel_cache(size_t size)
{
	static struct kmem_cache caches[8];
	static u32 count;

	fuzz_assert(count < ARRAY_SIZE(caches));
	caches[count].size = size;
	return &caches[count++];
}

struct page *kernel_page(const void *bytes, size_t length, size_t size)
{
	struct page *page = kzalloc(sizeof(*page), 0);

	page->refs = 1;
	page->size = size;
	/* No byte more than came: bytes behind them are not to be read. */
	page->memory = kmalloc(length, 0);
	memcpy(page->memory, bytes, length);
	return page;
}

void kernel_page_put(struct page *page)
{
	fuzz_assert(page->refs);
	if (--page->refs)
		return;
	kfree(page->memory);
	kfree(page);
}

size_t strscpy(char *to, const char *from, size_t size)
{
	return snprintf(to, size, "%s", from);
}

void *memchr_inv(const void *p, int c, size_t size)
{
	const u8 *byte = p;

	for (; size--; byte++)
		if (*byte != c)
			return (void *)byte;
	return NULL;
}

size_t kernel_copy_from(void *to, size_t len, struct iov_iter *from)
{
	size_t n = min(len, from->count);

	memcpy(to, from->bytes, n);
	iov_iter_advance(from, n);
	return n;
}

/* RCU */

#define GRACE_MAX 4096U

static struct rcu_head *grace[GRACE_MAX];
static u32 grace_count;

void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head))
{
	fuzz_assert(grace_count < GRACE_MAX);
	head->func = func;
	grace[grace_count++] = head;
}

static void free_memory(struct rcu_head *head)
{
	kfree(head->memory);
}

void kernel_free_later(struct rcu_head *head, void *memory)
{
	head->memory = memory;
	call_rcu(head, free_memory);
}

void kernel_grace_period(void)
{
	u32 i;

	fuzz_assert(!kernel_rcu);
	for (i = 0; i < grace_count; i++)
		grace[i]->func(grace[i]);
	grace_count = 0;
}

/* Tables */

static u32 slot_of(const struct xarray *xa, u32 index)
{
	u32 low = 0, high = xa->count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (xa->slots[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct xarray *xa, u32 slot, u32 index)
{
	return slot < xa->count && xa->slots[slot].index == index;
}

void *kernel_xa_load(const struct xarray *xa, u32 index)
{
	u32 slot = slot_of(xa, index);

	return is_at(xa, slot, index) ? xa->slots[slot].entry : NULL;
}

static void make_room(struct xarray *xa)
{
	if (xa->count < xa->room)
		return;
	xa->room = xa->room ? 2 * xa->room : 4;
	xa->slots = realloc(xa->slots, sizeof(*xa->slots) * xa->room);
	fuzz_assert(xa->slots);
}

void *kernel_xa_store(struct xarray *xa, u32 index, void *entry)
{
	u32 slot = slot_of(xa, index);
	void *old = NULL;

	if (is_at(xa, slot, index)) {
		old = xa->slots[slot].entry;
	} else {
		make_room(xa);
		memmove(xa->slots + slot + 1, xa->slots + slot,
			(xa->count++ - slot) * sizeof(*xa->slots));
	}
	xa->slots[slot] = (struct kernel_slot){ index, entry };
	return old;
}

void *kernel_xa_erase(struct xarray *xa, u32 index)
{
	u32 slot = slot_of(xa, index);
	void *old;

	if (!is_at(xa, slot, index))
		return NULL;
	old = xa->slots[slot].entry;
	memmove(xa->slots + slot, xa->slots + slot + 1,
		(--xa->count - slot) * sizeof(*xa->slots));
	return old;
}

void *kernel_xa_next(const struct xarray *xa, unsigned long *index)
{
	u32 slot = *index > U32_MAX ? xa->count : slot_of(xa, *index);

	if (slot == xa->count)
		return NULL;
	*index = xa->slots[slot].index;
	return xa->slots[slot].entry;
}

int kernel_xa_alloc(struct xarray *xa, u32 *id, u32 *next)
{
	do {
		*next = rch_seq_after(*next);
		*id = *next;
	} while (kernel_xa_load(xa, *id));
	return 0;
}

void kernel_xa_destroy(struct xarray *xa)
{
	free(xa->slots);
	memset(xa, 0, sizeof(*xa));
}

/* Trees */

struct rb_node *rb_find(const void *key, const struct rb_root *tree,
			int (*cmp)(const void *key, const struct rb_node *node))
{
	struct rb_node *node = tree->rb_node;

	while (node && cmp(key, node))
		node = node->next;
	return node;
}

struct rb_node *rb_find_add(struct rb_node *fresh, struct rb_root *tree,
			    int (*cmp)(struct rb_node *fresh, const struct rb_node *node))
{
	struct rb_node *node = tree->rb_node;

	while (node && cmp(fresh, node))
		node = node->next;
	if (node)
		return node;
	fresh->next = tree->rb_node;
	tree->rb_node = fresh;
	return NULL;
}

void rb_erase(struct rb_node *node, struct rb_root *tree)
{
	struct rb_node **at = &tree->rb_node;

	while (*at != node) {
		fuzz_assert(*at);
		at = &(*at)->next;
	}
	*at = node->next;
}

/* Wait queues */

void add_wait_queue(wait_queue_head_t *queue, wait_queue_entry_t *entry)
{
	list_add_tail(&entry->entry, &queue->head);
}

void remove_wait_queue(wait_queue_head_t *queue, wait_queue_entry_t *entry)
{
	fuzz_assert(waitqueue_active(queue));
	list_del(&entry->entry);
}

void kernel_wake_locked(wait_queue_head_t *queue, __poll_t mask)
{
	wait_queue_entry_t *entry, *tmp;

	lockdep_assert_held(&queue->lock);
	list_for_each_entry_safe(entry, tmp, &queue->head, entry)
		entry->func(entry, 0, 0, (void *)(unsigned long)mask);
}

void kernel_wake(wait_queue_head_t *queue, __poll_t mask)
{
	spin_lock(&queue->lock);
	kernel_wake_locked(queue, mask);
	spin_unlock(&queue->lock);
}

/* Works */

static struct list_head works = { &works, &works };

bool kernel_queue(struct work_struct *work)
{
	if (work->pending)
		return false;
	work->pending = true;
	list_add_tail(&work->entry, &works);
	return true;
}

/* Return: whether it was pending, as of one that is queued again all do. */
bool kernel_requeue(struct work_struct *work)
{
	return !kernel_queue(work);
}

bool kernel_cancel(struct work_struct *work)
{
	bool was = work->pending;

	work->pending = false;
	if (was)
		list_del(&work->entry);
	return was;
}

bool kernel_run(struct work_struct *work)
{
	if (!kernel_cancel(work))
		return false;
	might_sleep();
	work->func(work);
	fuzz_assert(!kernel_locks && !kernel_rcu);
	return true;
}

bool kernel_run_next(u32 skip)
{
	struct work_struct *work;

	list_for_each_entry(work, &works, entry) {
		if (skip--)
			continue;
		return kernel_run(work);
	}
	return false;
}

/* Timers */

static struct list_head timers = { &timers, &timers };

void kernel_stop_timer(struct timer_list *timer)
{
	if (timer->pending)
		list_del(&timer->entry);
	timer->pending = false;
}

void kernel_start_timer(struct timer_list *timer, unsigned long when)
{
	kernel_stop_timer(timer);
	timer->expires = when;
	timer->pending = true;
	list_add_tail(&timer->entry, &timers);
}

/* Return: whether one was due. */
static bool run_timer(void)
{
	struct timer_list *timer;

	list_for_each_entry(timer, &timers, entry) {
		if (time_before(jiffies, timer->expires))
			continue;
		kernel_stop_timer(timer);
		timer->func(timer);
		return true;
	}
	return false;
}

void kernel_time_goes(unsigned long by)
{
	jiffies += by;
	while (run_timer())
		fuzz_assert(!kernel_locks && !kernel_rcu);
}
