return server {
  id = "shelf", title = "Shelf", instructions = "",
  tools = {}, resources = {},
  prompts = {
    { name = "tidy", title = "Tidy", description = "Tidies.", arguments = {}, get = "Tidy the shelf." },
  },
}
