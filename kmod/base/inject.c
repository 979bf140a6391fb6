// SPDX-License-Identifier: GPL-2.0
/*
 * inject.c - which fault happens when
 *
 * Each fault has one rule: of the events that it looks at, leave out @skip, then take
 * every @every-th, @count times. An event is a frame that came, or an allocation.
 *
 * The flag is on from the first rule that is set until the last is off *and* no frame is
 * held back. The second is what link_inject.c relies on: while one is, all frames of its
 * link go through there.
 */
#include <linux/cache.h>
#include <linux/kstrtox.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "base/inject.h"

#define RCH_DELAY_MAX_MS 60000

bool rch_inject_any __read_mostly;

/**
 * struct rule - when a fault happens
 * @armed: it may happen
 * @where: only on this link, or at this &enum rch_site; 0 is anywhere
 * @every: every so many-th event
 * @skip: events to leave out before
 * @count: how often; 0 is without limit
 * @value: milliseconds that it takes, place of the byte that is corrupted
 * @seen: events since it was set
 * @done: faults since it was set
 */
struct rule {
	bool armed;
	u32 where;
	u32 every;
	u32 skip;
	u32 count;
	u32 value;
	u64 seen;
	u64 done;
};

static DEFINE_SPINLOCK(rules_lock); /* protects rules and totals; innermost, any context */
static struct rule rules[RCH_FAULTS];
static u64 totals[RCH_FAULTS];

static DEFINE_MUTEX(key_lock); /* protects the flag's changes; outermost */
static atomic_t held_frames;
static DECLARE_WAIT_QUEUE_HEAD(held_wait);

static const char *const fault_names[RCH_FAULTS] = {
	[RCH_FAULT_DROP] = "drop",
	[RCH_FAULT_DUPLICATE] = "duplicate",
	[RCH_FAULT_CORRUPT] = "corrupt",
	[RCH_FAULT_DELAY] = "delay",
	[RCH_FAULT_REORDER] = "reorder",
	[RCH_FAULT_KILL] = "kill",
	[RCH_FAULT_ADDRESS] = "address",
	[RCH_FAULT_FATAL] = "fatal",
	[RCH_FAULT_WITHHOLD] = "withhold",
	[RCH_FAULT_FORGET] = "forget",
	[RCH_FAULT_BOUNCE] = "bounce",
	[RCH_FAULT_SLOW] = "slow",
	[RCH_FAULT_WRAP] = "wrap",
	[RCH_FAULT_FOREIGN] = "foreign",
	[RCH_FAULT_NOMEM] = "nomem",
};

static const char *const site_names[RCH_SITES] = {
	[RCH_SITE_ANY] = "any",
	[RCH_SITE_CONTEXT] = "context",
	[RCH_SITE_LISTENER] = "listener",
	[RCH_SITE_PORT] = "port",
	[RCH_SITE_CHANNEL] = "channel",
	[RCH_SITE_OBJECT] = "object",
	[RCH_SITE_LINK] = "link",
	[RCH_SITE_LANE] = "lane",
	[RCH_SITE_VERBS] = "verbs",
	[RCH_SITE_RING] = "ring",
	[RCH_SITE_PAGE] = "page",
	[RCH_SITE_FRAME] = "frame",
	[RCH_SITE_ITEM] = "item",
	[RCH_SITE_SEGMENT] = "segment",
	[RCH_SITE_REGION] = "region",
	[RCH_SITE_WRITE] = "write",
	[RCH_SITE_PIN] = "pin",
	[RCH_SITE_QUEUE] = "queue",
	[RCH_SITE_PLACE] = "place",
	[RCH_SITE_GRANT] = "grant",
};

/** rch_inject_name - what a fault is called in debugfs */
const char *rch_inject_name(enum rch_fault fault)
{
	return fault_names[fault];
}

static bool inject_rule_hits(struct rule *rule)
{
	u64 event = rule->seen++;

	if (event < rule->skip || (rule->count && rule->done >= rule->count))
		return false;
	return (u32)(event - rule->skip) % rule->every == 0;
}

/**
 * rch_inject_hits - an event: does the fault happen?
 * @fault: fault
 * @where: link, or &enum rch_site
 * @value: its value, if it does; or NULL
 */
bool rch_inject_hits(enum rch_fault fault, u32 where, u32 *value)
{
	struct rule *rule = &rules[fault];
	unsigned long flags;
	bool hits;

	if (!READ_ONCE(rule->armed))
		return false;
	spin_lock_irqsave(&rules_lock, flags);
	hits = rule->armed && (!rule->where || rule->where == where) && inject_rule_hits(rule);
	if (hits) {
		rule->done++;
		totals[fault]++;
		if (value)
			*value = rule->value;
	}
	spin_unlock_irqrestore(&rules_lock, flags);
	return hits;
}

/** rch_inject_armed - whether a fault may happen */
bool rch_inject_armed(enum rch_fault fault)
{
	return READ_ONCE(rules[fault].armed);
}

/** rch_inject_held - so many more frames are held back, or fewer */
void rch_inject_held(int frames)
{
	if (!atomic_add_return(frames, &held_frames))
		wake_up_all(&held_wait);
}

/* Whether a fault takes time. */
static bool inject_has_ms(enum rch_fault fault)
{
	return fault == RCH_FAULT_DELAY || fault == RCH_FAULT_SLOW;
}

static int inject_number_get(const char *text, u32 min, u32 max, u32 *value)
{
	int ret = kstrtou32(text, 0, value);

	if (ret)
		return ret;
	return *value < min || *value > max ? -EINVAL : 0;
}

