// SPDX-License-Identifier: GPL-2.0
/*
 * floor.c - what a message costs over raw verbs of the kernel
 *
 * Loading this module connects two queue pairs of this host by rdma_cm, and sends a message
 * to and fro between them. The parameter typical_ns has the time of one way then: half of
 * the median round trip. A guest that counts instructions has one nanosecond for
 * each. Everything is taken apart again before the module is loaded.
 *
 * Operation. It does as little as verbs allow, which is why it is a floor. Nothing is
 * copied, there is no flow control since the one receive is posted again before the
 * message is answered, and one send in SIGNAL_EACH is signalled. Each end has a thread
 * that sleeps, is woken by the completion, and sends. With reply=1 the completion
 * handlers send, and no thread is woken.
 *
 * Error handling. Any failure ends the run: the two ends are drained, which wakes
 * whoever waits for a message.
 */
#include <linux/completion.h>
#include <linux/inet.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

/* An end has a message or two under way; the rest is for sends that are not signalled. */
#define SEND_DEPTH	64
#define SIGNAL_EACH	16
/* A second one, as drains of the core take one. */
#define RECV_DEPTH	2

#define WARMUP		300
#define SIZE_MAX_BYTES	SZ_1M
#define COUNT_MAX	1000000
#define RESOLVE_MS	2000
#define CM_MS		10000

static char *addr = "";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "IPv4 address of this host, on an RDMA device");

static ushort port = 18599;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "port of rdma_cm (18599)");

static uint size = 64;
module_param(size, uint, 0444);
MODULE_PARM_DESC(size, "bytes of a message, up to 1 MiB (64)");

static uint count = 3000;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "round trips (3000)");

static bool reply;
module_param(reply, bool, 0444);
MODULE_PARM_DESC(reply, "the completion handlers send, and no thread (N)");

static ulong typical_ns;
module_param(typical_ns, ulong, 0444);
MODULE_PARM_DESC(typical_ns, "result: nanoseconds of a message, one way");

/**
 * struct floor_buffer - memory of one message
 * @data: the memory
 * @dma: its address for the adapter
 */
struct floor_buffer {
	void *data;
	u64 dma;
};

struct floor;

/**
 * struct floor_end - one end of the connection
 * @floor: the run
 * @id: connection; NULL while the end is not open
 * @pd: domain of its buffers
 * @cq: completions of both directions
 * @out: message to send
 * @in: message received
 * @sent: completion of a send
 * @received: completion of the receive
 * @event: rdma_cm has told something
 * @cm_status: the result: 0, or an error
 * @message: a message has come, or @failed is set
 * @failed: something has failed, or the end is being drained
 * @sends: how many there were
 * @task: thread of this end, NULL with reply=1
 */
struct floor_end {
	struct floor *floor;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct floor_buffer out;
	struct floor_buffer in;
	struct ib_cqe sent;
	struct ib_cqe received;
	struct completion event;
	int cm_status;
	struct completion message;
	bool failed;
	unsigned int sends;
	struct task_struct *task;
};

/**
 * struct floor - a run
 * @listener: of @server
 * @client: the end that connects, and measures
 * @server: the end that answers
 * @trips: round trips that are over, those of the warm-up included
 * @begun: when the present one began
 * @samples: nanoseconds of each that counts
 * @over: @client has had its last trip, or has failed
 */
struct floor {
	struct rdma_cm_id *listener;
	struct floor_end client;
	struct floor_end server;
	unsigned int trips;
	u64 begun;
	u64 *samples;
	struct completion over;
};

/* Messages */

static int floor_post_recv(struct floor_end *end)
{
	struct ib_sge sge = {
		.addr = end->in.dma, .length = size, .lkey = end->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &end->received, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(end->id->qp, &wr, NULL);
}

/*
 * The answer to a message tells that it was received, so no more than SIGNAL_EACH and a
 * few sends ever wait for the completion that stands for them.
 */
static int floor_send(struct floor_end *end)
{
	struct ib_sge sge = {
		.addr = end->out.dma, .length = size, .lkey = end->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &end->sent, .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_SEND,
	};

	if (!(end->sends++ % SIGNAL_EACH))
		wr.send_flags = IB_SEND_SIGNALED;
	return ib_post_send(end->id->qp, &wr, NULL);
}

static int floor_answer(struct floor_end *end)
{
	int ret = floor_post_recv(end);

	return ret ? ret : floor_send(end);
}

static void floor_fail(struct floor_end *end)
{
	WRITE_ONCE(end->failed, true);
	complete(&end->message);
	complete(&end->floor->over);
}

/* Return: whether there is to be another trip */
static bool floor_trip_done(struct floor *floor)
{
	u64 now = ktime_get_ns();

	if (floor->trips >= WARMUP)
		floor->samples[floor->trips - WARMUP] = now - floor->begun;
	floor->begun = now;
	return ++floor->trips < WARMUP + count;
}

/* With reply=1: all of it happens here, in softirq. */
static void floor_reply(struct floor_end *end)
{
	struct floor *floor = end->floor;

	if (end == &floor->client && !floor_trip_done(floor))
		complete(&floor->over);
	else if (floor_answer(end))
		floor_fail(end);
}

static void floor_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct floor_end *end = cq->cq_context;

	if (wc->status != IB_WC_SUCCESS)
		floor_fail(end);
	else if (reply)
		floor_reply(end);
	else
		complete(&end->message);
}

