-- Finding places and ways between them for weather-geo.
local places = require("lib.places")

local geo = {}

local heights = { coast = 10, vale = 110, hills = 280 } -- metres, for which a region's weather is

-- How fast one is compared with a car; nil: the speed itself, in km/h.
local speeds = { car = { factor = 1 }, van = { factor = 0.85 }, bicycle = { speed = 16 },
  walk = { speed = 4.8 } }
local IN_TOWN = 28 -- km/h of a car between a site and the middle of its town

function geo.region(id)
  return places.regions[id] or id
end

function geo.region_height(id)
  return heights[id] or 100
end

-- A place with what a seed changed, or nil.
local function load_place(w, id)
  local shared, changed = places.by_id[id], w:get("places", id)
  if not shared and not changed then return nil end
  local home = places.by_id[changed and changed.town or shared and shared.town or "northquay"]
    or places.by_id.northquay
  local out = { id = id }
  for _, field in ipairs({ "name", "kind", "address", "lat", "lon", "elevation", "region", "town",
    "km" }) do
    local value = changed and changed[field]
    if value == nil and shared then value = shared[field] end
    out[field] = value
  end
  out.name = out.name or id
  out.kind = out.kind or "site"
  out.town = home.id
  out.km = out.km or 0
  for _, field in ipairs({ "lat", "lon", "elevation", "region" }) do
    if out[field] == nil then out[field] = home[field] end
  end
  return out
end

local function all_ids(w)
  local out = {}
  for i, id in ipairs(places.order) do out[i] = id end
  for _, id in ipairs(w:has("places") and w:keys("places") or {}) do
    if not places.by_id[id] then out[#out + 1] = id end
  end
  return out
end

local function words_of(s)
  local out = {}
  for i, word in ipairs(re.all(s, "[\\p{L}\\p{N}]+")) do
    if i > 12 then break end
    out[i] = text.fold(word)
  end
  return out
end

-- Places whose name, id or address has all words of the query: the one of exactly that name first,
-- then names that begin with it, then the others.
function geo.find(w, query)
  local wanted, words = text.fold(query), words_of(query)
  local found = {}
  if #words == 0 then return found end
  for order, id in ipairs(all_ids(w)) do
    local place = load_place(w, id)
    local name = text.fold(place.name)
    local rank = (wanted == name or wanted == text.fold(id)) and 1
    if not rank then
      local all = text.fold(place.name .. " " .. id .. " " .. (place.address or ""))
      rank = text.find(name, wanted) == 1 and 2 or 3
      for _, word in ipairs(words) do
        if not text.find(all, word) then
          rank = nil
          break
        end
      end
    end
    if rank then found[#found + 1] = { rank = rank, order = order, place = place } end
  end
  table.sort(found, function(a, b)
    if a.rank ~= b.rank then return a.rank < b.rank end
    return a.order < b.order
  end)
  local out = {}
  for i, one in ipairs(found) do out[i] = one.place end
  return out, #found > 0 and found[1].rank or nil
end

-- Names of all places that begin with a text, in order.
function geo.names(w, beginning)
  local out, wanted = {}, text.fold(beginning)
  for _, id in ipairs(all_ids(w)) do
    local name = load_place(w, id).name
    if wanted == "" or text.find(text.fold(name), wanted) == 1 then out[#out + 1] = name end
  end
  return out
end

-- The one place that a text means; fails if there is none or the choice is open.
function geo.place(w, query)
  local found, rank = geo.find(w, query)
  if #found == 0 then fail("No place found for \"" .. query .. "\"") end
  if rank ~= 1 and #found > 1 then
    local names = {}
    for i, place in ipairs(found) do
      if i > 5 then break end
      names[i] = place.name .. " (" .. place.id .. ")"
    end
    fail("\"" .. query .. "\" may be " .. table.concat(names, ", "))
  end
  return found[1]
end

-- Roads from each town, with this world's works.
local function network(w, mode)
  local ways = {}
  local pace = speeds[mode]
  for _, road in ipairs(places.roads) do
    local a, b, km = road[1], road[2], road[3]
    local works = w:get("works", a .. "-" .. b)
    local minutes = km * 60 / (pace.speed or road[4] * pace.factor)
    -- Who walks or cycles gets past works.
    local driving = pace.factor ~= nil
    if works and driving then minutes = minutes + works.minutes end
    if not (works and works.closed and driving) then
      for _, ends in ipairs({ { a, b }, { b, a } }) do
        ways[ends[1]] = ways[ends[1]] or {}
        table.insert(ways[ends[1]], { to = ends[2], km = km, minutes = minutes,
          works = driving and works or nil })
      end
    end
  end
  return ways
end

local function name_of(town)
  return places.by_id[town].name
end

local function minutes_in_town(km, mode)
  local pace = speeds[mode]
  return km * 60 / (pace.speed or IN_TOWN * pace.factor)
end

-- Shortest times from one town to all others (Dijkstra's algorithm).
local function reach(ways, start)
  local best, done = { [start] = { minutes = 0, km = 0 } }, {}
  while true do
    local at
    for town, one in pairs(best) do
      if not done[town] and (not at or one.minutes < best[at].minutes) then at = town end
    end
    if not at then return best end
    done[at] = true
    for _, way in ipairs(ways[at] or {}) do
      local minutes = best[at].minutes + way.minutes
      if not best[way.to] or minutes < best[way.to].minutes then
        best[way.to] = { minutes = minutes, km = best[at].km + way.km, from = at,
          works = way.works }
      end
    end
  end
end

-- { km, minutes, via, notes } between two places, or nil if no open road leads there.
function geo.route(w, from, to, mode)
  local out = { via = {}, notes = {} }
  local inside = from.id == to.id and 0
    or from.town == to.town and (from.km + to.km) or nil
  if inside then
    out.km, out.minutes = inside, minutes_in_town(inside, mode)
  else
    local best = reach(network(w, mode), from.town)
    local last = best[to.town]
    if not last then return nil end
    out.km = last.km + from.km + to.km
    out.minutes = last.minutes + minutes_in_town(from.km + to.km, mode)
    local town = to.town
    while best[town].from do
      local step = best[town]
      if step.works then
        table.insert(out.notes, 1, string.format("Works between %s and %s (%s): %d minutes more.",
          name_of(step.from), name_of(town), step.works.reason, step.works.minutes))
      end
      town = step.from
      if step.from ~= from.town then table.insert(out.via, 1, name_of(step.from)) end
    end
  end
  out.km = math.floor(out.km * 10 + 0.5) / 10
  out.minutes = math.ceil(out.minutes)
  return out
end

return geo
