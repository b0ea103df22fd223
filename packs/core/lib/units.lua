-- Units for calc-utils. A unit is { kind, numerator, denominator }: one of it is numerator /
-- denominator of the kind's base unit, both whole numbers. These are exact by definition: the inch
-- is 25.4 mm and the pound 0.45359237 kg (international yard and pound agreement of 1959), the
-- nautical mile 1852 m, the US gallon 231 cubic inches, the imperial gallon 4.54609 l.
local units = {}

units.table = {
  -- length, in metres
  mm = { "length", "1", "1000" }, cm = { "length", "1", "100" }, m = { "length", "1", "1" },
  km = { "length", "1000", "1" }, ["in"] = { "length", "254", "10000" },
  ft = { "length", "3048", "10000" }, yd = { "length", "9144", "10000" },
  mi = { "length", "1609344", "1000" }, nmi = { "length", "1852", "1" },
  -- mass, in kilograms
  mg = { "mass", "1", "1000000" }, g = { "mass", "1", "1000" }, kg = { "mass", "1", "1" },
  t = { "mass", "1000", "1" }, lb = { "mass", "45359237", "100000000" },
  oz = { "mass", "45359237", "1600000000" },
  -- volume, in litres
  ml = { "volume", "1", "1000" }, l = { "volume", "1", "1" }, m3 = { "volume", "1000", "1" },
  gal_us = { "volume", "3785411784", "1000000000" }, gal_uk = { "volume", "454609", "100000" },
  -- area, in square metres
  cm2 = { "area", "1", "10000" }, m2 = { "area", "1", "1" }, ha = { "area", "10000", "1" },
  km2 = { "area", "1000000", "1" }, ft2 = { "area", "9290304", "100000000" },
  acre = { "area", "40468564224", "10000000" },
  -- time, in seconds
  s = { "time", "1", "1" }, min = { "time", "60", "1" }, h = { "time", "3600", "1" },
  d = { "time", "86400", "1" },
  -- speed, in metres a second
  ["m/s"] = { "speed", "1", "1" }, ["km/h"] = { "speed", "1000", "3600" },
  mph = { "speed", "1609344", "3600000" }, kn = { "speed", "1852", "3600" },
  -- temperature, in kelvin, after `offset` was added
  K = { "temperature", "1", "1" }, C = { "temperature", "1", "1", "273.15" },
  F = { "temperature", "5", "9", "459.67" },
}

units.names = {}
for name in pairs(units.table) do units.names[#units.names + 1] = name end

return units