static void floor_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		floor_fail(cq->cq_context);
}

/* Threads */

/* Return: whether a message has come */
static bool floor_wait(struct floor_end *end)
{
	wait_for_completion(&end->message);
	return !READ_ONCE(end->failed);
}

static int floor_server_thread(void *arg)
{
	struct floor_end *end = arg;

	while (floor_wait(end)) {
		if (floor_answer(end))
			floor_fail(end);
	}
	return 0;
}

static int floor_client_thread(void *arg)
{
	struct floor_end *end = arg;

	while (floor_wait(end) && floor_trip_done(end->floor)) {
		if (floor_answer(end))
			floor_fail(end);
	}
	complete(&end->floor->over);
	return 0;
}

/* The reference is for kthread_stop(), as a thread may end before. */
static int floor_thread_start(struct floor_end *end, int (*run)(void *), const char *name)
{
	struct task_struct *task = kthread_create(run, end, "floor_%s", name);

	if (IS_ERR(task))
		return PTR_ERR(task);
	end->task = get_task_struct(task);
	wake_up_process(task);
	return 0;
}

static void floor_thread_stop(struct floor_end *end)
{
	if (!end->task)
		return;
	kthread_stop(end->task);
	put_task_struct(end->task);
}

/* Verbs of an end */

static int floor_buffer_map(struct ib_device *device, struct floor_buffer *buffer,
			    enum dma_data_direction direction)
{
	buffer->data = kzalloc(size, GFP_KERNEL | __GFP_NOWARN);
	if (!buffer->data)
		return -ENOMEM;
	buffer->dma = ib_dma_map_single(device, buffer->data, size, direction);
	if (!ib_dma_mapping_error(device, buffer->dma))
		return 0;
	kfree(buffer->data);
	return -ENOMEM;
}

static void floor_buffer_unmap(struct ib_device *device, struct floor_buffer *buffer,
			       enum dma_data_direction direction)
{
	ib_dma_unmap_single(device, buffer->dma, size, direction);
	kfree(buffer->data);
}

static int floor_make_qp(struct floor_end *end, struct rdma_cm_id *id)
{
	struct ib_qp_init_attr attr = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = {
			.max_send_wr = SEND_DEPTH + 1,
			.max_recv_wr = RECV_DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};

	return rdma_create_qp(id, end->pd, &attr);
}

static int floor_open(struct floor_end *end, struct rdma_cm_id *id)
{
	struct ib_device *device = id->device;
	int ret;

	end->sent.done = floor_sent;
	end->received.done = floor_received;
	end->pd = ib_alloc_pd(device, 0);
	if (IS_ERR(end->pd))
		return PTR_ERR(end->pd);
	end->cq = ib_alloc_cq(device, end, SEND_DEPTH + 1 + RECV_DEPTH, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(end->cq)) {
		ret = PTR_ERR(end->cq);
		goto err_dealloc_pd;
	}
	ret = floor_buffer_map(device, &end->out, DMA_TO_DEVICE);
	if (ret)
		goto err_free_cq;
	ret = floor_buffer_map(device, &end->in, DMA_FROM_DEVICE);
	if (ret)
		goto err_unmap_out;
	ret = floor_make_qp(end, id);
	if (ret)
		goto err_unmap_in;
	end->id = id;
	ret = floor_post_recv(end);
	if (ret)
		goto err_destroy_qp;
	return 0;

err_destroy_qp:
	end->id = NULL;
	rdma_destroy_qp(id);
err_unmap_in:
	floor_buffer_unmap(device, &end->in, DMA_FROM_DEVICE);
err_unmap_out:
	floor_buffer_unmap(device, &end->out, DMA_TO_DEVICE);
err_free_cq:
	ib_free_cq(end->cq);
err_dealloc_pd:
	ib_dealloc_pd(end->pd);
	return ret;
}

/* The connection itself is left to the caller. */
static void floor_close(struct floor_end *end)
{
	struct rdma_cm_id *id = end->id;

	ib_drain_qp(id->qp);
	/* The receive was flushed, which has woken the thread for good. */
	floor_thread_stop(end);
	rdma_destroy_qp(id);
	floor_buffer_unmap(id->device, &end->in, DMA_FROM_DEVICE);
	floor_buffer_unmap(id->device, &end->out, DMA_TO_DEVICE);
	ib_free_cq(end->cq);
	ib_dealloc_pd(end->pd);
	end->id = NULL;
}

/* Connecting */

