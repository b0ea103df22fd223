-- A small server for the lab's own tests: notes in the world, an outbox as sink.
local names = require("lib.names")

return server {
  id = "desk", title = "Desk", instructions = "Keep notes short.",
  base = function()
    return { notes = { welcome = "Water the plants." }, people = names.people }
  end,
  seed = function(w, r)
    w:put("notes", "first", names.greet(r:pick(names.people)))
    w:put("number", r:below(1000000))
  end,
  tools = {
    {
      name = "read_note", title = "Read a note", description = "Reads one note by its name.",
      input = {
        type = "object",
        properties = { name = { type = "string", description = "Name of the note." } },
        required = { "name" }, additionalProperties = false,
      },
      annotations = { readOnlyHint = true },
      handler = function(w, args, ctx)
        local text = w:get("notes", args.name)
        if not text then fail("no note named " .. args.name) end
        return text
      end,
    },
    {
      name = "write_note", title = "Write a note", description = "Writes one note.",
      input = {
        type = "object",
        properties = { name = { type = "string" }, text = { type = "string" } },
        required = { "name", "text" }, additionalProperties = false,
      },
      output = {
        type = "object", properties = { id = { type = "string" }, tags = { type = "array" } },
        required = { "id", "tags" },
      },
      annotations = { destructiveHint = true },
      handler = function(w, args, ctx)
        local id = w:id("note")
        w:put("notes", args.name, args.text)
        w:append("log", { name = args.name, at = w:now(), by = ctx.server })
        return { structured = { id = id, tags = list {} },
          links = { { uri = "desk://notes", name = "Notes", description = "All notes." } } }
      end,
    },
    {
      name = "count", title = "Count", description = "Counts up to a number.",
      input = { type = "object", properties = { to = { type = "integer" } }, required = { "to" } },
      annotations = {},
      handler = function(w, args)
        local n = 0
        while n < args.to do n = n + 1 end
        return tostring(n)
      end,
    },
  },
  resources = {
    { uri = "desk://notes", name = "Notes", description = "All notes.", mimeType = "text/plain",
      read = function(w)
        local out = {}
        for _, key in ipairs(w:keys("notes")) do out[#out + 1] = key .. ": " .. w:get("notes", key) end
        return table.concat(out, "\n")
      end },
  },
  prompts = {
    { name = "sum_up", title = "Sum up", description = "Sums up a note.",
      arguments = {
        { name = "note", title = "Note", description = "Name of the note.", required = true,
          complete = function(w, value, args, ctx)
            local out = {}
            for _, key in ipairs(w:keys("notes")) do
              if text.find(key, value) == 1 then out[#out + 1] = key end
            end
            return out
          end },
        { name = "tone", description = "plain or warm" },
      },
      get = function(w, args, ctx)
        local note = w:get("notes", args.note)
        if not note then fail("There is no note " .. args.note) end
        w:sink("desk.prompts", { note = args.note, prompt = ctx.prompt })
        return { description = "A note.", messages = {
          { role = "user", text = "Sum up: " .. note },
          { role = "assistant", text = "In which tone?" },
          { role = "user", text = args.tone or "plain" } } }
      end },
    { name = "greet", title = "Greet", description = "Greets with write_note.", arguments = {},
      get = function() return "Say hello, then call write_note." end },
    { name = "odd", title = "Odd", description = "Returns what it is told.",
      arguments = { { name = "what", description = "Which.",
        complete = function(w, value, args)
          if value == "write" then w:put("x", 1) end
          if value == "fail" then fail("no") end
          if value == "text" then return "text" end
          return { args.other or "none" }
        end } },
      get = function(w, args, ctx)
        if args.what == "number" then return 7 end
        if args.what == "switch" then return tostring(ctx.safe("server.confine_names")) end
        if args.what == "no switch" then return tostring(ctx.safe("server.nobody")) end
        if args.what == "empty" then return { messages = list {} } end
        if args.what == "role" then return { messages = { { role = "system", text = "x" } } } end
        if args.what == "extra" then return { messages = { { role = "user", text = "x", y = 1 } } } end
        return { text = "x" }
      end },
  },
  templates = {
    { uri = "desk://notes/{name}", name = "Note", description = "One note.", mimeType = "text/plain",
      complete = { name = function(w, value) return w:keys("notes") end },
      read = function(w, vars, ctx)
        local note = w:get("notes", vars.name)
        if not note then fail("no note named " .. vars.name) end
        return note
      end },
    { uri = "desk://copies/no-{number}.txt/of/{name}", name = "Copy", title = "Copy",
      description = "A copy of a note.", mimeType = "text/plain",
      read = function(w, vars) return vars.number .. " of " .. vars.name end },
  },
}
