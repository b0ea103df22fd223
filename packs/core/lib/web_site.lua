-- Looking up, following and searching pages for web-fetch. Where pages are kept is described at the
-- head of servers/web-fetch.lua.
local words = require("lib.web_words")

local site = {}

local REDIRECTS = 5
local WORDS = 12  -- of a query
local COMMON = 60 -- a word on more of the shared pages than this tells little

-- Scheme, host, path and query of an address; fails if it is none that can be fetched. `sent` is
-- the whole address as a server or anyone on the way would see it.
local function parse(address)
  address = text.trim(address)
  if re.find(address, "[\\x00-\\x20\\x7f]") then
    fail("An address must not contain spaces or controls")
  end
  local scheme, authority, rest =
    re.match(address, "^([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^#]*)")
  if not scheme then fail("Not an absolute address: " .. address) end
  scheme = string.lower(scheme)
  if scheme ~= "http" and scheme ~= "https" then fail("Unsupported scheme: " .. scheme) end
  local path, query = re.match(rest, "^([^?]*)\\??(.*)$")
  if path == "" then path = "/" end
  local host = re.sub(string.lower(authority), "^.*@|:(80|443)$", "")
  if host == "" then fail("The address has no host: " .. address) end
  return { scheme = scheme, host = host, path = path, query = query,
    sent = scheme .. "://" .. authority .. path .. (query ~= "" and "?" .. query or "") }
end

-- An address as it would be sent; fails if it is none that can be fetched.
function site.address(s)
  return parse(s).sent
end

-- Without a query the address that `web` and `pages` are keyed by.
local function key(u, with_query)
  local out = u.scheme .. "://" .. u.host .. u.path
  return with_query and u.query ~= "" and out .. "?" .. u.query or out
end

-- The page at an exact address, changed and shared fields together; nil if there is none.
local function raw(w, url)
  local changed = w:get("pages", url)
  local shared = w:get("web", url)
  if not changed then return shared end
  if changed.gone then return nil end
  for field, value in pairs(shared or {}) do
    if changed[field] == nil then changed[field] = value end
  end
  return changed
end

local function lookup(w, u)
  for _, with_query in ipairs({ true, false }) do
    for _, scheme in ipairs({ u.scheme, u.scheme == "http" and "https" or "http" }) do
      local asked = { scheme = scheme, host = u.host, path = u.path, query = u.query }
      local url = key(asked, with_query)
      local page = raw(w, url)
      if page then return page, url end
    end
  end
end

local function host_exists(w, host)
  if w:has("hosts", host) then return true end
  for _, part in ipairs({ "pages", "assets" }) do
    if w:has(part) then
      for _, url in ipairs(w:keys(part)) do
        if text.find(url, "://" .. host .. "/") then return true end
      end
    end
  end
  return false
end

-- Notes the request for everyone who reads sinks, before anything can go wrong with it.
local function request(w, address)
  local u = parse(address)
  w:sink("web.requests", { url = u.sent, method = "GET", host = u.host,
    query = u.query ~= "" and u.query or nil })
  if not host_exists(w, u.host) then fail("Could not resolve host: " .. u.host) end
  return u
end

local function title_of(w, url)
  return w:get("pages", url, "title") or w:get("web", url, "title") or url
end

-- A page with its links as a list of { text, url }.
local function finish(w, page, url)
  local links = {}
  for i, link in ipairs(page.links or {}) do
    local target = type(link) == "table" and link.url or link
    links[i] = { url = target, text = type(link) == "table" and link.text or title_of(w, target) }
  end
  return { url = url, title = page.title or url, body = page.body or "", links = links }
end

-- The page at an address, for showing it: no request is noted.
function site.page(w, url)
  return finish(w, raw(w, url), url)
end

-- Requests an address and follows redirections; fails with the status otherwise.
function site.get(w, address)
  for _ = 0, REDIRECTS do
    local u = request(w, address)
    local page, url = lookup(w, u)
    if not page then fail("404 Not Found: " .. key(u, false)) end
    if not page.redirect then return finish(w, page, url) end
    address = page.redirect
  end
  fail("Too many redirections")
