return server {
  id = "shelf", title = "Shelf", instructions = "",
  tools = {}, resources = {},
  prompts = {},
  templates = {
    { uri = "shelf://rows}/{row}", name = "Row", description = "One row.", mimeType = "text/plain", read = function(w, vars, ctx) return "empty" end },
  },
}
