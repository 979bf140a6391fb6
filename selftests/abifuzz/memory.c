// SPDX-License-Identifier: GPL-2.0
/*
 * memory.c - memory that calls name, and that other threads take away meanwhile
 *
 * Each piece ends at a page that nobody may touch.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi_fuzz.h"

#define PAGE 4096UL
#define LARGE (256 * PAGE)
#define SMALL (16 * PAGE)
#define NOWHERE ((char *)-8192L)

static char *sink, *source, *danger, *file, *file_rw, *args;
static int fd = -1;
static bool dirty;

static void must(bool ok)
{
	if (ok)
		return;
	perror("abi_fuzz: memory");
	exit(1);
}

static char *piece(size_t size, int prot, int flags, int of)
{
	char *map = mmap(NULL, size + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(map != MAP_FAILED);
	must(mmap(map, size, prot, MAP_FIXED | flags, of, 0) != MAP_FAILED);
	return map;
}

void memory_init(void)
{
	const int rw = PROT_READ | PROT_WRITE, own = MAP_PRIVATE | MAP_ANONYMOUS;

	fd = fd_high(memfd_create("abi_fuzz", MFD_CLOEXEC));
	must(fd >= 0 && !ftruncate(fd, SMALL));
	sink = piece(LARGE, rw, own, -1);
	source = piece(LARGE, rw, own, -1);
	danger = piece(SMALL, rw, own, -1);
	file = piece(SMALL, PROT_READ, MAP_SHARED, fd);
	file_rw = piece(SMALL, rw, MAP_SHARED, fd);
	args = piece(2 * THREADS_MAX * PAGE, rw, own, -1);
	memset(source, 0x5a, LARGE);
	memset(sink, 0, LARGE);
}

/* As it was, for the next case. */
void memory_reset(void)
{
	if (!dirty)
		return;
	dirty = false;
	memory_map(0, SMALL / PAGE);
	dirty = false;
}

char *memory_of(unsigned int kind)
{
	switch (kind % MEMORY_KINDS) {
	case MEMORY_SINK:
		return sink;
	case MEMORY_SOURCE:
		return source;
	case MEMORY_DANGER:
		return danger;
	case MEMORY_FILE:
		return file_rw;
	case MEMORY_READ_ONLY:
		return file;
	case MEMORY_EDGE:
		return sink + LARGE - PAGE - 100;
	case MEMORY_NULL:
		return NULL;
	case MEMORY_KERNEL:
		return NOWHERE;
	default:
		return sink + 1;
	}
}

/* Where a structure of @size bytes lies. Threads do not share the plain places. */
char *memory_args(const struct actor *actor, unsigned int place, size_t size)
{
	char *own = args + 2 * actor->index * PAGE;

	switch (place % 12) {
	default:
		return own;
	case 1:
		return own + 3;
	case 2:
		return own + PAGE - size / 2 / 8 * 8;
	case 3: /* ends where the memory does */
		return danger + SMALL - size;
	case 4:
		return danger + SMALL - size / 2;
	case 5:
		return danger;
	case 6: /* across two pages, of which either may go */
		return danger + PAGE - size / 2;
	case 7:
		return file_rw;
	case 8:
		return file;
	case 9:
		return file_rw + PAGE - size / 2;
	case 10:
		return NULL;
	case 11:
		return NOWHERE;
	}
}

/* Where this program can write what the kernel finds at @place. */
char *memory_writable(char *place)
{
	return place >= file && place < file + SMALL ? file_rw + (place - file) : place;
}

/* Return: false when there was no memory. */
bool memory_copy(struct actor *actor, void *to, const void *from, size_t size)
{
	if (sigsetjmp(actor->guard, 0)) {
		actor->guarded = false;
		return false;
	}
	actor->guarded = true;
	memcpy(to, from, size);
	actor->guarded = false;
	return true;
}

/* The pages of a range, none beyond the end. */
static size_t range(unsigned int *page, unsigned int pages)
{
	size_t left;

	dirty = true;
	*page %= SMALL / PAGE;
	left = SMALL / PAGE - *page;
	return (pages < left ? pages : left) * PAGE;
}

/* The place is kept: nothing else may be mapped there. */
long memory_unmap(unsigned int page, unsigned int pages)
{
	size_t size = range(&page, pages);

	return mmap(danger + page * PAGE, size, PROT_NONE,
		    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) ==
		       MAP_FAILED ? -1 : 0;
}

long memory_map(unsigned int page, unsigned int pages)
{
	size_t size = range(&page, pages);

	return mmap(danger + page * PAGE, size, PROT_READ | PROT_WRITE,
		    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}

long memory_protect(unsigned int page, unsigned int pages, unsigned int how)
{
	static const int prots[] = { PROT_READ, PROT_NONE, PROT_WRITE, PROT_READ | PROT_WRITE };
	size_t size = range(&page, pages);

	return mprotect(danger + page * PAGE, size, prots[how % 4]);
}

long memory_forget(unsigned int page, unsigned int pages)
{
	size_t size = range(&page, pages);

	return madvise(danger + page * PAGE, size, MADV_DONTNEED);
}

/* Pages of a file that ends before them. */
long memory_beyond(unsigned int page, unsigned int pages)
{
	size_t size = range(&page, pages);

	return mmap(danger + page * PAGE, size, PROT_READ | PROT_WRITE,
		    MAP_FIXED | MAP_SHARED, fd, SMALL) == MAP_FAILED ? -1 : 0;
}
