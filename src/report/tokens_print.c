/* What the models read and wrote, and the guard models beside them. */
#include "report/report_int.h"

static const struct grid_column columns[] = {
    {"model", BTZ_ALIGN_LEFT, false, NULL},
    {"trials", BTZ_ALIGN_RIGHT, false, NULL},
    {"unknown", BTZ_ALIGN_RIGHT, true, NULL},
    {"prefill", BTZ_ALIGN_RIGHT, false, NULL},
    {"prefill a trial", BTZ_ALIGN_RIGHT, false, NULL},
    {"decode", BTZ_ALIGN_RIGHT, false, NULL},
    {"decode a trial", BTZ_ALIGN_RIGHT, false, NULL},
    {"ratio", BTZ_ALIGN_RIGHT, false, NULL},
    {"guard: prefill", BTZ_ALIGN_RIGHT, true, "guard model"},
    {"guard: decode", BTZ_ALIGN_RIGHT, true, NULL},
    {"guard: unknown", BTZ_ALIGN_RIGHT, true, NULL},
};

struct spent tokens_of(const struct subject *s)
{
    struct spent out = {.prefill = 0};

    for (size_t i = 0; i < s->row_count; i++) {
        for (const struct variant *v = s->rows[i]->first; v; v = v->next) {
            for (int arm = 0; arm < ARMS; arm++) {
                const struct usage *u = &v->arm[arm].usage;
                const struct guarding *g = &v->arm[arm].guarding;

                out.known += u->known;
                out.unknown += u->unknown;
                out.prefill += u->prefill;
                out.decode += u->decode;
                out.guard_prefill += g->prefill;
                out.guard_decode += g->decode;
                out.guard_known += g->metered;
                out.guard_unknown += g->unmetered;
            }
        }
    }
    return out;
}

static void number_cell(const struct page *p, struct grid *grid, int64_t value, bool known)
{
    grid_cell(grid, BTZ_COLOUR_NONE,
              known ? btz_arena_printf(p->arena, "%lld", (long long)value) : BTZ_STR("-"));
}

static void ratio_cell(const struct page *p, struct grid *grid, int64_t a, int64_t b)
{
    grid_cell(grid, BTZ_COLOUR_NONE,
              b ? btz_arena_printf(p->arena, "%.1f", (double)a / (double)b) : BTZ_STR("-"));
}

static void add_subject(const struct page *p, struct grid *grid, const struct subject *s)
{
    struct spent t = tokens_of(s);

    grid_cell(grid, BTZ_COLOUR_NONE, subject_label(p->report, s));
    page_count(grid, t.known + t.unknown);
    page_count(grid, t.unknown);
    number_cell(p, grid, t.prefill, t.known > 0);
    ratio_cell(p, grid, t.prefill, t.known);
    number_cell(p, grid, t.decode, t.known > 0);
    ratio_cell(p, grid, t.decode, t.known);
    ratio_cell(p, grid, t.prefill, t.decode);
    page_count(grid, t.guard_prefill);
    page_count(grid, t.guard_decode);
    page_count(grid, t.guard_unknown);
}

void print_tokens(const struct page *p)
{
    struct grid *grid = grid_new(p->arena, columns, sizeof(columns) / sizeof(columns[0]));
    bool any = false;

    for (const struct subject *s = p->report->first; s; s = s->next) {
        struct spent t = tokens_of(s);

        any = any || t.known > 0 || t.guard_prefill > 0 || t.guard_unknown > 0;
        if (t.known + t.unknown > 0) {
            add_subject(p, grid, s);
        }
    }
    if (!any) {
        return; /* nobody counted any: reference agents have none */
    }
    grid_print(grid, BTZ_STR("Tokens, all arms"), p->term, p->out);
    lines_text(p->out, p->term, 2, BTZ_COLOUR_DIM,
               BTZ_STR("Prefill: what the model read, that from a cache too. Decode: what it "
                       "wrote. Ratio: prefill by decode. Over the trials whose provider gave them; "
                       "unknown: it did not. "
                       "Trials that were superseded are not in it."));
}
