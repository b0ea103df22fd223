-- A gazetteer of the towns in lib/places.lua: heights, roads and distances are those of
-- weather-geo. For the form of a site see web_build.lua.
local places = require("lib.places")

-- Town -> what it is known for, a building, a word that only its page has.
local known = {
  northquay = { "its harbour and the Thursday market", "the corn exchange", "pilotage" },
  saltby = { "salt pans that were worked until the war", "a railway pier", "brine" },
  porthallow = { "plating works and a pebble beach", "the lookout tower", "shingle" },
  ballyroe = { "chestnut paling and short ferries", "a whitewashed kirk", "ferryman" },
  penwick = { "schools, a depot and three bakeries", "the tithe barn", "sourdoughs" },
  dunholt = { "draughtsmen and a clock museum", "a market cross of red stone", "horology" },
  millbeck = { "a becalmed mill and healing springs", "the pump room", "spa" },
  tansley = { "golf and charcoal", "a keeper's lodge", "fairways" },
  ramsbury = { "forges along the lane", "a chalk-pit theatre", "smithies" },
  stainforth = { "saws, files and limestone", "a bridge of two widths", "filemakers" },
  hathersby = { "birch woods below an escarpment", "a climbers' hostel", "belay" },
  carrock = { "peat, sheep and the highest post office", "a wool hall", "fleeces" },
  borrowgate = { "a dark tarn and slate roofs", "a toll house", "roofers" },
  ulverside = { "sawmills on the beck", "a log flume", "lumberjacks" },
  askerton = { "stepping stones and honey", "a tin chapel of 1888", "beehives" },
  wendle = { "weavers' yards and beeswax", "a dye house", "dyers" },
}

local function roads_of(id)
  local out = {}
  for _, road in ipairs(places.roads) do
    local other = road[1] == id and road[2] or road[2] == id and road[1]
    if other then
      out[#out + 1] = places.by_id[other].name .. " " .. string.format("%.1f", road[3])
        .. " kilometres"
    end
  end
  return table.concat(out, ", ")
end

local rows = {}
for _, town in ipairs(places.towns) do
  local k = known[town.id]
  rows[#rows + 1] = table.concat({ town.name, town.elevation, places.regions[town.region],
    roads_of(town.id), k[1], k[2], k[3], string.format("%.3f north, %.3f west", town.lat,
      -town.lon) }, "|")
end

return {
  {
    host = "coast-and-vale.example", folder = "towns", title = "{1} - Coast and Vale gazetteer",
    home = "Coast and Vale gazetteer",
    about = [[
This gazetteer describes the towns between the Northquay coast and the Carrock hills, one page each.
Heights are those of the market square or, where there is none, of the church door. Distances follow
the roads and were driven with a measuring wheel. What a place is known for was decided by the
people who live there, at a meeting with tea. Populations are left out because they are quarrelled
over. The gazetteer has no advertising and appears again in print when the roads have changed
enough.]],
    pages = table.concat(rows, "\n"),
    text = [[
{1} lies {2} metres above the sea and belongs to {3}.
At a height of {2} metres, {1} counts among the towns of {3}.
{3} has several towns; {1}, {2} metres up, is one of them.

It is known for {5}.
Ask anybody what {1} stands for and you will hear of {5}.
Visitors come for {5}, and mostly leave with a cake.

Roads lead to these neighbours: {4}.
By road it is to {4}.
The finger post in the square points to {4}.

The building to look at is {6}, open on {Saturdays|Wednesdays|Sundays} from {9-11} to {15-17}.
Do not miss {6}, which was {restored|moved|nearly sold} in {1958|1974|1989|2003}.
Between {4-6} and {7-9} in the evening {6} is lit, at a cost of {200-900} crowns a year.

In the local dictionary the entry "{7}" fills {two|three|half a} {pages|columns}.
Old people still say "{7}" when they mean the {lower|upper|eastern} part of town.
A street and a football club carry the word {7} in their names.

The market square is at {8}; from there the bus takes {12-70} minutes to the coast.
Surveyors give {8}, measured {in fog|twice|by two schools} in {1931|1966|1994}.
On maps you find it at {8}, beside a {mill|chapel|quarry} that is gone.

A fair is held in {May|August|September}, with {20-140} stalls and {one|two} brass bands.
Winter lasts {9-17} weeks here, and the plough comes at {4-6}:30.
There are {two|three|five} inns; the oldest has {4-12} rooms and no television.]],
  },
}
