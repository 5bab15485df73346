/* SPDX-License-Identifier: BSD-2-Clause */
/* Compresses with zstd. Without OVT_ZSTD in the build, every function fails. */
#ifndef OVT_ZSTD_H
#define OVT_ZSTD_H

#include <stdbool.h>
#include <stddef.h>

/* Returns a malloc'd block of *compressed_size bytes; null if it failed. */
void *ovt_zstd_compress(const void *plain, size_t size, size_t *compressed_size);

/* Returns true if it expanded to exactly `size` bytes. */
bool ovt_zstd_expand(void *plain, size_t size, const void *compressed, size_t compressed_size);

#endif
