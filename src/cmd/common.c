#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "cmd/cmd.h"
#include "study/study.h"

static const struct btz_command *const commands[] = {
    &btz_command_run,      &btz_command_report, &btz_command_show,    &btz_command_list,
    &btz_command_selftest, &btz_command_verify, &btz_command_compare, &btz_command_replay,
    &btz_command_doctor,   &btz_command_arena,  &btz_command_rescore, &btz_command_agreement,
    &btz_command_canon,    &btz_command_sieve,  &btz_command_connect,
};

const struct btz_command *btz_command_at(size_t index)
{
    return index < sizeof(commands) / sizeof(commands[0]) ? commands[index] : NULL;
}

int btz_cmd_print(const struct btz_buf *text, struct btz_err *err)
{
    if (btz_buf_status(text) != BTZ_OK) {
        return btz_err_set(err, BTZ_ELIMIT, "the output is too large");
    }
    if ((text->len && fwrite(text->ptr, 1, text->len, stdout) != text->len) ||
        fflush(stdout) != 0) {
        return btz_err_set(err, BTZ_EIO, "standard output cannot be written: %s", strerror(errno));
    }
    return BTZ_OK;
}

int btz_cmd_print_json(struct btz_context *context, const struct btz_json *value,
                       struct btz_err *err)
{
    struct btz_buf out;
    int rc;

    btz_buf_init(&out, 1024U * 1024 * 1024);
    if (context->out.is_terminal) {
        struct btz_buf pretty;

        btz_buf_init(&pretty, 1024U * 1024 * 1024);
        (void)btz_json_write_pretty(&pretty, value);
        btz_term_add_json(&out, btz_buf_view(&pretty));
        btz_buf_fini(&pretty);
    } else {
        (void)btz_json_write(&out, value);
    }
    (void)btz_buf_add_byte(&out, '\n');
    rc = btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc;
}

void btz_cmd_tell(struct btz_str text, const char *indent)
{
    struct btz_str line;
    struct btz_buf out;

    btz_buf_init(&out, (size_t)64 * 1024 * 1024);
    while (btz_str_cut(&text, '\n', &line)) {
        (void)btz_buf_add_text(&out, out.len ? indent : "");
        (void)btz_term_add_text(&out, line, SIZE_MAX);
        (void)btz_buf_add_byte(&out, '\n');
    }
    (void)fwrite(out.ptr, 1, out.len, stderr);
    btz_buf_fini(&out);
}

void btz_cmd_note(const struct btz_context *context, const char *fmt, ...)
{
    va_list args;
    va_list again;
    char *text;
    int len;

    if (context->quiet) {
        return;
    }
    va_start(args, fmt);
    va_copy(again, args);
    len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    text = len < 0 ? NULL : malloc((size_t)len + 1);
    if (text) {
        (void)vsnprintf(text, (size_t)len + 1, fmt, again);
        btz_cmd_tell(btz_str_of(text), "");
    }
    va_end(again);
    free(text);
}

int btz_cmd_lab(struct btz_context *context, struct btz_lab **out, struct btz_err *err)
{
    return btz_cmd_lab_with(context, NULL, 0, out, err);
}

static bool among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

int btz_cmd_lab_with(struct btz_context *context, const char *const *builtins, size_t count,
                     struct btz_lab **out, struct btz_err *err)
{
    struct btz_lab_options options = {0};
    const char *const *given = NULL;
    size_t given_count = btz_args_list(context->args, "pack", &given);
    const char **packs = btz_arena_array(context->arena, count + given_count, sizeof(*packs));

    for (size_t i = 0; i < count + given_count; i++) {
        const char *name = i < count ? builtins[i] : given[i - count];

        /* A study and its user may both ask for one. */
        if (!btz_lab_pack_is_builtin(name) || !among(name, packs, options.pack_dir_count)) {
            packs[options.pack_dir_count++] = name;
        }
    }
    options.pack_dirs = packs;
    return btz_lab_new(&options, out, err);
}

int btz_cmd_lab_of(struct btz_context *context, struct btz_store *store, int64_t run,
                   struct btz_lab **out, struct btz_err *err)
{
    const char *const *packs;
    struct btz_str card;
    size_t count = 0;
    int rc = btz_store_provenance(store, run, context->arena, &card, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    packs = btz_study_packs_of(context->arena, card, &count);
    return btz_cmd_lab_with(context, packs, count, out, err);
}

int btz_cmd_store(struct btz_context *context, enum btz_store_mode mode, struct btz_store **out,
                  struct btz_err *err)
{
    const char *path = btz_args_text(context->args, "store", NULL);
    char standard[PATH_MAX];
    int rc;

