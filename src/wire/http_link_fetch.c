/* What belongs to no MCP session: documents of the server's site, and requests for them. */
#include "wire/http_link_int.h"

void btz_http_link_set_front(struct btz_http_link *link,
                             bool (*front)(void *context, struct btz_http_link *link,
                                           struct btz_http_relay_item *item),
                             void *context)
{
    link->front = front;
    link->front_context = context;
}

void btz_http_link_keep_fetched(struct btz_http_link *link, uint64_t exchange,
                                const struct btz_http_relay_item *item)
{
    struct btz_http_fetched *fetched = BTZ_NEW(link->arena, struct btz_http_fetched);
    struct btz_http_field *fields =
        btz_arena_array(link->arena, item->field_count + 1, sizeof(*fields));

    for (size_t i = 0; i < item->field_count; i++) {
        fields[i].name = btz_arena_dup(link->arena, item->fields[i].name);
        fields[i].value = btz_arena_dup(link->arena, item->fields[i].value);
    }
    *fetched = (struct btz_http_fetched){.exchange = exchange,
                                         .status = item->status,
                                         .fields = fields,
                                         .field_count = item->field_count,
                                         .body = btz_arena_dup(link->arena, item->body)};
    link->fetched = fetched;
}

const struct btz_http_fetched *btz_http_link_fetched(const struct btz_http_link *link,
                                                     uint64_t exchange)
{
    return link->fetched && link->fetched->exchange == exchange ? link->fetched : NULL;
}
