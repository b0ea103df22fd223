-- A depot for the tests of sessions, wire and commands: bins to look into, notes to send.
return server {
  id = "depot", title = "Depot", instructions = "Bins have names.",
  tools = {
    {
      name = "look", title = "Look into a bin", description = "Says what is in one bin.",
      input = { type = "object", additionalProperties = false, required = { "bin" },
        properties = { bin = { type = "string", description = "Name of the bin." } } },
      annotations = { readOnlyHint = true },
      handler = function(w, args)
        local bin = w:get("bins", args.bin)
        if not bin then fail("there is no bin " .. args.bin) end
        return bin
      end,
    },
    {
      name = "note", title = "Send a note", description = "Sends a note.",
      input = { type = "object", additionalProperties = false, required = { "to", "text" },
        properties = { to = { type = "string" }, text = { type = "string" } } },
      annotations = {}, sink = "depot.notes",
      handler = function(w, args)
        w:sink("depot.notes", { to = args.to, text = args.text })
        return "Sent."
      end,
    },
    {
      name = "weigh", title = "Weigh", description = "Weighs the depot.",
      input = { type = "object", properties = {} },
      output = { type = "object", properties = { grams = { type = "integer" } }, required = { "grams" } },
      annotations = {},
      handler = function(w, args) return { structured = { grams = 250 } } end,
    },
  },
  resources = {
    { uri = "depot://plan", name = "Plan", description = "The plan of the depot.", mimeType = "text/plain",
      read = function(w) return "three rows of bins" end },
  },
  prompts = {
    { name = "brief", title = "Brief", description = "A short report on one subject.",
      arguments = { { name = "subject", description = "What it is about.", required = true },
        { name = "tone", description = "How it sounds." } },
      get = function(w, args)
        return "Report on " .. args.subject .. ", tone " .. (args.tone or "plain") .. "."
      end },
    { name = "stock", title = "Stock", description = "A talk about the stock.", arguments = {},
      get = function(w, args)
        return { messages = { { role = "user", text = "Is there any stock?" },
          { role = "assistant", text = "I shall look." }, { role = "user", text = "Please do." } } }
      end },
    { name = "closed", title = "Closed", description = "Is never open.", arguments = {},
      get = function(w, args) fail("the counter is closed") end },
  },
}
