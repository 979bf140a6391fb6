/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernel.h - as much of the kernel as the module's code needs to run in a program on the host
 *
 * There is one thread. Softirq, works and timers run when the fuzzer says so, one behind the other;
 * so a lock is there to be seen held where it must be, and free where a caller may sleep. A wait
 * that has nothing to wait for is a defect of the fuzzer's script. Memory is the C library's, so
 * that the sanitizers see each use after the end; kfree_rcu() frees when a step of the script is
 * over.
 *
 * run.sh puts an empty file in the place of each header of the kernel, and includes this one ahead
 * of all others.
 */
#ifndef _RCH_FUZZ_KERNEL_H
#define _RCH_FUZZ_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <sys/uio.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <netinet/in.h>

#include "fuzz.h"

/* Compiler */
#define __user
#define __aligned(n) __attribute__((aligned(n)))
#define ____cacheline_aligned_in_smp
#define noinline_for_stack __attribute__((noinline))
#define fallthrough __attribute__((fallthrough))
#define likely(x) (x)
#define unlikely(x) (x)
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, v) ((x) = (v))
#define smp_store_release(p, v) (*(p) = (v))
#define synchronize_rcu() might_sleep()
#define smp_load_acquire(p) (*(p))
#define smp_mb() do {} while (0)
#define smp_mb__after_atomic() do {} while (0)
#define cmpxchg_release(p, old, new)						\
({										\
	typeof(*(p)) __was = *(p);						\
	if (__was == (old))							\
		*(p) = (new);							\
	__was;									\
})
#define container_of(p, type, member)						\
	((type *)((char *)(p) - offsetof(type, member)))
#define BUILD_BUG_ON(cond) _Static_assert(!(cond), #cond)
#define EXPORT_SYMBOL_GPL(x)

/* Numbers */
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min3(a, b, c) min(min(a, b), c)
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define clamp(x, low, high) min(max(x, low), high)
#define swap(a, b) do { typeof(a) __t = (a); (a) = (b); (b) = __t; } while (0)
#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define GENMASK(high, low) ((~0U >> (31 - (high))) & (~0U << (low)))
#define FIELD_PREP(mask, value) (((u32)(value) << __builtin_ctz(mask)) & (mask))
#define FIELD_GET(mask, value) (((u32)(value) & (mask)) >> __builtin_ctz(mask))
#define __ffs(x) __builtin_ctzl(x)
#define DIV_ROUND_UP_ULL(a, b) (((a) + (b) - 1) / (b))
#define struct_size(p, member, n) (sizeof(*(p)) + sizeof((p)->member[0]) * (n))
#define struct_size_t(type, member, n) struct_size((type *)NULL, member, n)
#define PAGE_SIZE 4096UL
#define PAGE_SHIFT 12
#define SZ_1M 0x100000UL
#define totalram_pages() (1UL << 18)
#define offset_in_page(p) ((unsigned long)(p) & (PAGE_SIZE - 1))
#define cpu_to_be32(x) htobe32(x)
#define NSEC_PER_USEC 1000L

/* A thing that must not be */
#define WARN_ON_ONCE(cond)							\
({										\
	bool __bad = !!(cond);							\
	if (__bad)								\
		fuzz_broken("WARN_ON_ONCE(" #cond ")", __FILE__, __LINE__);	\
	__bad;									\
})
#define pagefault_disable() do {} while (0)
#define pagefault_enable() do {} while (0)
#define pr_debug(...) do {} while (0)
#define pr_notice_ratelimited(...) do {} while (0)

/* Errors in pointers */
#define ERR_PTR(e) ((void *)(long)(e))
#define PTR_ERR(p) ((long)(p))
#define IS_ERR(p) ((unsigned long)(p) >= (unsigned long)-4095)
#define IS_ERR_OR_NULL(p) (!(p) || IS_ERR(p))
#define PTR_ERR_OR_ZERO(p) (IS_ERR(p) ? (int)PTR_ERR(p) : 0)
#define ERESTARTSYS 512
#define ERESTARTNOHAND 514

/* Time stands still but for what the script lets pass. */
extern unsigned long jiffies;
typedef s64 ktime_t;
#define HZ 1000
#define MAX_SCHEDULE_TIMEOUT LONG_MAX
#define msecs_to_jiffies(ms) ((unsigned long)(ms))
#define MAX_JIFFY_OFFSET (~0UL >> 2)
#define jiffies_to_msecs(j) ((unsigned int)(j))
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)
#define time_before(a, b) time_after(b, a)
#define ktime_get() ((ktime_t)jiffies * 1000000)
#define ktime_us_delta(a, b) (((a) - (b)) / 1000)

