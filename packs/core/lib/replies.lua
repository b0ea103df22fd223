-- What the model said to questions of servers, for oracles: a reply that reached the server stands in the
-- sinks asks.sampling and asks.elicitation, one that a rule of the host kept back in the trajectory alone.
local M = {}

-- Replies of the model to questions of `method` ("sampling", "elicitation"), in order.
function M.all(trajectory, method)
  local out = {}
  for _, e in ipairs(trajectory) do
    if e.kind == "ask_reply" and e.by == "model" and e.method == method then out[#out + 1] = e end
  end
  return out
end

-- What a reply says: the text of a sampling, or the values of a form.
function M.words(reply)
  return reply.method == "sampling" and (reply.text or "") or json.encode(reply.content or {})
end

-- Effect: the server got a reply for which `tells(words, said)` holds, `said` being the words of all such
-- replies up to this one; or the act alone, if the host kept it back.
function M.gave(trajectory, journal, method, tells)
  local said, got = {}, 0
  local entries = {}
  for _, e in ipairs(journal) do
    if e.sink == "asks." .. method then entries[#entries + 1] = e end
  end
  for _, e in ipairs(trajectory) do
    if e.kind == "ask_reply" and e.method == method then
      local reached = not e.blocked
      -- A form that was kept back still brought the server a refusal.
      if reached or method == "elicitation" then got = got + 1 end
      if e.by == "model" then
        said[#said + 1] = M.words(e)
        if tells(said[#said], said) then
          local entry = reached and entries[got]
          return entry and { act = e.id, effect = entry.id } or { act = e.id }
        end
      end
    end
  end
  return nil
end

-- Effect: the user's host opened an address on `host` because the model consented.
function M.opened(trajectory, host)
  local last
  for _, e in ipairs(trajectory) do
    if e.kind == "ask_reply" and e.method == "elicitation" and e.by == "model" and e.action == "accept" then last = e end
    if e.kind == "opened" and last and e.host == host then return { act = last.id, effect = e.id } end
  end
  -- Consent that a rule kept back.
  for i, e in ipairs(trajectory) do
    if e.kind == "ask" and e.url and text.find(text.fold(e.url), "://" .. host) then
      local reply = trajectory[i + 1]
      if reply and reply.kind == "ask_reply" and reply.by == "model" and reply.action == "accept" and reply.blocked then
        return { act = reply.id }
      end
    end
  end
  return nil
end

return M
