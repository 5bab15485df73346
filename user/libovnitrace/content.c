/* SPDX-License-Identifier: BSD-2-Clause */
#include "user/libovnitrace/content.h"

#include "user/libovnitrace/clock.h"
#include "user/libovnitrace/zstd.h"

#include <stdlib.h>
#include <string.h>

enum { RECORD = sizeof(struct ftrace_record) };

static bool gives_clock(const struct ftrace_record *record)
{
	uint16_t code = record->code & FTRACE_CODE_MASK;
	return (code == FTrace_EVT_cycles_per_msec || code == FTrace_EVT_trace_start) &&
	       record->par2;
}

static void look_through(struct ovt_content *content)
{
	content->earliest = UINT64_MAX;
	for (int part = 0; part < 2; part++) {
		for (uint32_t i = 0; i < content->count[part]; i++) {
			const struct ftrace_record *record = &content->part[part][i];
			uint64_t time = ftrace_record_tsc(record);
			if (record->code == FTrace_EVT_empty)
				continue;
			if (time < content->earliest)
				content->earliest = time;
			content->has_clock |= gives_clock(record);
		}
	}
}

/* Decompresses both parts into one buffer. */
static int decompress(struct ovt_content *content, const struct ovt_chunk *chunk)
{
	size_t size = (content->count[0] + (size_t)content->count[1]) * RECORD;
	struct ftrace_record *records = malloc(size ? size : 1);
	if (!records)
		return FTRACE_E_NOMEM;
	if (!ovt_zstd_expand(records, size, chunk->compressed, chunk->compressed_size)) {
		free(records);
		return FTRACE_E_NOT_COMPRESSED;
	}
	content->buffer = records;
	content->part[0] = records;
	content->part[1] = records + content->count[0];
	return FTRACE_OK;
}

int ovt_content_open(struct ovt_content *content, const struct ovt_chunk *chunk)
{
	*content = (struct ovt_content){
		.part = {chunk->normal.records, chunk->emergency.records},
		.count = {ovt_area_count(&chunk->normal), ovt_area_count(&chunk->emergency)},
	};
	int error = chunk->compressed ? decompress(content, chunk) : FTRACE_OK;
	if (!error)
		look_through(content);
	return error;
}

void ovt_content_close(struct ovt_content *content)
{
	free(content->buffer);
	content->buffer = NULL;
}

struct ftrace_record ovt_content_clock(const struct ovt_content *content)
{
	struct ftrace_record record;
	ftrace_record_set(&record, FTrace_EVT_cycles_per_msec, 0, content->earliest,
			  OVT_CLK_PER_MSEC);
	return record;
}

int ovt_content_compress(const struct ovt_chunk *chunk, void **compressed, size_t *size)
{
	*compressed = NULL;
	if (chunk->compressed)
		return FTRACE_OK;
	size_t normal = ovt_area_count(&chunk->normal) * (size_t)RECORD;
	size_t emergency = ovt_area_count(&chunk->emergency) * (size_t)RECORD;
	char *plain = malloc(normal + emergency + 1);
	if (!plain)
		return FTRACE_E_NOMEM;
	memcpy(plain, chunk->normal.records, normal);
	memcpy(plain + normal, chunk->emergency.records, emergency);
	*compressed = ovt_zstd_compress(plain, normal + emergency, size);
	free(plain);
	return *compressed ? FTRACE_OK : FTRACE_E_NOT_COMPRESSED;
}
