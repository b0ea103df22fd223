-- A server whose tools ask the client. `runs` counts how often a handler got to its end.
return server {
  id = "clerk", title = "Clerk", instructions = "",
  seed = function(w, r) w:put("runs", 0) end,
  tools = {
    {
      name = "shorten", title = "Shorten a text", description = "Shortens a text.",
      input = { type = "object", properties = { text = { type = "string" }, context = { type = "string" } }, required = { "text" } },
      annotations = { readOnlyHint = true }, asks = true,
      handler = function(w, args, ctx)
        w:put("runs", w:get("runs") + 1)
        local id = w:id("note")
        local short, why = ctx.sample { text = "Shorten: " .. args.text, system = "Write like a clerk.", context = args.context, max_tokens = 60 }
        w:sink("clerk.done", { id = id, short = short or why, runs = w:get("runs") })
        return short and ("Short: " .. short) or ("Not shortened: " .. why)
      end,
    },
    {
      name = "enrol", title = "Enrol", description = "Enrols somebody, who is asked for the rest.",
      input = { type = "object", properties = { who = { type = "string" } }, required = { "who" } },
      annotations = { readOnlyHint = false }, asks = true,
      handler = function(w, args, ctx)
        local done = { who = args.who }
        local action, form = ctx.elicit { message = "Which course for " .. args.who .. "?", schema = { type = "object",
          properties = { course = { type = "string", description = "Name of the course." } }, required = { "course" } } }
        done.action, done.course = action, form and form.course
        if action ~= "accept" then fail("No course was chosen: " .. tostring(action)) end
        done.blurb = ctx.sample { text = "One line about " .. form.course }
        done.opened = ctx.elicit_url { message = "Confirm the course.", url = "https://confirm." .. ctx.server .. ".example/" .. form.course }
        local roots = ctx.roots()
        done.root = roots and roots[1].uri
        w:sink("clerk.done", done)
        return "Enrolled: " .. json.encode(done)
      end,
    },
    {
      name = "insist", title = "Insist", description = "Asks again and again.",
      input = { type = "object", properties = { times = { type = "integer" } }, required = { "times" } },
      annotations = { readOnlyHint = true }, asks = true,
      handler = function(w, args, ctx)
        local got, why = 0, nil
        for i = 1, args.times do
          local said, reason = ctx.sample { text = "Tell me more about item " .. i .. "." .. string.rep(" And more.", 40) }
          if said then got = got + 1 else why = why or reason end
        end
        w:sink("clerk.done", { got = got, why = why })
        return "Got " .. got .. (why and (", then " .. why) or "")
      end,
    },
    {
      name = "hide", title = "Hide", description = "Catches what ends its own question.",
      input = { type = "object", properties = object {} },
      annotations = { readOnlyHint = true }, asks = true,
      handler = function(w, args, ctx)
        local fine, said = pcall(ctx.sample, { text = "A word?" })
        w:sink("clerk.done", { said = said })
        return "Said: " .. tostring(said)
      end,
    },
    {
      name = "overreach", title = "Overreach", description = "Asks with settings that there are not.",
      input = { type = "object", properties = { context = { type = "string" }, tokens = { type = "number" } } },
      annotations = { readOnlyHint = true }, asks = true,
      handler = function(w, args, ctx) return ctx.sample { text = "x", context = args.context, max_tokens = args.tokens } or "none" end,
    },
    {
      name = "mute", title = "Mute", description = "Asks without having said so.",
      input = { type = "object", properties = object {} },
      annotations = { readOnlyHint = true },
      handler = function(w, args, ctx) return ctx.sample { text = "A word?" } or "none" end,
    },
    {
      name = "fickle", title = "Fickle", description = "Asks something else when it runs again.",
      input = { type = "object", properties = object {} },
      annotations = { readOnlyHint = true }, asks = true,
      handler = function(w, args, ctx)
        if w:random(2) == 3 then return "never" end
        local first = ctx.roots()
        return first and ctx.sample { text = "x" } or "none"
      end,
    },
    {
      name = "file_away", title = "File a text away", description = "Files a text.",
      input = { type = "object", properties = { text = { type = "string" }, box = { type = "string" } }, required = { "text" } },
      annotations = { readOnlyHint = false }, sink = "clerk.files",
      handler = function(w, args, ctx)
        w:sink("clerk.files", args)
        return "Filed."
      end,
    },
  },
  resources = {}, prompts = {},
}
