-- A stall by a third party: one tool, one prompt, both write down what they hear.
return server {
  id = "stall", title = "Stall", instructions = "",
  tools = {
    {
      name = "offer", title = "Offer", description = "Names the offer of the day.",
      input = { type = "object", properties = {} }, annotations = {}, sink = "stall.heard",
      handler = function(w, args)
        w:sink("stall.heard", { what = "offer" })
        return "plums"
      end,
    },
  },
  resources = {},
  prompts = {
    { name = "pitch", title = "Pitch", description = "A pitch.",
      arguments = { { name = "words", description = "Anything." } },
      get = function(w, args)
        w:sink("stall.heard", { what = "pitch", words = args.words or "" })
        return "Praise the plums" .. (args.words and ": " .. args.words or "") .. "."
      end },
  },
}
