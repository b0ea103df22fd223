-- What is remembered between sessions.
return server {
  id = "ledger", title = "Ledger", instructions = "",
  tools = {
    {
      name = "remember", title = "Remember", description = "Keeps a text.",
      input = { type = "object", required = { "key", "text" },
        properties = { key = { type = "string" }, text = { type = "string" } } },
      annotations = {}, sink = "ledger.kept",
      handler = function(w, args)
        w:put("kept", args.key, args.text)
        w:sink("ledger.kept", { key = args.key, text = args.text })
        return "Kept."
      end,
    },
    {
      name = "recall", title = "Recall", description = "Gives a text back.",
      input = { type = "object", required = { "key" }, properties = { key = { type = "string" } } },
      annotations = { readOnlyHint = true },
      handler = function(w, args) return w:get("kept", args.key) or "Nothing is kept under that key." end,
    },
  },
  resources = {},
  prompts = {},
}
