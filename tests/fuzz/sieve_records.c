/* Records of the sieve. First byte: 'd' definitions, 'i' items, 'm' a manifest, 'f' any file for an
 * import (as MCPTox's layout, too), 'b' tools as text, 't' a list of servers. Files are read
 * through a descriptor, as a program reads them. What is taken must be written and read back as the
 * same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sieve/import.h"
#include "sieve/targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

static int memory_file(struct btz_str text, char *path, size_t size)
{
    int fd = memfd_create("records", MFD_CLOEXEC);

    check(fd >= 0 && write(fd, text.ptr, text.len) == (ssize_t)text.len, "a file in memory");
    (void)snprintf(path, size, "/proc/self/fd/%d", fd);
    return fd;
}

static void fuzz_lines(struct btz_arena *arena, struct btz_str text, bool items)
{
    struct btz_sieve_definition definition;
    struct btz_sieve_item item;
    struct btz_sieve_reader *reader = NULL;
    struct btz_sieve_reader *again;
    struct btz_buf line;
    char path[64];
    int fd = memory_file(text, path, sizeof(path));
    int rc = btz_sieve_reader_open(path, &reader, NULL);

    check(rc == BTZ_OK, "a file in memory opens");
    btz_buf_init(&line, 64 * (size_t)1024 * 1024);
    while (rc == BTZ_OK) {
        rc = items ? btz_sieve_item_next(reader, arena, &item, NULL)
                   : btz_sieve_definition_next(reader, arena, &definition, NULL);
        if (rc != BTZ_OK) {
            break;
        }
        btz_buf_reset(&line);
        if (items) {
            btz_sieve_item_write(&line, &item);
        } else {
            btz_sieve_definition_write(&line, &definition);
        }
        if (line.len > BTZ_SIEVE_LINE_MAX) {
            continue; /* escapes are longer than what they were read from */
        }
        again = btz_sieve_reader_of(btz_buf_view(&line), "again");
        check((items ? btz_sieve_item_next(again, arena, &item, NULL)
                     : btz_sieve_definition_next(again, arena, &definition, NULL)) == BTZ_OK,
              "what was written is read");
        btz_sieve_reader_free(again);
    }
    check(rc < 0, "an end or an error");
    btz_buf_fini(&line);
    btz_sieve_reader_free(reader);
    (void)close(fd);
}

static void fuzz_manifest(struct btz_arena *arena, struct btz_str text)
{
    struct btz_sieve_manifest manifest;
    struct btz_buf out;

    if (btz_sieve_manifest_parse(arena, text, "m", &manifest, NULL) != BTZ_OK) {
        return;
    }
    btz_buf_init(&out, 64 * (size_t)1024 * 1024);
    btz_sieve_manifest_write(&out, &manifest);
    check(btz_sieve_manifest_parse(arena, btz_buf_view(&out), "m", &manifest, NULL) == BTZ_OK,
          "a manifest that was written is read");
    btz_buf_fini(&out);
}

static void fuzz_import(struct btz_arena *arena, struct btz_str text)
{
    const struct btz_sieve_import_options options = {.collected = BTZ_STR("2026-11-30"),
                                                     .mcptox_unchecked = true};
    struct btz_sieve_import_counts counts;
    struct btz_sieve_reader *reader;
    struct btz_sieve_definition definition;
    struct btz_buf out;
    char path[64];
    int fd = memory_file(text, path, sizeof(path));

    btz_buf_init(&out, 64 * (size_t)1024 * 1024);
    if (btz_sieve_import(arena, path, &options, btz_json_new_object(arena), &out, &counts, NULL) ==
        BTZ_OK) {
        int64_t count = 0;

        reader = btz_sieve_reader_of(btz_buf_view(&out), "out");
        while (btz_sieve_definition_next(reader, arena, &definition, NULL) == BTZ_OK) {
            count++;
        }
        check(count == counts.definitions, "every definition of an import is read back");
        btz_sieve_reader_free(reader);
    }
    btz_buf_fini(&out);
    (void)close(fd);
}

static void fuzz_targets(struct btz_arena *arena, struct btz_str text)
{
    struct btz_sieve_target *targets = NULL;
    size_t count = 0;
    char path[64];
    int fd = memory_file(text, path, sizeof(path));

    if (btz_sieve_targets_load(arena, path, &targets, &count, NULL) == BTZ_OK) {
        check(count > 0, "a list names a server");
        for (size_t i = 0; i < count; i++) {
            check((targets[i].argv != NULL) != (targets[i].url.len > 0), "a command or a URL");
            check(targets[i].label.len && targets[i].source.len && targets[i].env, "a server");
        }
    }
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct btz_arena *arena;
    struct btz_str text;

    if (size == 0) {
        return 0;
    }
    text = (struct btz_str){(const char *)data + 1, size - 1};
    arena = btz_arena_new();
    if (data[0] == 'd' || data[0] == 'i') {
        fuzz_lines(arena, text, data[0] == 'i');
    } else if (data[0] == 'm') {
        fuzz_manifest(arena, text);
    } else if (data[0] == 'f') {
        fuzz_import(arena, text);
    } else if (data[0] == 't') {
        fuzz_targets(arena, text);
    } else if (data[0] == 'b') {
        while (btz_sieve_tool_block(arena, &text)) {
        }
    }
    btz_arena_free(arena);
    return 0;
}
