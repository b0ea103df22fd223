/* Turns files into a C source, at build time: embed OUT.c DEPFILE SYMBOL ROOT NAME...
 *
 * Each NAME is a path below ROOT, or @LIST: a file below ROOT that lists such paths, one a line
 * (empty lines and lines that begin with '#' are skipped). OUT.c defines
 *   const struct btz_embedded SYMBOL[];  const size_t SYMBOL_count;
 * (struct btz_embedded: src/base/embedded.h) in the order given; DEPFILE is for ninja. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 4096, PATH_BYTES = 4096 };

static char *names[FILES_MAX];
static size_t name_count;

static void die(const char *what, const char *which)
{
    fprintf(stderr, "embed: %s: %s\n", which, what);
    exit(1);
}

static FILE *open_below(const char *root, const char *name, char *path)
{
    FILE *file;
    int len = snprintf(path, PATH_BYTES, "%s/%s", root, name);

    if (len < 0 || len >= PATH_BYTES) {
        die("the path is too long", name);
    }
    file = fopen(path, "rb");
    if (!file) {
        die("cannot be read; is it listed by mistake?", path);
    }
    return file;
}

static void add_name(const char *name)
{
    if (name_count == FILES_MAX) {
        die("too many files", name);
    }
    names[name_count] = strdup(name);
    if (!names[name_count]) {
        die("out of memory", name);
    }
    name_count++;
}

static void add_list(const char *root, const char *list, FILE *deps)
{
    char path[PATH_BYTES];
    char line[PATH_BYTES];
    FILE *file = open_below(root, list, path);

    fprintf(deps, " %s", path);
    while (fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0' && line[0] != '#') {
            add_name(line);
        }
    }
    fclose(file);
}

/* As a string literal: bytes that are not plain text are written in octal. */
static size_t write_bytes(FILE *out, FILE *in)
{
    size_t count = 0;
    int byte;

    while ((byte = fgetc(in)) != EOF) {
        if (count % 64 == 0) {
            fputs(count ? "\"\n    \"" : "\n    \"", out);
        }
        if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && byte != '?') {
            fputc(byte, out);
        } else {
            fprintf(out, "\\%03o", (unsigned)byte);
        }
        count++;
    }
    fputs(count ? "\"" : "\"\"", out);
    return count;
}

int main(int argc, char **argv)
{
    char path[PATH_BYTES];
    FILE *out;
    FILE *deps;

    if (argc < 6) {
        fprintf(stderr, "usage: embed OUT.c DEPFILE SYMBOL ROOT NAME...\n");
        return 2;
    }
    out = fopen(argv[1], "wb");
    deps = fopen(argv[2], "wb");
    if (!out || !deps) {
        die("cannot be written", out ? argv[2] : argv[1]);
    }
    fprintf(deps, "%s:", argv[1]);
    for (int i = 5; i < argc; i++) {
        if (argv[i][0] == '@') {
            add_list(argv[4], argv[i] + 1, deps);
        } else {
            add_name(argv[i]);
        }
    }
    fprintf(out, "#include \"base/embedded.h\"\n\nconst struct btz_embedded %s[] = {\n", argv[3]);
    for (size_t i = 0; i < name_count; i++) {
        FILE *in = open_below(argv[4], names[i], path);
        size_t count;

        fprintf(deps, " %s", path);
        fprintf(out, "    {\"%s\",", names[i]);
        count = write_bytes(out, in);
        fprintf(out, ", %zu},\n", count);
        if (ferror(in)) {
            die("reading failed", path);
        }
        fclose(in);
    }
    fprintf(out, "    {0, 0, 0},\n};\nconst size_t %s_count = %zu;\n", argv[3], name_count);
    fputc('\n', deps);
    if (fclose(out) != 0 || fclose(deps) != 0) {
        die("writing failed", argv[1]);
    }
    for (size_t i = 0; i < name_count; i++) {
        free(names[i]);
    }
    return 0;
}
