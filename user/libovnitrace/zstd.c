/* SPDX-License-Identifier: BSD-2-Clause */
#include "user/libovnitrace/zstd.h"

#ifdef OVT_ZSTD

#include <stdlib.h>
#include <zstd.h>

void *ovt_zstd_compress(const void *plain, size_t size, size_t *compressed_size)
{
	size_t bound = ZSTD_compressBound(size);
	void *block = malloc(bound);
	if (!block)
		return NULL;
	*compressed_size = ZSTD_compress(block, bound, plain, size, ZSTD_CLEVEL_DEFAULT);
	if (ZSTD_isError(*compressed_size)) {
		free(block);
		return NULL;
	}
	void *fitting = realloc(block, *compressed_size);
	return fitting ? fitting : block;
}

bool ovt_zstd_expand(void *plain, size_t size, const void *compressed, size_t compressed_size)
{
	return ZSTD_decompress(plain, size, compressed, compressed_size) == size;
}

#else

void *ovt_zstd_compress(const void *plain, size_t size, size_t *compressed_size)
{
	(void)plain, (void)size, (void)compressed_size;
	return NULL;
}

bool ovt_zstd_expand(void *plain, size_t size, const void *compressed, size_t compressed_size)
{
	(void)plain, (void)size, (void)compressed, (void)compressed_size;
	return false;
}

#endif