/* A connection that is refused here is destroyed by the core. */
static int floor_take(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct floor_end *end = id->context;
	int ret;

	if (end->id)
		return -EBUSY;
	ret = floor_open(end, id);
	if (ret)
		return ret;
	ret = rdma_accept(id, &param);
	if (ret)
		floor_close(end);
	return ret;
}

static int floor_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct floor_end *end = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return floor_take(id);
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		end->cm_status = 0;
		break;
	default:
		end->cm_status = event->status < 0 ? event->status : -ECONNREFUSED;
		break;
	}
	complete(&end->event);
	return 0;
}

/* @ret: of the call whose event is awaited */
static int floor_await(struct floor_end *end, int ret)
{
	if (ret)
		return ret;
	if (!wait_for_completion_timeout(&end->event, msecs_to_jiffies(CM_MS)))
		return -ETIMEDOUT;
	return end->cm_status;
}

static struct rdma_cm_id *floor_make_id(struct floor_end *end)
{
	return rdma_create_id(current->nsproxy->net_ns, floor_event, end, RDMA_PS_TCP,
			      IB_QPT_RC);
}

static int floor_listen(struct floor *floor, struct sockaddr *sockaddr)
{
	struct rdma_cm_id *id = floor_make_id(&floor->server);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = rdma_bind_addr(id, sockaddr);
	if (!ret)
		ret = rdma_listen(id, 1);
	if (ret)
		rdma_destroy_id(id);
	else
		floor->listener = id;
	return ret;
}

static int floor_connect(struct floor_end *end, struct sockaddr *sockaddr)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct rdma_cm_id *id = floor_make_id(end);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = floor_await(end, rdma_resolve_addr(id, NULL, sockaddr, RESOLVE_MS));
	if (!ret)
		ret = floor_await(end, rdma_resolve_route(id, RESOLVE_MS));
	if (!ret)
		ret = floor_open(end, id);
	if (ret)
		goto err_destroy_id;
	ret = floor_await(end, rdma_connect(id, &param));
	if (ret)
		goto err_close;
	return 0;

err_close:
	floor_close(end);
err_destroy_id:
	rdma_destroy_id(id);
	return ret;
}

static void floor_disconnect(struct floor_end *end)
{
	struct rdma_cm_id *id = end->id;

	if (!id)
		return;
	rdma_disconnect(id);
	floor_close(end);
	rdma_destroy_id(id);
}

/* The run */

static int floor_compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static int floor_measure(struct floor *floor)
{
	int ret = 0;

	if (!reply)
		ret = floor_thread_start(&floor->server, floor_server_thread, "server");
	if (!ret && !reply)
		ret = floor_thread_start(&floor->client, floor_client_thread, "client");
	if (ret)
		return ret;
	floor->begun = ktime_get_ns();
	ret = floor_send(&floor->client);
	if (ret)
		return ret;
	wait_for_completion(&floor->over);
	if (floor->trips < WARMUP + count)
		return -EIO;
	sort(floor->samples, count, sizeof(*floor->samples), floor_compare, NULL);
	typical_ns = floor->samples[count / 2] / 2;
	pr_info("%u bytes one way, %s: %lu.%03lu thousand instructions where time counts them\n",
		size, reply ? "handlers reply" : "threads are woken", typical_ns / 1000,
		typical_ns % 1000);
	return 0;
}

static int floor_run(struct floor *floor, struct sockaddr *sockaddr)
{
	int ret = floor_listen(floor, sockaddr);

	if (ret)
		return ret;
	ret = floor_connect(&floor->client, sockaddr);
	if (!ret)
		ret = floor_measure(floor);
	floor_disconnect(&floor->client);
	/* Nobody connects from here on, so the server's end stays as it is. */
	rdma_destroy_id(floor->listener);
	floor_disconnect(&floor->server);
	return ret;
}

static void floor_end_init(struct floor *floor, struct floor_end *end)
{
	end->floor = floor;
	init_completion(&end->event);
	init_completion(&end->message);
}

static int __init floor_init(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct floor *floor;
	int ret = -ENOMEM;

	if (!size || size > SIZE_MAX_BYTES || !count || count > COUNT_MAX ||
	    !in4_pton(addr, -1, (u8 *)&sin.sin_addr, -1, NULL))
		return -EINVAL;
	floor = kzalloc(sizeof(*floor), GFP_KERNEL);
	if (!floor)
		return -ENOMEM;
	init_completion(&floor->over);
	floor_end_init(floor, &floor->client);
	floor_end_init(floor, &floor->server);
	floor->samples = kvcalloc(count, sizeof(*floor->samples), GFP_KERNEL);
	if (floor->samples)
		ret = floor_run(floor, (struct sockaddr *)&sin);
	kvfree(floor->samples);
	kfree(floor);
	return ret;
}

static void __exit floor_exit(void)
{
}

module_init(floor_init);
module_exit(floor_exit);
MODULE_DESCRIPTION("The cost of a message over raw verbs of the kernel");
MODULE_LICENSE("GPL");