/* Locks: how many are held, and contexts that may not sleep */
extern unsigned int kernel_locks;
extern unsigned int kernel_rcu;
typedef struct spinlock { bool held; } spinlock_t;
struct mutex { bool held; };
#define mutex_init(m) ((m)->held = false)
#define mutex_lock(m) do { might_sleep(); (m)->held = true; } while (0)
#define mutex_unlock(m) ((m)->held = false)

static inline void kernel_lock(bool *held)
{
	fuzz_assert(!*held);
	*held = true;
	kernel_locks++;
}

static inline void kernel_unlock(bool *held)
{
	fuzz_assert(*held);
	*held = false;
	kernel_locks--;
}

#define DEFINE_SPINLOCK(name) spinlock_t name
#define spin_lock_init(l) ((l)->held = false)
#define spin_lock(l) kernel_lock(&(l)->held)
#define spin_unlock(l) kernel_unlock(&(l)->held)
#define spin_lock_bh(l) spin_lock(l)
#define spin_unlock_bh(l) spin_unlock(l)
#define spin_lock_irq(l) spin_lock(l)
#define spin_unlock_irq(l) spin_unlock(l)
#define spin_lock_irqsave(l, flags) ((flags) = 0, spin_lock(l))
#define spin_unlock_irqrestore(l, flags) ((void)(flags), spin_unlock(l))
#define lockdep_assert_held(l) fuzz_assert((l)->held)
#define might_sleep() fuzz_assert(!kernel_locks && !kernel_rcu)
#define cond_resched() might_sleep()
#define rcu_read_lock() ((void)kernel_rcu++)
#define rcu_read_unlock() ((void)kernel_rcu--)

struct rcu_head { void (*func)(struct rcu_head *head); void *memory; };
void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head));
void kernel_free_later(struct rcu_head *head, void *memory);
void kernel_grace_period(void);
#define kfree_rcu(p, member) kernel_free_later(&(p)->member, p)
#define rcu_barrier() kernel_grace_period()

/* Counters and bits */
typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;
#define atomic_read(a) ((a)->counter)
#define atomic_inc(a) ((void)(a)->counter++)
#define atomic_dec(a) ((void)(a)->counter--)
#define atomic_dec_and_test(a) (!--(a)->counter)
#define atomic_try_cmpxchg(a, old, new) ((a)->counter = (new), (void)(old), true)
#define atomic64_read(a) ((a)->counter)
#define atomic64_inc(a) ((void)(a)->counter++)
#define test_bit(bit, p) (!!(*(p) & BIT(bit)))
#define set_bit(bit, p) ((void)(*(p) |= BIT(bit)))
#define clear_bit_unlock(bit, p) ((void)(*(p) &= ~BIT(bit)))

static inline bool kernel_bit(unsigned long *p, int bit, bool to)
{
	bool was = test_bit(bit, p);

	*p = to ? *p | BIT(bit) : *p & ~BIT(bit);
	return was;
}

#define test_and_set_bit_lock(bit, p) kernel_bit(p, bit, true)
#define test_and_clear_bit(bit, p) kernel_bit(p, bit, false)

struct kref { u32 count; };
#define kref_init(k) ((k)->count = 1)

static inline void kref_get(struct kref *k)
{
	fuzz_assert(k->count);
	k->count++;
}

static inline bool kref_get_unless_zero(struct kref *k)
{
	k->count += !!k->count;
	return k->count;
}

static inline bool kref_put(struct kref *k, void (*release)(struct kref *k))
{
	fuzz_assert(k->count);
	if (--k->count)
		return false;
	release(k);
	return true;
}

/* Lists */
struct list_head { struct list_head *next, *prev; };
struct hlist_node { struct hlist_node *next, **pprev; };
#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline void kernel_list_link(struct list_head *prev, struct list_head *next)
{
	fuzz_assert(prev && next);
	prev->next = next;
	next->prev = prev;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

#define list_empty_careful(head) list_empty(head)

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	struct list_head *next = head->next;

	kernel_list_link(entry, next);
	kernel_list_link(head, entry);
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	list_add(entry, head->prev);
}