static int inject_site_get(const char *text, u32 *site)
{
	int i = match_string(site_names, RCH_SITES, text);

	if (i < 0)
		return i;
	*site = i;
	return 0;
}

/* One word of a rule: NAME=VALUE. */
static int inject_word_get(struct rule *rule, enum rch_fault fault, char *value)
{
	const char *name = strsep(&value, "=");

	if (!value)
		return -EINVAL;
	if (!strcmp(name, "every"))
		return inject_number_get(value, 1, U32_MAX, &rule->every);
	if (!strcmp(name, "skip"))
		return inject_number_get(value, 0, U32_MAX, &rule->skip);
	if (!strcmp(name, "count"))
		return inject_number_get(value, 0, U32_MAX, &rule->count);
	if (!strcmp(name, "link") && fault < RCH_FAULT_FORGET)
		return inject_number_get(value, 0, U32_MAX, &rule->where);
	if (!strcmp(name, "site") && fault == RCH_FAULT_NOMEM)
		return inject_site_get(value, &rule->where);
	if (!strcmp(name, "ms") && inject_has_ms(fault))
		return inject_number_get(value, 1, RCH_DELAY_MAX_MS, &rule->value);
	if (!strcmp(name, "byte") && fault == RCH_FAULT_CORRUPT)
		return inject_number_get(value, 0, U16_MAX, &rule->value);
	return -EINVAL;
}

static int inject_rule_get(struct rule *rule, enum rch_fault fault, char *text)
{
	char *word;
	int ret;

	*rule = (struct rule){
		.armed = true,
		.every = 1,
		.count = 1,
		.value = inject_has_ms(fault) ? 10 : 0,
	};
	while ((word = strsep(&text, " \t\n"))) {
		if (!*word || !strcmp(word, "on"))
			continue;
		ret = inject_word_get(rule, fault, word);
		if (ret)
			return ret;
	}
	return 0;
}

static void inject_rule_set(enum rch_fault fault, const struct rule *rule)
{
	unsigned long flags;

	spin_lock_irqsave(&rules_lock, flags);
	rules[fault] = *rule;
	spin_unlock_irqrestore(&rules_lock, flags);
}

static bool inject_any_armed(void)
{
	enum rch_fault fault;

	for (fault = 0; fault < RCH_FAULTS; fault++)
		if (rch_inject_armed(fault))
			return true;
	return false;
}

/* Counts of what has happened can still be read. */
static int inject_turn_off(enum rch_fault fault)
{
	WRITE_ONCE(rules[fault].armed, false);
	if (inject_any_armed())
		return 0;
	/* Softirq that saw it armed holds its frame back by now; no other one does. */
	synchronize_rcu();
	if (wait_event_killable(held_wait, !atomic_read(&held_frames)))
		return -EINTR;
	WRITE_ONCE(rch_inject_any, false);
	return 0;
}

/**
 * rch_inject_set - say when a fault shall happen
 * @fault: fault
 * @text: the text that was written to its file; changed
 *
 * When the last fault was turned off, no frame is held back any more.
 * Return: 0, -EINVAL, -ERANGE or -EINTR.
 */
int rch_inject_set(enum rch_fault fault, char *text)
{
	struct rule rule;
	int ret;

	if (mutex_lock_killable(&key_lock))
		return -EINTR;
	if (sysfs_streq(text, "off")) {
		ret = inject_turn_off(fault);
		goto out;
	}
	ret = inject_rule_get(&rule, fault, text);
	if (ret)
		goto out;
	inject_rule_set(fault, &rule);
	WRITE_ONCE(rch_inject_any, true);
out:
	mutex_unlock(&key_lock);
	return ret;
}

/** rch_inject_show - a fault's rule, and how often it was asked for and happened */
void rch_inject_show(struct seq_file *file, enum rch_fault fault)
{
	unsigned long flags;
	struct rule rule;

	spin_lock_irqsave(&rules_lock, flags);
	rule = rules[fault];
	spin_unlock_irqrestore(&rules_lock, flags);
	if (!rule.armed) {
		seq_printf(file, "off seen=%llu done=%llu\n", rule.seen, rule.done);
		return;
	}
	seq_printf(file, "every=%u skip=%u count=%u", rule.every, rule.skip, rule.count);
	if (fault == RCH_FAULT_NOMEM)
		seq_printf(file, " site=%s", site_names[rule.where]);
	else
		seq_printf(file, " link=%u", rule.where);
	if (inject_has_ms(fault))
		seq_printf(file, " ms=%u", rule.value);
	if (fault == RCH_FAULT_CORRUPT)
		seq_printf(file, " byte=%u", rule.value);
	seq_printf(file, " seen=%llu done=%llu\n", rule.seen, rule.done);
}

/** rch_inject_show_total - how often each fault has happened since load */
void rch_inject_show_total(struct seq_file *file)
{
	u64 now[RCH_FAULTS];
	enum rch_fault fault;
	unsigned long flags;

	spin_lock_irqsave(&rules_lock, flags);
	memcpy(now, totals, sizeof(now));
	spin_unlock_irqrestore(&rules_lock, flags);
	for (fault = 0; fault < RCH_FAULTS; fault++)
		seq_printf(file, "%s %llu\n", fault_names[fault], now[fault]);
}

/** rch_inject_stop - no fault happens any more; at unload, when nobody can set one */
void rch_inject_stop(void)
{
	enum rch_fault fault;

	for (fault = 0; fault < RCH_FAULTS; fault++)
		WRITE_ONCE(rules[fault].armed, false);
}
