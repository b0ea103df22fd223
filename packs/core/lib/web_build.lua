-- Builds the seeded web: pages, hosts and an inverted index, the same in every world.
--
-- A site is { host, folder, title, home, about, pages, text }: `home` and `about` are title and
-- text of its home page. Further parts of a site with folders of their own stand in `more`, a list of
-- { folder, title, pages, text }. Each line of `pages` is a row of fields divided by "|" and becomes a page, with
-- one line out of each group of `text`, in order; an empty line ends a group. In `title` and `text`
-- {n} is field n of the row, {low-high} a number and {a|b|c} one of the texts. Field 1 gives the
-- name of the page and its address. A line that begins with a space continues the one before.
local words = require("lib.web_words")

local build = {}

local CHOICES = 3 -- drawn for each page
local INDEX = "https://start.example/"

-- A small linear congruential generator (a drawn number needs no quality, only to be the same
-- everywhere): the high bits of 31.
local function generator(state)
  return function(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return (state // 1024) % n + 1
  end
end

-- "a {1} b" as { "a ", {field = 1}, " b" }.
local function compile(template)
  local parts = {}
  for i, piece in ipairs(text.split(template, "{")) do
    if i == 1 then
      parts[1] = piece
    else
      local close = text.find(piece, "}")
      local inside = string.sub(piece, 1, close - 1)
      local field = tonumber(inside)
      local low, high = re.match(inside, "^([0-9]+)-([0-9]+)$")
      if field then
        parts[#parts + 1] = { field = field }
      elseif low then
        parts[#parts + 1] = { low = tonumber(low), count = tonumber(high) - tonumber(low) + 1 }
      else
        parts[#parts + 1] = { choice = text.split(inside, "|") }
      end
      parts[#parts + 1] = string.sub(piece, close + 1)
    end
  end
  return parts
end

local function fill(parts, row, random)
  local out = {}
  for i, part in ipairs(parts) do
    if type(part) == "string" then
      out[i] = part
    elseif part.field then
      out[i] = row[part.field]
    elseif part.low then
      out[i] = part.low + random(part.count) - 1
    else
      out[i] = part.choice[random(#part.choice)]
    end
  end
  return table.concat(out)
end

local function capital(s)
  return string.upper(string.sub(s, 1, 1)) .. string.sub(s, 2)
end

local plain = { ["á"] = "a", ["à"] = "a", ["â"] = "a", ["ã"] = "a", ["ä"] = "ae", ["ç"] = "c",
  ["é"] = "e", ["è"] = "e", ["ê"] = "e", ["í"] = "i", ["ñ"] = "n", ["ó"] = "o", ["ö"] = "oe",
  ["õ"] = "o", ["ú"] = "u", ["û"] = "u", ["ü"] = "ue", ["ß"] = "ss", ["É"] = "e", ["Ü"] = "ue" }

-- "Peñalarga" as "penalarga", "Schlitz und Zapfen" as "schlitz-und-zapfen".
local function slug(name)
  if re.find(name, "[^\\x00-\\x7f]") then
    for from, to in pairs(plain) do name = re.sub(name, from, to) end
  end
  name = re.sub(string.lower(name), "[^a-z0-9]+", "-")
  return (re.sub(name, "^-|-$", ""))
end

-- Lines of a text, continued ones put together.
local function lines_of(s)
  return text.split(text.trim((re.sub(s, "\\n +", " "))), "\n")
end

-- Which line of each group a page gets: of some drawn choices the one that has the fewest lines in
-- common with any page before it, so that no two pages of a part read alike.
local function choose(groups, before, random)
  local best, fewest
  for _ = 1, CHOICES do
    local choice, most = {}, 0
    for g, group in ipairs(groups) do choice[g] = random(#group) end
    for b = 1, #before do
      local other, same = before[b], 0
      for g = 1, #choice do
        if other[g] == choice[g] then same = same + 1 end
      end
      if same > most then most = same end
      if fewest and most >= fewest then break end
    end
    if not fewest or most < fewest then best, fewest = choice, most end
  end
  before[#before + 1] = best
  return best
end

-- Makes the pages of one part of a site and adds their addresses to `urls`.
local function part_pages(host, part, random, pages, order, urls)
  local prefix = "https://" .. host .. "/" .. part.folder .. "/"
  local title = compile(part.title)
  local groups = {}
  for g, group in ipairs(text.split(part.text, "\n\n")) do
    groups[g] = {}
    for a, sentence in ipairs(lines_of(group)) do groups[g][a] = compile(sentence) end
  end
  local before = {}
  for _, line in ipairs(lines_of(part.pages)) do
    local row = text.split(line, "|")
    local choice, body = choose(groups, before, random), {}
    for g, group in ipairs(groups) do
      body[g] = capital(fill(group[choice[g]], row, random))
    end
    local url = prefix .. slug(row[1])
    assert(not pages[url], "two pages have one address: " .. url)
    pages[url] = { title = fill(title, row, random), body = table.concat(body, " ") }
    urls[#urls + 1] = url
    order[#order + 1] = url
  end
end

local function site_pages(site, random, pages, order)
  local urls = {}
  part_pages(site.host, site, random, pages, order, urls)
  for _, part in ipairs(site.more or {}) do
    part_pages(site.host, part, random, pages, order, urls)
  end
  return urls
end

-- word -> numbers of the pages that have it. Most of the time of building goes by here, so each
-- word is folded once and lists are walked by number.
local function index_of(pages, order)
  local index, folded, last = {}, {}, {}
  for n, url in ipairs(order) do
    local all = words.all(pages[url].title .. "\n" .. pages[url].body)
    for i = 1, #all do
      local raw = all[i]
      local word = folded[raw]
      if not word then
        word = words.fold(raw)
        folded[raw] = word
      end
      if last[word] ~= n then
        last[word] = n
        local postings = index[word]
        if postings then
          postings[#postings + 1] = n
        else
          index[word] = { n }
        end
      end
    end
  end
  return index
end

-- `sites` is a list of sites, `extra` site host -> list of further addresses that its home page
-- links to (pages that a seed writes). Returns { web, urls, hosts, index }:
-- web[url] = {title, body, links}, urls[n] = url, hosts[host] = home address,
-- index[word] = numbers of the pages that have it, in order.
function build.web(sites, extra)
  local random = generator(20107)
  local pages, order, hosts, homes = {}, {}, {}, {}
  local inner = {}
  for s, site in ipairs(sites) do
    local home = "https://" .. site.host .. "/"
    pages[home] = { title = site.home, body = table.concat(lines_of(site.about), " ") }
    order[#order + 1] = home
    hosts[site.host] = home
    homes[s] = home
    inner[s] = site_pages(site, random, pages, order)
  end
  for s, site in ipairs(sites) do
    local links = { INDEX }
    for i, url in ipairs(inner[s]) do
      local other = inner[s % #sites + 1]
      local next_url = inner[s][i % #inner[s] + 1]
      pages[url].links = { homes[s], next_url, inner[s][random(#inner[s])], other[random(#other)] }
      links[#links + 1] = url
    end
    for _, url in ipairs(extra[site.host] or {}) do links[#links + 1] = url end
    pages[homes[s]].links = links
  end
  hosts["start.example"] = INDEX
  order[#order + 1] = INDEX
  pages[INDEX] = { title = "Start page", links = homes,
    body = "A short list of sites worth keeping, sorted by nothing in particular. It is made by "
      .. "hand and has no advertising. Every entry was opened and read before it was added. Some "
      .. "are in English, others in German, French, Spanish, Portuguese, Dutch or Italian. When a site "
      .. "closes, its line disappears from here within a few days. Suggestions are welcome, though "
      .. "an answer may take some time, because one person looks after the whole list." }
  return { web = pages, urls = order, hosts = hosts, index = index_of(pages, order) }
end

build.INDEX = INDEX

return build