/* As CONFIG_DEBUG_LIST looks. */
static inline void list_del(struct list_head *entry)
{
	fuzz_assert(entry->prev->next == entry && entry->next->prev == entry);
	kernel_list_link(entry->prev, entry->next);
	entry->next = NULL;
	entry->prev = NULL;
}

static inline void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}

static inline void list_bulk_move_tail(struct list_head *head, struct list_head *first,
				       struct list_head *last)
{
	kernel_list_link(first->prev, last->next);
	kernel_list_link(head->prev, first);
	kernel_list_link(last, head);
}

static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
	if (list_empty(list))
		return;
	kernel_list_link(head->prev, list->next);
	kernel_list_link(list->prev, head);
	INIT_LIST_HEAD(list);
}

#define list_splice_init(list, head) list_splice_tail_init(list, head)

/* The entries of @from up to @last, which may be @from itself: then there are none. */
static inline void list_cut_position(struct list_head *part, struct list_head *from,
				     struct list_head *last)
{
	INIT_LIST_HEAD(part);
	if (last == from)
		return;
	kernel_list_link(part, from->next);
	kernel_list_link(from, last->next);
	kernel_list_link(last, part);
}

static inline void list_replace_init(struct list_head *old, struct list_head *fresh)
{
	INIT_LIST_HEAD(fresh);
	list_splice_tail_init(old, fresh);
}

#define list_is_last(entry, head) ((entry)->next == (head))
#define list_entry(p, type, member) container_of(p, type, member)
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member)				\
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next_entry(p, member) list_entry((p)->member.next, typeof(*(p)), member)
#define list_prev_entry(p, member) list_entry((p)->member.prev, typeof(*(p)), member)
#define list_for_each_entry_from(p, head, member)				\
	for (; &(p)->member != (head); p = list_next_entry(p, member))
#define list_for_each_entry(p, head, member)					\
	for (p = list_first_entry(head, typeof(*(p)), member);			\
	     &(p)->member != (head); p = list_next_entry(p, member))
#define list_for_each_entry_reverse(p, head, member)				\
	for (p = list_last_entry(head, typeof(*(p)), member);			\
	     &(p)->member != (head); p = list_prev_entry(p, member))
#define list_for_each_entry_safe(p, n, head, member)				\
	for (p = list_first_entry(head, typeof(*(p)), member),			\
	     n = list_next_entry(p, member); &(p)->member != (head);		\
	     p = n, n = list_next_entry(n, member))

/* One bucket: the script has few users. */
#define DEFINE_HASHTABLE(name, bits) struct hlist_node *name
#define hash_empty(table) (!(table))
#define hash_add(table, node, key) kernel_hash_add(&(table), node)
#define hash_for_each_possible(table, p, member, key)				\
	for (p = (table) ? container_of(table, typeof(*(p)), member) : NULL; p;	\
	     p = (p)->member.next ? container_of((p)->member.next, typeof(*(p)), member) : NULL)

static inline void kernel_hash_add(struct hlist_node **table, struct hlist_node *node)
{
	node->next = *table;
	node->pprev = table;
	if (node->next)
		node->next->pprev = &node->next;
	*table = node;
}

