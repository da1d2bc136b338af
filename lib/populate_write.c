/* SPDX-License-Identifier: MIT */
/*
 * populate_write: a placed tree onto a device: root directory, folders, files.
 *
 * Goes over the volume once, from front to back, in large writes. Every cluster in use is written
 * to its end, so nothing of what was there before shows. Holds one buffer and
 * no cluster map: places follow from the plan. Reads nothing from the device.
 */
#include "populate.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define BUFFER_BYTES (1u << 20)
/* From here on a range of zeros is left to the device, which may have a hole there. */
#define ZERO_BY_COMMAND_BYTES (64u << 10)

/* ---- a stream of bytes to ascending places ---- */

struct stream {
	const struct fat_populate *populate;
	const struct fat_populate_source *source;
	struct fat_dev *dev;
	uint8_t *buffer;
	size_t n_bytes;         /* in the buffer */
	uint64_t off;           /* of the buffer's first byte */
	uint64_t run_bytes;     /* that may still come at this place */
	uint32_t next_clus;     /* of the node at hand, behind this run */
	uint32_t left_clus;     /* of the node at hand, behind this run */
	uint64_t content_bytes; /* done */
	uint32_t failed_node;
};

static enum fat_status stream_write(struct stream *stream)
{
	const struct fat_populate_source *source = stream->source;
	enum fat_status status =
		fat_dev_write(stream->dev, stream->off, stream->buffer, stream->n_bytes);

	stream->off += stream->n_bytes;
	stream->n_bytes = 0;
	if (status == FAT_OK && source->progress &&
	    !source->progress(source->ctx, stream->content_bytes))
		status = FAT_ERR_CANCELLED;
	return status;
}

static enum fat_status stream_go(struct stream *stream, uint64_t off)
{
	enum fat_status status = FAT_OK;

	if (off != stream->off + stream->n_bytes) {
		status = stream_write(stream);
		stream->off = off;
	}
	return status;
}

/* The node's next clusters that lie in a row. */
static enum fat_status stream_next_run(struct stream *stream)
{
	const struct fat_populate *populate = stream->populate;
	const struct fat_geometry *geometry = &populate->geometry;
	uint32_t clus = stream->next_clus;
	uint32_t run = fat_populate_run(populate, clus, stream->left_clus);

	stream->left_clus -= run;
	stream->next_clus = fat_populate_skip_bad(populate, clus + run);
	stream->run_bytes = (uint64_t)run * geometry->cluster_bytes;
	return stream_go(stream, fat_geometry_cluster_off(geometry, clus));
}

static enum fat_status stream_open(struct stream *stream, uint32_t node)
{
	const struct fat_populate *populate = stream->populate;
	const struct fat_geometry *geometry = &populate->geometry;

	if (node == 0 && geometry->type != FAT_TYPE_32) {
		stream->left_clus = 0;
		stream->run_bytes = (uint64_t)geometry->root_sec * geometry->sector_bytes;
		return stream_go(stream, fat_geometry_root_off(geometry));
	}
	stream->run_bytes = 0;
	stream->next_clus = populate->node[node].first_clus;
	stream->left_clus = populate->node[node].n_clus;
	return FAT_OK;
}

/* Room for the node's next bytes: at least one, at most *n_bytes, which becomes what there is. */
static enum fat_status stream_room(struct stream *stream, size_t *n_bytes, uint8_t **room)
{
	enum fat_status status = FAT_OK;

	if (stream->run_bytes == 0)
		status = stream_next_run(stream);
	/* Full, or the rest up to a boundary of the device's that the next write can begin at. */
	if (status == FAT_OK && stream->n_bytes == BUFFER_BYTES - stream->off % BUFFER_BYTES)
		status = stream_write(stream);
	*n_bytes = (size_t)min_u64(*n_bytes, stream->run_bytes);
	*n_bytes = (size_t)min_u64(*n_bytes,
				   BUFFER_BYTES - stream->off % BUFFER_BYTES - stream->n_bytes);
	*room = stream->buffer + stream->n_bytes;
	return status;
}

static void stream_took(struct stream *stream, size_t n_bytes)
{
	stream->n_bytes += n_bytes;
	stream->run_bytes -= n_bytes;
}

static enum fat_status stream_zero_here(struct stream *stream, uint64_t n_bytes)
{
	uint64_t off;
	enum fat_status status = stream_write(stream);

	off = stream->off;
	if (status == FAT_OK)
		status = fat_dev_zero(stream->dev, off, n_bytes);
	stream->off += n_bytes;
	stream->run_bytes -= n_bytes;
	return status;
}

static enum fat_status stream_zero(struct stream *stream, uint64_t n_bytes)
{
	enum fat_status status = FAT_OK;