end

-- The file at an address, or the text of the page there; redirections are followed.
function site.asset(w, address)
  for _ = 0, REDIRECTS do
    local u = request(w, address)
    local asset = w:get("assets", key(u, true)) or w:get("assets", key(u, false))
    if asset then
      return { url = key(u, false), type = asset.type or "text/plain", text = asset.text or "",
        name = asset.name }
    end
    local page, url = lookup(w, u)
    if not page then fail("404 Not Found: " .. key(u, false)) end
    if not page.redirect then
      local content = (page.title or "") .. "\n\n" .. (page.body or "")
      return { url = url, type = "text/html", text = content }
    end
    address = page.redirect
  end
  fail("Too many redirections")
end

local function add(hits, url, word, weight)
  local hit = hits[url]
  if not hit then
    hit = { url = url, words = {}, weight = 0 }
    hits[url] = hit
  end
  hit.words[#hit.words + 1] = word
  hit.weight = hit.weight + weight
end

-- Whether a changed page has a word. `sets` keeps the words of pages that were looked through.
local function has(sets, url, content, word)
  if utf8.len(word) == #word and not text.find(content, word) then return false end
  if not sets[url] then
    local _, set = words.set(content)
    sets[url] = set
  end
  return sets[url][word] == true
end

-- The words of a query with their pages, without words that are on many pages, unless the query has
-- no others.
local function telling(w, query)
  local all, rare = {}, {}
  for i, word in ipairs(words.set(query)) do
    if i > WORDS then break end
    all[i] = { word = word, postings = w:get("index", word) or {} }
    if #all[i].postings <= COMMON then rare[#rare + 1] = all[i] end
  end
  return #rare > 0 and rare or all
end

-- Pages that have at least one word of the query: more words first, then rarer ones, then words
-- in the title. Words of changed pages are looked for in the pages themselves.
function site.search(w, query)
  local hits, order, changed, sets, titles = {}, {}, {}, {}, {}
  for _, url in ipairs(w:has("pages") and w:keys("pages") or {}) do
    local page = raw(w, url)
    changed[url] = page and not page.redirect
      and string.lower((page.title or "") .. "\n" .. (page.body or "")) or ""
  end
  for _, one in ipairs(telling(w, query)) do
    local weight = 1 / (1 + #one.postings)
    for _, n in ipairs(one.postings) do
      local url = w:get("urls", n)
      if not changed[url] then add(hits, url, one.word, weight) end
    end
    for url, content in pairs(changed) do
      if has(sets, url, content, one.word) then add(hits, url, one.word, weight) end
    end
  end
  for _, hit in pairs(hits) do order[#order + 1] = hit end
  if #order > 1 then
    for _, hit in ipairs(order) do
      local title = string.lower(title_of(w, hit.url))
      titles[hit.url] = 0
      for _, word in ipairs(hit.words) do
        if text.find(title, word) then titles[hit.url] = titles[hit.url] + 1 end
      end
    end
  end
  table.sort(order, function(a, b)
    if #a.words ~= #b.words then return #a.words > #b.words end
    if titles[a.url] ~= titles[b.url] then return titles[a.url] > titles[b.url] end
    if a.weight ~= b.weight then return a.weight > b.weight end
    return a.url < b.url
  end)
  return order
end

-- About `width` bytes of a body around the first of the words, cut at spaces.
function site.snippet(body, found, width)
  local lower = string.lower(body)
  local at = #body + 1
  for _, word in ipairs(found) do
    at = math.min(at, text.find(lower, word) or at)
  end
  if at > #body then at = 1 end
  local from = math.max(1, at - width // 3)
  if from > 1 then from = (text.find(body, " ", from) or from) + 1 end
  if from > at then from = at end
  local last = math.min(#body, from + width)
  if last < #body then
    while last > at and string.sub(body, last + 1, last + 1) ~= " " do last = last - 1 end
  end
  if last <= at then last = #body end
  return (from > 1 and "... " or "") .. re.sub(string.sub(body, from, last), "\\s+", " ")
    .. (last < #body and " ..." or "")
end

return site
