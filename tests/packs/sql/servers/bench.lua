-- What tests of w:sql call: one tool that passes its arguments on.
local function sql(w, args)
  local ok, out = pcall(w.sql, w, args)
  if not ok then fail(out) end
  return { structured = out }
end

return server {
  id = "bench", title = "Bench", instructions = "",
  seed = function(w, r)
    w:put("tables", "customers", {
      columns = { { name = "id", type = "INTEGER", key = true },
        { name = "name", type = "TEXT", not_null = true }, { name = "city", type = "TEXT" } },
      rows = { { 1, "Edith", "Hull" }, { 2, "Marco", null }, { 3, "O'Neil \"x\"", "Ely" } },
    })
    w:put("tables", "numbers", {
      columns = { { name = "n", type = "INTEGER" }, { name = "x", type = "REAL" } },
      rows = list {},
    })
    w:put("tables", "pairs", {
      columns = { { name = "a", type = "TEXT", key = true },
        { name = "b", type = "INTEGER", key = true } },
      rows = { { "k", 1 }, { "k", 2 } },
    })
  end,
  tools = {
    {
      name = "sql", title = "SQL", description = "Runs a statement.",
      input = { type = "object", properties = {} },
      annotations = { readOnlyHint = false },
      handler = sql,
    },
    {
      name = "raw", title = "SQL without pcall", description = "Runs a statement.",
      input = { type = "object", properties = {} },
      annotations = { readOnlyHint = false },
      handler = function(w, args) return { structured = w:sql(args) } end,
    },
    {
      name = "again", title = "Many calls", description = "Runs a statement again and again.",
      input = { type = "object", properties = {} },
      annotations = { readOnlyHint = false },
      handler = function(w, args)
        while true do pcall(w.sql, w, args) end
      end,
    },
    {
      name = "put", title = "Write", description = "Puts a value into the world.",
      input = { type = "object", properties = {} },
      annotations = { readOnlyHint = false },
      handler = function(w, args)
        w:put("tables", args.table, args.value)
        return "done"
      end,
    },
  },
  resources = {},
  prompts = {},
}