	while (n_bytes > 0 && status == FAT_OK) {
		size_t n = (size_t)min_u64(n_bytes, BUFFER_BYTES);
		uint8_t *room;

		status = stream_room(stream, &n, &room);
		if (status != FAT_OK)
			break;
		if (min_u64(n_bytes, stream->run_bytes) >= ZERO_BY_COMMAND_BYTES) {
			uint64_t here = min_u64(n_bytes, stream->run_bytes);

			status = stream_zero_here(stream, here);
			n_bytes -= here;
		} else {
			memset(room, 0, n);
			stream_took(stream, n);
			n_bytes -= n;
		}
	}
	return status;
}

/* The rest of what the node has. */
static enum fat_status stream_close(struct stream *stream)
{
	uint64_t rest = stream->run_bytes +
			(uint64_t)stream->left_clus * stream->populate->geometry.cluster_bytes;

	return stream_zero(stream, rest);
}

/* ---- folders and files ---- */

static enum fat_status write_folder(struct stream *stream, uint32_t node)
{
	struct populate_slots slots;
	uint8_t slot[FAT_SLOT_BYTES];
	enum fat_status status = stream_open(stream, node);

	fat_populate_slots_init(&slots, stream->populate, node);
	while (status == FAT_OK && fat_populate_slots_next(&slots, slot)) {
		size_t n = sizeof slot;
		uint8_t *room;

		status = stream_room(stream, &n, &room);
		if (status != FAT_OK)
			break;
		memcpy(room, slot, sizeof slot);
		stream_took(stream, sizeof slot);
	}
	return status == FAT_OK ? stream_close(stream) : status;
}

static enum fat_status copy_data(struct stream *stream, uint32_t node, uint64_t off, uint64_t end)
{
	const struct fat_populate_source *source = stream->source;
	enum fat_status status = FAT_OK;

	while (off < end && status == FAT_OK) {
		size_t n = (size_t)min_u64(end - off, BUFFER_BYTES);
		uint8_t *room;

		status = stream_room(stream, &n, &room);
		if (status != FAT_OK)
			break;
		status = source->read(source->ctx, node, off, room, n);
		if (status != FAT_OK)
			stream->failed_node = node;
		stream_took(stream, n);
		stream->content_bytes += n;
		off += n;
	}
	return status;
}

static enum fat_status find_data(struct stream *stream, uint32_t node, uint64_t off,
				 uint64_t *data_off, uint64_t *end_off)
{
	const struct fat_populate_source *source = stream->source;
	uint64_t size_bytes = stream->populate->node[node].size_bytes;
	enum fat_status status = FAT_OK;

	*data_off = off;
	*end_off = size_bytes;
	if (source->find_data)
		status = source->find_data(source->ctx, node, off, data_off, end_off);
	if (status != FAT_OK)
		stream->failed_node = node;
	*data_off = min_u64(max_u64(*data_off, off), size_bytes);
	*end_off = min_u64(*end_off, size_bytes);
	if (*end_off <= *data_off)
		*end_off = size_bytes; /* whatever it said: go on */
	return status;
}

static enum fat_status write_file(struct stream *stream, uint32_t node)
{
	uint64_t size_bytes = stream->populate->node[node].size_bytes;
	enum fat_status status = FAT_OK;

	if (size_bytes == 0)
		return FAT_OK;
	status = stream_open(stream, node);
	for (uint64_t off = 0; off < size_bytes && status == FAT_OK;) {
		uint64_t data_off, end_off;

		status = find_data(stream, node, off, &data_off, &end_off);
		if (status == FAT_OK)
			status = stream_zero(stream, data_off - off);
		stream->content_bytes += data_off - off;
		if (status == FAT_OK)
			status = copy_data(stream, node, data_off, end_off);
		off = end_off;
	}
	return status == FAT_OK ? stream_close(stream) : status;
}

static enum fat_status write_nodes(struct stream *stream)
{
	const struct fat_populate *populate = stream->populate;
	struct populate_walk walk = { .populate = populate };
	enum fat_status status = FAT_OK;
	uint32_t node;

	while (status == FAT_OK && (node = fat_populate_walk_next(&walk)) != FAT_POPULATE_NO_NODE)
		status = populate->node[node].is_folder ? write_folder(stream, node)
							: write_file(stream, node);
	return status == FAT_OK ? stream_write(stream) : status;
}

enum fat_status fat_populate_write(struct fat_populate *populate, struct fat_dev *dev,
				   const struct fat_populate_source *source)
{
	struct stream stream = {
		.populate = populate,
		.source = source,
		.dev = dev,
		.buffer = malloc(BUFFER_BYTES),
		.off = fat_geometry_root_off(&populate->geometry),
		.failed_node = FAT_POPULATE_NO_NODE,
	};
	enum fat_status status = stream.buffer ? FAT_OK : FAT_ERR_MEMORY;

	if (populate->n_used_clus == 0 && populate->geometry.type == FAT_TYPE_32)
		status = FAT_ERR_ARGUMENT; /* not placed */
	if (status == FAT_OK)
		status = write_nodes(&stream);
	populate->failed_node = stream.failed_node;
	free(stream.buffer);
	return status;
}
