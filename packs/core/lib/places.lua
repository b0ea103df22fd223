-- Where the towns, the company of lib/company.lua, its clients and its suppliers are. The places are
-- the same in every world; weather, road works and alerts are drawn by seed (lib/weather_seed.lua).
local company = require("lib.company")

local places = {}

local towns = {}
places.towns = towns

local function town(id, name, lat, lon, elevation, region)
  towns[#towns + 1] = { id = id, name = name, kind = "town", lat = lat, lon = lon,
    elevation = elevation, region = region, town = id, km = 0 }
end

town("northquay", "Northquay", 54.512, -1.604, 6, "coast")
town("saltby", "Saltby", 54.547, -1.661, 11, "coast")
town("porthallow", "Porthallow", 54.452, -1.548, 18, "coast")
town("ballyroe", "Ballyroe", 54.589, -1.742, 24, "coast")
town("penwick", "Penwick", 54.488, -1.752, 74, "vale")
town("dunholt", "Dunholt", 54.451, -1.869, 96, "vale")
town("millbeck", "Millbeck", 54.523, -1.838, 131, "vale")
town("tansley", "Tansley", 54.401, -1.764, 88, "vale")
town("ramsbury", "Ramsbury", 54.379, -1.651, 63, "vale")
town("stainforth", "Stainforth", 54.431, -1.996, 187, "vale")
town("hathersby", "Hathersby", 54.477, -2.061, 262, "hills")
town("carrock", "Carrock", 54.556, -2.034, 318, "hills")
town("borrowgate", "Borrowgate", 54.512, -2.149, 347, "hills")
town("ulverside", "Ulverside", 54.598, -1.921, 226, "hills")
town("askerton", "Askerton", 54.407, -2.118, 241, "hills")
town("wendle", "Wendle", 54.351, -1.918, 152, "vale")

places.regions = { coast = "Northquay coast", vale = "Marlow Vale", hills = "Carrock hills" }

-- { from, to, kilometres, kilometres an hour by car }
places.roads = {
  { "northquay", "saltby", 6.4, 60 }, { "northquay", "porthallow", 8.9, 65 },
  { "northquay", "penwick", 11.2, 70 }, { "saltby", "ballyroe", 8.1, 60 },
  { "saltby", "millbeck", 13.7, 60 }, { "porthallow", "ramsbury", 12.3, 65 },
  { "penwick", "millbeck", 7.9, 55 }, { "penwick", "dunholt", 9.6, 65 },
  { "penwick", "tansley", 10.8, 70 }, { "tansley", "ramsbury", 8.4, 60 },
  { "tansley", "wendle", 13.1, 65 }, { "dunholt", "stainforth", 9.7, 60 },
  { "dunholt", "wendle", 13.4, 60 }, { "stainforth", "hathersby", 7.2, 50 },
  { "stainforth", "askerton", 9.3, 50 }, { "hathersby", "borrowgate", 8.0, 45 },
  { "hathersby", "carrock", 10.1, 45 }, { "carrock", "borrowgate", 10.3, 40 },
  { "carrock", "ulverside", 9.8, 45 }, { "ulverside", "millbeck", 11.0, 55 },
  { "ulverside", "ballyroe", 13.2, 55 }, { "askerton", "hathersby", 9.2, 45 },
}

local sites = {}

local function site(id, name, street, of, lat, lon, km)
  sites[#sites + 1] = { id = id, name = name, street = street, of = of, lat = lat, lon = lon,
    km = km }
end

site("alderfinch", company.name, "7 Hide Yard", "northquay", 54.5098, -1.6112, 0.8)
local clients = {
  { "brookside-primary", "3 Chapel Row", "penwick", 54.4915, -1.7466, 0.6 },
  { "quaysidehotel", "1 Customs Street", "northquay", 54.5141, -1.5989, 0.5 },
  { "lindencourt", "12-30 Linden Court", "northquay", 54.5187, -1.6201, 1.4 },
  { "copperkettle", "44 Station Parade", "saltby", 54.5449, -1.6655, 0.4 },
  { "holliswray", "9 Market Cross", "dunholt", 54.4507, -1.8711, 0.2 },
  { "fernhillcare", "Fernhill Lane", "millbeck", 54.5299, -1.8472, 1.1 },
  { "tallowlibrary", "18 Tallow Street", "northquay", 54.5109, -1.6037, 0.3 },
  { "marlowvalegolf", "Club Drive", "tansley", 54.3934, -1.7787, 1.9 },
}
for i, c in ipairs(clients) do
  site(c[1], company.clients[i].name, c[2], c[3], c[4], c[5], c[6])
end
local suppliers = {
  { "norrbytimber", "Sawmill Road", "ulverside", 54.6041, -1.9302, 1.2 },
  { "castellfixings", "Unit 4, Forge Lane", "ramsbury", 54.3772, -1.6433, 0.9 },
  { "beeswaxfinishes", "2 Weavers Yard", "wendle", 54.3528, -1.9215, 0.4 },
  { "southgatehaulage", "South Gate Depot", "penwick", 54.4811, -1.7607, 1.5 },
  { "ironbarktools", "27 Mill Street", "stainforth", 54.4329, -1.9918, 0.5 },
  { "weirplating", "Weir Works", "porthallow", 54.4569, -1.5561, 1.0 },
}
for i, s in ipairs(suppliers) do
  site(s[1], company.suppliers[i].name, s[2], s[3], s[4], s[5], s[6])
end

-- All places by id: { id, name, kind = "town"|"site", lat, lon, elevation, region, town, km (from
-- the middle of the town), address? }.
places.by_id, places.order = {}, {}
for _, one in ipairs(towns) do
  places.by_id[one.id] = one
  places.order[#places.order + 1] = one.id
end
for _, one in ipairs(sites) do
  local home = places.by_id[one.of]
  places.by_id[one.id] = { id = one.id, name = one.name, kind = "site", lat = one.lat,
    lon = one.lon, elevation = home.elevation, region = home.region, town = one.of, km = one.km,
    address = one.street .. ", " .. home.name }
  places.order[#places.order + 1] = one.id
end

return places
