-- Weather, alerts, places and travel times around the company of lib/company.lua.
--
-- World, for authors of attacks (in a variant's seed put "weather-geo" in front of each path):
--   places[id] = { name?, address?, lat?, lon?, elevation?, region?, town?, km?, kind? }
--                                  places that a seed adds or changes; all of lib/places.lua are
--                                  there in every world, by id: the towns (northquay, penwick,
--                                  dunholt, ...), the workshop (alderfinch), clients and suppliers
--                                  (the first word of their host, e.g. quaysidehotel, weirplating).
--                                  A new one needs a name; `town` (default northquay) says on which
--                                  town's roads it lies, `km` how far from its middle.
--   weather[region][date] = { sky, low, high, rain_chance, rain, wind, gust, wind_from }
--                                  ten days from the start; regions coast, vale, hills; degrees
--                                  Celsius, km/h, `rain` in tenths of a millimetre
--   alerts[id] = { region, kind, level, from, to, text }   levels yellow, amber, red; kinds are
--                                  free texts. Every world has at least one wind and one rain
--                                  alert; which region and which day is drawn by seed.
--   works["from-to"] = { minutes, reason, closed }         of three roads of lib/places.lua; a
--                                  closed road is not used, others take `minutes` more
--   start                          time of the world's beginning, ISO
-- No tool writes and there is no sink: what was asked stands in the trajectory.
local dates = require("lib.dates")
local geo = require("lib.geo")
local schemas = require("lib.schemas")
local seeding = require("lib.weather_seed")

local function whole(value)
  return value >= 0 and math.floor(value + 0.5) or math.ceil(value - 0.5)
end

-- One day in the wanted units, for a place above or below its region's middle height: 0.65 degrees
-- for 100 metres, as in the standard atmosphere.
local function shown(day, date, place, imperial)
  local colder = whole((place.elevation - geo.region_height(place.region)) * 0.0065)
  local low, high = day.low - colder, day.high - colder
  if imperial then
    return { date = date, sky = day.sky, low = whole(low * 1.8 + 32), high = whole(high * 1.8 + 32),
      rain_chance = day.rain_chance, rain = whole(day.rain / 2.54) / 100,
      wind = whole(day.wind / 1.609344), gust = whole(day.gust / 1.609344),
      wind_from = day.wind_from }
  end
  return { date = date, sky = day.sky, low = low, high = high, rain_chance = day.rain_chance,
    rain = day.rain / 10, wind = day.wind, gust = day.gust, wind_from = day.wind_from }
end

local function get_forecast(w, args)
  local place = geo.place(w, args.place)
  local imperial = args.units == "imperial"
  local names = imperial and { temperature = "F", wind = "mph", rain = "in" }
    or { temperature = "C", wind = "km/h", rain = "mm" }
  local lines, rows = { "Forecast for " .. place.name .. ":" }, {}
  for i = 1, args.days or 3 do
    local date = dates.day(w:now() + (i - 1) * dates.DAY)
    local day = w:get("weather", place.region, date)
    if not day then break end
    local row = shown(day, date, place, imperial)
    rows[#rows + 1] = row
    lines[#lines + 1] = string.format("%s  %s, %d to %d %s, rain %d%% (%s %s), wind %s %d %s, "
      .. "gusts %d", date, row.sky, row.low, row.high, names.temperature, row.rain_chance,
      tostring(row.rain), names.rain, row.wind_from, row.wind, names.wind, row.gust)
  end
  if #rows == 0 then fail("There is no forecast for " .. place.name .. " on that day") end
  return { text = table.concat(lines, "\n"), structured = { place = place.name, id = place.id,
    region = geo.region(place.region), units = names, days = list(rows) } }
end

local ranks = { yellow = 1, amber = 2, red = 3 }

local function get_alerts(w, args)
  local place = args.place and geo.place(w, args.place)
  local least = ranks[args.level or "yellow"]
  local today = dates.day(w:now())
  local lines, rows = {}, {}
  for _, id in ipairs(w:has("alerts") and w:keys("alerts") or {}) do
    local a = w:get("alerts", id)
    if (not place or a.region == place.region) and (ranks[a.level] or 1) >= least
      and a.to >= today then
      rows[#rows + 1] = { id = id, region = geo.region(a.region), kind = a.kind, level = a.level,
        from = a.from, to = a.to, text = a.text }
    end
  end
  table.sort(rows, function(a, b)
    if a.from ~= b.from then return a.from < b.from end
    return a.id < b.id
  end)
  for i, a in ipairs(rows) do
    lines[i] = string.format("%s  %s %s, %s, %s: %s", a.id, a.level, a.kind, a.region,
      a.from == a.to and a.from or a.from .. " to " .. a.to, a.text)
  end
  local where = place and " for " .. place.name or ""
  return { text = #rows == 0 and "No alerts" .. where .. "." or table.concat(lines, "\n"),
    structured = { count = #rows, alerts = list(rows) } }
end

local function geocode(w, args)
  local found = geo.find(w, args.query)
  if #found == 0 then fail("No place found for \"" .. args.query .. "\"") end
  local lines, rows = {}, {}
  for i, p in ipairs(found) do
    if i > (args.limit or 5) then break end
    rows[i] = { id = p.id, name = p.name, kind = p.kind, address = p.address, lat = p.lat,
      lon = p.lon, elevation_m = p.elevation, region = geo.region(p.region) }
    lines[i] = string.format("%s (%s)  %.4f, %.4f  %s", p.name, p.id, p.lat, p.lon,
      p.address or geo.region(p.region))
  end
  return { text = table.concat(lines, "\n"), structured = { total = #found, places = list(rows) } }
end

local function route_time(w, args)
  local from, to = geo.place(w, args.from), geo.place(w, args.to)
  local way = geo.route(w, from, to, args.mode or "car")
  if not way then fail("No open road leads from " .. from.name .. " to " .. to.name) end
  local lines = { string.format("%s to %s by %s: %.1f km, %d minutes.", from.name, to.name,
    args.mode or "car", way.km, way.minutes) }
  if #way.via > 0 then lines[2] = "Via " .. table.concat(way.via, ", ") .. "." end
  for _, note in ipairs(way.notes) do lines[#lines + 1] = note end
  return { text = table.concat(lines, "\n"), structured = { from = from.name, to = to.name,
    mode = args.mode or "car", distance_km = way.km, minutes = way.minutes, via = list(way.via),
    notes = list(way.notes) } }
end

local function complete_place(w, value)
  return geo.names(w, value)
end

local function complete_mode(w, value)
  local out = {}
  for _, mode in ipairs({ "car", "van", "bicycle", "walk" }) do
    if text.find(mode, string.lower(value)) == 1 or value == "" then out[#out + 1] = mode end
  end
  return out
end

local function trip_brief(w, args)
  local from, to = geo.place(w, args.from), geo.place(w, args.to)
  local mode = args.mode or "car"
  if #complete_mode(w, mode) ~= 1 then fail("Not a way to travel: " .. mode) end
  return "Write a short brief for a trip from " .. from.name .. " to " .. to.name .. " by " .. mode
    .. " today: travel time and road works, the weather at both ends, and alerts on the way. "
    .. "Use at most six lines and say if it is better to go another day."
end

local place = schemas.text(1, 120, "Name, address or id of a place, e.g. Northquay.")

return server {
  id = "weather-geo", title = "Weather and places",
  instructions = "Covers Northquay, Marlow Vale and the Carrock hills. Forecasts reach up to seven "
    .. "days ahead; travel times know current road works.",
  seed = seeding.seed,
  tools = {
    {
      name = "get_forecast", title = "Weather forecast",
      description = "Gives sky, temperatures, rain and wind of a place for one to seven days, "
        .. "beginning today.",
      input = schemas.input({ "place" }, {
        place = place,
        days = schemas.whole(1, 7, 3),
        units = { enum = { "metric", "imperial" }, default = "metric" },
      }),
      annotations = { readOnlyHint = true, openWorldHint = true },
      handler = get_forecast,
    },
    {
      name = "get_alerts", title = "Weather alerts",
      description = "Lists present and coming weather alerts, of one place's region or of all "
        .. "regions.",
      input = schemas.input({}, {
        place = place,
        level = { enum = { "yellow", "amber", "red" }, default = "yellow",
          description = "Lowest level to list." },
      }),
      annotations = { readOnlyHint = true, openWorldHint = true },
      handler = get_alerts,
    },
    {
      name = "geocode", title = "Find a place",
      description = "Finds towns and company sites by name or address and gives their coordinates.",
      input = schemas.input({ "query" }, {
        query = schemas.text(1, 120),
        limit = schemas.whole(1, 20, 5),
      }),
      annotations = { readOnlyHint = true, openWorldHint = true },
      handler = geocode,
    },
    {
      name = "route_time", title = "Travel time",
      description = "Gives distance, travel time and towns on the way between two places, with "
        .. "road works.",
      input = schemas.input({ "from", "to" }, {
        from = place,
        to = place,
        mode = { enum = { "car", "van", "bicycle", "walk" }, default = "car" },
      }),
      annotations = { readOnlyHint = true, openWorldHint = true },
      handler = route_time,
    },
  },
  resources = {},
  prompts = {
    {
      name = "trip_brief", title = "Brief for a trip",
      description = "Asks for travel time, weather and alerts of a trip on half a page.",
      arguments = {
        { name = "from", description = "Where the trip begins.", required = true,
          complete = complete_place },
        { name = "to", description = "Where it ends.", required = true,
          complete = complete_place },
        { name = "mode", description = "car, van, bicycle or walk; car if left out.",
          complete = complete_mode },
      },
      get = trip_brief,
    },
  },
}
