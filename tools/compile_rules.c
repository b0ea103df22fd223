/* Compiles the patterns of the guard's rules at build time: compile_rules FOLDED.bin RAW.bin
 *
 * Hyperscan takes a second for them, at every start of a program that scans. What is written is
 * loaded instead where it fits (src/match/prefilter.h); an empty file never does, and the program
 * compiles them itself. */
#include <stdio.h>

#include "guard/guard_int.h"

static int write_file(const char *path, struct btz_str bytes)
{
    FILE *file = fopen(path, "wb");
    bool good = file && (bytes.len == 0 || fwrite(bytes.ptr, 1, bytes.len, file) == bytes.len);

    if (file) {
        good = fclose(file) == 0 && good;
    }
    if (!good) {
        fprintf(stderr, "compile_rules: %s cannot be written\n", path);
    }
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const enum view_kind views[] = {VIEW_FOLDED, VIEW_RAW};

    if (argc != 3) {
        fprintf(stderr, "usage: compile_rules FOLDED.bin RAW.bin\n");
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        struct btz_buf out;
        struct btz_err err = {0};
        int rc;

        btz_buf_init(&out, 64 * 1024 * 1024);
        rc = btz_guard_prefilter_save(btz_guard_rule_files, btz_guard_rule_files_count, views[i],
                                      &out, &err);
        if (rc != BTZ_OK && rc != BTZ_EUNSUPPORTED) {
            fprintf(stderr, "compile_rules: %s\n", err.msg);
            return 1;
        }
        if (write_file(argv[i + 1], btz_buf_view(&out)) != 0) {
            return 1;
        }
        btz_buf_fini(&out);
    }
    return 0;
}
