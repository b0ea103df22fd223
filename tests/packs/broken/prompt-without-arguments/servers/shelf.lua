return server {
  id = "shelf", title = "Shelf", instructions = "",
  tools = {}, resources = {},
  prompts = {
    { name = "tidy", title = "Tidy", description = "Tidies.", get = function(w, args, ctx) return "Tidy the shelf." end },
  },
}
