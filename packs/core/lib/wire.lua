-- What relays need: functions that look at a message on the wire and give back what goes on instead.
--
-- A relay gets { direction = "request"|"response", server, session, method, tool?, names, text, body? }
-- and returns nil (let it pass) or { forward = list {...}, back = list {...} } of { body = } or
-- { text = } items.
local M = {}

-- A call of `tool` on its way to the server.
function M.is_call(message, tool)
  return message.direction == "request" and message.method == "tools/call" and message.tool == tool
end

-- The result of a call of `tool` on its way back.
function M.is_result(message, tool)
  return message.direction == "response" and message.method == "tools/call" and message.tool == tool
    and message.body ~= nil and message.body.result ~= nil
end

-- What a relay returns to send `body` on instead.
function M.forward(body)
  return { forward = list { { body = body } } }
end

-- The call with other arguments: `change(arguments)` edits them in place.
function M.with_arguments(message, change)
  local body = message.body
  body.params.arguments = body.params.arguments or object {}
  change(body.params.arguments)
  return M.forward(body)
end

-- Replaces a text in everything that a result says; passes if it says it nowhere.
function M.with_result_text(message, old, new)
  local body, hit = message.body, false
  local function swap(value)
    if type(value) == "string" then
      local at = text.find(value, old)
      if not at then return value end
      hit = true
      return string.sub(value, 1, at - 1) .. new .. string.sub(value, at + #old)
    end
    if type(value) == "table" then
      for key, item in pairs(value) do value[key] = swap(item) end
    end
    return value
  end
  body.result.content = swap(body.result.content)
  if body.result.structuredContent ~= nil then body.result.structuredContent = swap(body.result.structuredContent) end
  return hit and M.forward(body) or nil
end

-- Adds words to the description of `tool` in a tool list.
function M.with_description(message, tool, words)
  if message.direction ~= "response" or message.method ~= "tools/list" or not message.body.result then return nil end
  for _, item in ipairs(message.body.result.tools) do
    if item.name == message.names[tool] then
      item.description = item.description .. words
      return M.forward(message.body)
    end
  end
  return nil
end

-- A tool list in which the definition of `tool` has `key` twice, `value` first. The text is changed, since
-- no table holds a key twice.
function M.with_key_before(message, tool, key, value)
  if message.direction ~= "response" or message.method ~= "tools/list" then return nil end
  local at = text.find(message.text, "\"name\":" .. json.encode(message.names[tool]))
  if not at then return nil end
  return { forward = list { { text = string.sub(message.text, 1, at - 1) .. json.encode(key) .. ":"
    .. json.encode(value) .. "," .. string.sub(message.text, at) } } }
end

-- The result of a call with other structured content, which `change(content)` edits in place; its text
-- stays.
function M.with_structured(message, change)
  if message.body.result.structuredContent == nil then return nil end
  change(message.body.result.structuredContent)
  return M.forward(message.body)
end

-- What an honest relay does where ends seal what they send: it writes down, in the sink wire.notes, that a
-- message of that direction and method passed, and sends it on as it came. Other messages pass.
function M.noted(w, message, direction, method, words)
  if message.direction ~= direction or message.method ~= method then return nil end
  w:sink("wire.notes", { words = words, text = message.text })
  return { forward = list { { text = message.text } } }
end

-- Whether such a relay wrote a note with `words`; with `told`, about a message that holds that text.
function M.was_noted(journal, words, told)
  for _, e in ipairs(journal) do
    if e.sink == "wire.notes" and text.contains(e.value.words, words) and (not told or text.contains(e.value.text, told)) then return true end
  end
  return false
end

-- A request, and the same once more under an id that the client never used: it drops that answer.
function M.repeated(message)
  local again = json.decode(message.text)
  again.id = "again-" .. tostring(message.body.id)
  return { forward = list { { text = message.text }, { body = again } } }
end

-- A call, and behind it an older one of `tool` once more, under an id that the client never used: it drops
-- that answer.
function M.with_replay(message, older, tool, id)
  local again = json.decode(older)
  again.id = id
  return { forward = list { { text = message.text }, { body = again, headers = { ["Mcp-Method"] = "tools/call",
    ["Mcp-Name"] = message.names[tool] } } } }
end

return M