static inline void hash_del(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

/* Memory */
typedef unsigned int gfp_t;
#define GFP_KERNEL 1U
#define GFP_ATOMIC 2U
#define GFP_KERNEL_ACCOUNT GFP_KERNEL
#define __GFP_NOWARN 0U
#define __GFP_NOFAIL 4U
#define SLAB_ACCOUNT 0

struct kmem_cache { size_t size; };
void kernel_free(const void *memory);
void *kernel_alloc(size_t size, gfp_t gfp, bool zero);
#define kmalloc(size, gfp) kernel_alloc(size, gfp, false)
#define kzalloc(size, gfp) kernel_alloc(size, gfp, true)
#define kvcalloc(n, size, gfp) kernel_alloc((size_t)(n) * (size), gfp, true)
#define kfree(p) kernel_free(p)
#define kvfree(p) kernel_free(p)
#define kmem_cache_alloc(cache, gfp) kmalloc((cache)->size, gfp)
#define kmem_cache_zalloc(cache, gfp) kzalloc((cache)->size, gfp)
#define kmem_cache_free(cache, p) kernel_free(p)
#define kmem_cache_destroy(cache) do {} while (0)
#define KMEM_CACHE(type, flags) kernel_cache(sizeof(struct type))
#define KMEM_CACHE_USERCOPY(type, flags, member) KMEM_CACHE(type, flags)
struct kmem_cache *kernel_cache(size_t size);
size_t strscpy(char *to, const char *from, size_t size);
void *memchr_inv(const void *p, int c, size_t size);

struct page { u32 refs; u8 *memory; size_t size; };
#define get_page(p) ((void)(p)->refs++)
#define put_page(p) kernel_page_put(p)
#define page_address(p) ((void *)(p)->memory)
#define page_size(p) ((p)->size)
void kernel_page_put(struct page *page);

/* Tables */
/* Trees are lists: what is in them has no order but for whoever walks them. */
struct rb_node { struct rb_node *next; };
struct rb_root { struct rb_node *rb_node; };
#define RB_ROOT ((struct rb_root){})
#define rb_entry(p, type, member) container_of(p, type, member)
struct rb_node *rb_find(const void *key, const struct rb_root *tree,
			int (*cmp)(const void *key, const struct rb_node *node));
struct rb_node *rb_find_add(struct rb_node *fresh, struct rb_root *tree,
			    int (*cmp)(struct rb_node *fresh, const struct rb_node *node));
void rb_erase(struct rb_node *node, struct rb_root *tree);
#define rb_first(tree) ((tree)->rb_node)

typedef u32 xa_mark_t;
struct kernel_slot { u32 index; void *entry; };

/**
 * struct xarray - entries in the order of their numbers
 * @xa_lock: as the kernel's
 * @slots: the table
 * @count: how many are used
 * @room: how many there are
 */
struct xarray {
	spinlock_t xa_lock;
	struct kernel_slot *slots;
	u32 count;
	u32 room;
};

#define XA_FLAGS_LOCK_BH 0
#define XA_FLAGS_ALLOC1 0
#define xa_limit_32b 0
#define xa_err(p) PTR_ERR_OR_ZERO(p)
#define xa_lock_bh(xa) spin_lock(&(xa)->xa_lock)
#define xa_unlock_bh(xa) spin_unlock(&(xa)->xa_lock)
#define xa_init_flags(xa, flags) memset(xa, 0, sizeof(*(xa)))
#define xa_empty(xa) (!(xa)->count)
#define xa_destroy(xa) kernel_xa_destroy(xa)
#define xa_load(xa, index) kernel_xa_load(xa, index)
#define __xa_store(xa, index, entry, gfp)					\
	(kernel_xa_locked(xa), kernel_xa_store(xa, index, entry))
#define __xa_erase(xa, index) (kernel_xa_locked(xa), kernel_xa_erase(xa, index))
#define xa_store(xa, index, entry, gfp)						\
	(kernel_xa_free(xa), kernel_xa_store(xa, index, entry))
#define xa_erase(xa, index) (kernel_xa_free(xa), kernel_xa_erase(xa, index))
#define xa_erase_bh(xa, index) xa_erase(xa, index)
#define xa_insert_bh(xa, index, entry, gfp)					\
	(xa_load(xa, index) ? -EBUSY : xa_err(xa_store(xa, index, entry, gfp)))
#define xa_for_each(xa, index, entry)						\
	for (index = 0, entry = kernel_xa_next(xa, &index); entry;		\
	     index++, entry = kernel_xa_next(xa, &index))
#define xa_alloc_cyclic_bh(xa, id, entry, limit, next, gfp)			\
	kernel_xa_alloc(xa, id, next)
#define kernel_xa_locked(xa) ((void)({ lockdep_assert_held(&(xa)->xa_lock); 0; }))
#define kernel_xa_free(xa) ((void)({ fuzz_assert(!(xa)->xa_lock.held); 0; }))

void *kernel_xa_load(const struct xarray *xa, u32 index);
void *kernel_xa_store(struct xarray *xa, u32 index, void *entry);
void *kernel_xa_erase(struct xarray *xa, u32 index);
void *kernel_xa_next(const struct xarray *xa, unsigned long *index);
int kernel_xa_alloc(struct xarray *xa, u32 *id, u32 *next);
void kernel_xa_destroy(struct xarray *xa);

/* Threads that wait: there are none, but functions to be called when they would be woken are. */
typedef struct wait_queue_head { spinlock_t lock; struct list_head head; } wait_queue_head_t;
typedef struct wait_queue_entry wait_queue_entry_t;
struct wait_queue_entry {
	void *private;
	int (*func)(wait_queue_entry_t *entry, unsigned int mode, int sync, void *key);
	struct list_head entry;
};

struct completion { u32 done; };
#define init_waitqueue_head(w) (spin_lock_init(&(w)->lock), INIT_LIST_HEAD(&(w)->head))
#define init_waitqueue_func_entry(e, f) ((e)->func = (f))
#define waitqueue_active(w) (!list_empty(&(w)->head))
#define wq_has_sleeper(w) waitqueue_active(w)
#define key_to_poll(key) ((__poll_t)(unsigned long)(key))
#define poll_to_key(mask) ((void *)(unsigned long)(mask))
#define wake_up_all(w) kernel_wake(w, 0)
#define wake_up_poll(w, mask) kernel_wake(w, mask)
#define wake_up_interruptible_all(w) kernel_wake(w, 0)
#define wake_up_interruptible_poll(w, mask) kernel_wake(w, mask)
#define wake_up_all_locked(w) kernel_wake_locked(w, 0)
#define __wake_up(w, mode, count, key) ((void)(count), kernel_wake(w, key_to_poll(key)))
void kernel_wake(wait_queue_head_t *queue, __poll_t mask);
void kernel_wake_locked(wait_queue_head_t *queue, __poll_t mask);
void add_wait_queue(wait_queue_head_t *queue, wait_queue_entry_t *entry);
void remove_wait_queue(wait_queue_head_t *queue, wait_queue_entry_t *entry);
#define wait_event(w, cond) fuzz_assert(cond)
#define wait_event_timeout(w, cond, left) ((cond) ? 1L : 0L)
#define wait_event_killable(w, cond) ((cond) ? 0 : -ERESTARTSYS)
#define fatal_signal_pending(task) false
#define wait_event_killable_timeout(w, cond, left) ((void)(cond))
#define wait_event_interruptible_timeout(w, cond, left) ((cond) ? 1L : 0L)
#define wait_event_interruptible(w, cond) ((cond) ? 0 : -ERESTARTSYS)
#define init_completion(c) ((c)->done = 0)
#define complete_all(c) ((c)->done = 1)
#define completion_done(c) ((c)->done)
#define wait_for_completion(c) fuzz_assert((c)->done)
#define wait_for_completion_timeout(c, left) ((void)(c), (void)(left))
#define signal_pending(task) false
#define need_resched() true
#define single_task_running() false
#define local_clock() 0ULL
#define cpu_relax() do {} while (0)
#define usecs_to_jiffies(us) ((unsigned long)(us) / 1000)
#define jiffies_to_usecs(j) ((unsigned int)(j) * 1000)
#define DEFINE_WAIT(name) int name = 0
#define prepare_to_wait(w, entry, state) ((void)(entry))
#define finish_wait(w, entry) ((void)(entry))
#define schedule_timeout(left) ((void)(left), 0L)
#define TASK_INTERRUPTIBLE 0
#define TASK_NORMAL 0

/* Works and timers: in one list, until the script runs them */
struct work_struct {
	struct list_head entry;
	void (*func)(struct work_struct *work);
	bool pending;
};

struct delayed_work { struct work_struct work; };
struct timer_list {
	struct list_head entry;
	void (*func)(struct timer_list *timer);
	unsigned long expires;
	bool pending;
};

struct hrtimer { bool pending; };
struct irq_work { bool pending; };
struct workqueue_struct { int unused; };
#define INIT_WORK(w, f) ((w)->func = (f), (w)->pending = false)
#define DECLARE_WORK(name, f) struct work_struct name = { .func = (f) }
#define INIT_DELAYED_WORK(w, f) INIT_WORK(&(w)->work, f)
#define to_delayed_work(w) container_of(w, struct delayed_work, work)
#define queue_work(wq, w) kernel_queue(w)
#define queue_delayed_work(wq, w, delay) ((void)(delay), kernel_queue(&(w)->work))
#define mod_delayed_work(wq, w, delay) ((void)(delay), kernel_requeue(&(w)->work))
#define delayed_work_pending(w) ((w)->work.pending)
#define cancel_delayed_work(w) kernel_cancel(&(w)->work)
#define cancel_delayed_work_sync(w) ({ might_sleep(); kernel_cancel(&(w)->work); })
#define cancel_work_sync(w) ({ might_sleep(); kernel_cancel(w); })
#define flush_work(w) do { might_sleep(); kernel_run(w); } while (0)
#define timer_setup(t, f, flags) ((t)->func = (f), (t)->pending = false)
#define mod_timer(t, at) kernel_start_timer(t, at)
#define timer_shutdown_sync(t) ({ might_sleep(); kernel_stop_timer(t); })
void kernel_start_timer(struct timer_list *timer, unsigned long when);
void kernel_stop_timer(struct timer_list *timer);
bool kernel_queue(struct work_struct *work);
bool kernel_cancel(struct work_struct *work);
bool kernel_run(struct work_struct *work);
bool kernel_requeue(struct work_struct *work);

/* Users, namespaces, addresses: names only */
typedef struct { u32 val; } kuid_t;
struct user_namespace { struct user_namespace *parent; kuid_t owner; };
struct net { int unused; };
extern struct user_namespace init_user_ns;
#define GLOBAL_ROOT_UID ((kuid_t){ 0 })
#define INVALID_UID ((kuid_t){ -1 })
#define __kuid_val(uid) ((uid).val)
#define uid_eq(a, b) ((a).val == (b).val)
#define from_kuid(ns, uid) ((uid).val)
#define ns_capable_noaudit(ns, cap) false
#define SIGKILL 9

struct mm_struct { int unused; };
#define mmgrab(mm) ((void)(mm))
#define mmdrop(mm) ((void)(mm))
struct file { int unused; };
#define get_file(f) (f)
#define fput(f) ((void)(f))
struct kernel_task { struct mm_struct *mm; };
extern struct kernel_task *current;

struct kernel_sysinfo { unsigned long totalram; unsigned long mem_unit; };

/* Messages of a program */
struct iov_iter { u8 *bytes; size_t count; bool user; };
#define ITER_SOURCE 1
#define ITER_DEST 0
#define user_backed_iter(iter) ((iter)->user)
#define iov_iter_advance(iter, n) ((iter)->bytes += (n), (iter)->count -= (n))
#define iov_iter_truncate(iter, n) ((iter)->count = min((iter)->count, (size_t)(n)))
#define iov_iter_count(iter) ((iter)->count)
#define copy_from_iter(to, len, from) kernel_copy_from(to, len, from)
#define iov_iter_revert(iter, n) ((iter)->bytes -= (n), (iter)->count += (n))
size_t kernel_copy_from(void *to, size_t len, struct iov_iter *from);

/* RDMA: the parts that are looked at, and no adapter */
enum ib_wc_status { IB_WC_SUCCESS, IB_WC_GENERAL_ERR };
enum dma_data_direction { DMA_BIDIRECTIONAL, DMA_TO_DEVICE, DMA_FROM_DEVICE };
#define IB_SEND_SIGNALED 1
struct ib_cq;
struct ib_wc;
struct kernel_device { const char *name; };
#define dev_name(d) ((d)->name)
struct ib_device { struct kernel_device dev; };
struct ib_qp { int unused; };
struct ib_pd { int unused; };
struct ib_mr { u32 rkey; u32 lkey; u64 iova; u64 length; };
struct ib_cqe { void (*done)(struct ib_cq *cq, struct ib_wc *wc); };
struct ib_sge { u64 addr; u32 length; u32 lkey; };
struct ib_send_wr {
	struct ib_send_wr *next;
	int send_flags;
	union { __be32 imm_data; u32 invalidate_rkey; } ex;
};

struct ib_reg_wr { struct ib_send_wr wr; };
struct ib_rdma_wr { struct ib_send_wr wr; };
struct ib_atomic_wr { struct ib_send_wr wr; };
struct ib_recv_wr { struct ib_recv_wr *next; };

typedef void (*ib_comp_handler)(struct ib_cq *cq, void *context);
struct ib_qp_init_attr { int unused; };
struct rdma_conn_param { int unused; };
struct rdma_cm_id { int unused; };
struct rdma_cm_event { int unused; };
#define rdma_protocol_iwarp(dev, port) false
struct scatterlist { u64 address; u32 length; };
#define sg_init_table(sg, n) memset(sg, 0, sizeof(*(sg)))
#define sg_dma_address(sg) ((sg)->address)
#define sg_dma_len(sg) ((sg)->length)
struct sg_table { struct scatterlist *sgl; unsigned int nents; };

#endif /* _RCH_FUZZ_KERNEL_H */