    if (!path) {
        rc = btz_store_default_path(standard, sizeof(standard), err);
        if (rc != BTZ_OK) {
            return rc;
        }
        path = standard;
    }
    rc = btz_store_open(path, mode, out, err);
    if (rc == BTZ_ENOTFOUND) {
        return btz_err_set(err, BTZ_EUSAGE, "there is no store at %s yet: `bartizan run` makes one",
                           path);
    }
    return rc;
}

int btz_cmd_program(struct btz_context *context, struct btz_str *out, struct btz_err *err)
{
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (len <= 0) {
        return btz_err_set(err, BTZ_EIO, "the path of this program cannot be read: %s",
                           strerror(errno));
    }
    *out = btz_arena_dup(context->arena, (struct btz_str){path, (size_t)len});
    return BTZ_OK;
}

int btz_cmd_binary_hash(struct btz_hash *out, struct btz_err *err)
{
    FILE *file = fopen("/proc/self/exe", "rbe");
    struct btz_hasher *hasher;
    char chunk[65536];
    size_t got;
    bool failed;

    if (!file) {
        return btz_err_set(err, BTZ_EIO, "this program's own file cannot be read: %s",
                           strerror(errno));
    }
    hasher = btz_hasher_new();
    while ((got = fread(chunk, 1, sizeof(chunk), file)) > 0) {
        btz_hasher_add(hasher, (struct btz_str){chunk, got});
    }
    failed = ferror(file) != 0;
    (void)fclose(file);
    *out = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return failed ? btz_err_set(err, BTZ_EIO, "this program's own file cannot be read") : BTZ_OK;
}

static bool is_file(char *out, size_t size, const char *dir, const char *tail)
{
    int len = snprintf(out, size, "%s%s", dir, tail);

    return len > 0 && (size_t)len < size && access(out, R_OK) == 0;
}

bool btz_cmd_local_state(char *out, size_t size)
{
    const char *named = getenv("BARTIZAN_LOCAL_DIR");
    char exe[PATH_MAX];
    ssize_t len;
    char *slash;

    (void)snprintf(out, size, "build/local-model/state.json");
    if (named && *named) {
        return is_file(out, size, named, "/state.json");
    }
    len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    if (len <= 0) {
        return false;
    }
    exe[len] = '\0';
    slash = strrchr(exe, '/');
    if (!slash) {
        return false;
    }
    *slash = '\0';
    /* The program is built in build/release; tools/local-model keeps its state in build. */
    return is_file(out, size, exe, "/local-model/state.json") ||
           is_file(out, size, exe, "/../local-model/state.json");
}

bool btz_cmd_local_runs(int64_t pid)
{
    return pid <= 0 || pid > INT_MAX || kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

struct btz_str *btz_cmd_values(struct btz_context *context, const char *name, size_t *count)
{
    const char *const *values = NULL;
    struct btz_str *out;

    *count = btz_args_list(context->args, name, &values);
    out = btz_arena_array(context->arena, *count, sizeof(*out));
    for (size_t i = 0; i < *count; i++) {
        out[i] = btz_str_of(values[i]);
    }
    return out;
}

int btz_cmd_model(struct btz_context *context, struct btz_str reference,
                  struct btz_llm_model *model, struct btz_llm_key *key, struct btz_err *err)
{
    size_t key_for_count = 0;
    struct btz_str *key_for = btz_cmd_values(context, "key-for", &key_for_count);
    char state[4096];
    int rc;

    *key = (struct btz_llm_key){0};
    (void)btz_cmd_local_state(state, sizeof(state));
    rc = btz_llm_model_parse(context->arena, reference, state, model, err);
    if (rc == BTZ_OK && model->kind != BTZ_LLM_MODEL_REF) {
        rc = btz_llm_key_for(context->arena, model, getenv("OPENAI_API_KEY"),
                             btz_args_text(context->args, "key-file", NULL), key_for, key_for_count,
                             key, err);
    }
    if (rc == BTZ_OK && model->kind == BTZ_LLM_MODEL_LOCAL &&
        !btz_cmd_local_runs(model->local.pid)) {
        rc = btz_err_set(err, BTZ_EMISSING,
                         "the local model is not running: `make local-model` starts it");
    }
    if (rc == BTZ_OK && !key->send && key->why.len &&
        (key_for_count || btz_args_has(context->args, "key-file"))) {
        btz_cmd_note(context, "%.*s: %.*s", BTZ_FMT(reference), BTZ_FMT(key->why));
    }
    return rc;
}
