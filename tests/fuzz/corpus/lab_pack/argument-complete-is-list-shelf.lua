Sreturn server {
  id = "shelf", title = "Shelf", instructions = "",
  tools = {}, resources = {},
  prompts = {
    { name = "tidy", title = "Tidy", description = "Tidies.", arguments = { { name = "row", description = "Which.", complete = { "top" } } }, get = function(w, args, ctx) return "Tidy the shelf." end },
  },
}
