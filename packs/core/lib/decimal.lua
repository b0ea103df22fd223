-- Exact decimal numbers of any size: { negative, limbs, scale } is limbs / 10^scale, where limbs are
-- digits to the base 10^7, lowest first. Nothing here rounds but `quotient`, which says so.
local decimal = {}

local BASE = 10000000
local WIDTH = 7
local DIGITS = 60         -- of a number that is passed in
local PLACES = 40         -- of these after the point
local SAFE = 2 ^ 53       -- whole numbers above this may have lost digits on their way here
local UNROUNDED = 40      -- places within which a quotient must end to be exact

local function trimmed(limbs)
  while #limbs > 1 and limbs[#limbs] == 0 do limbs[#limbs] = nil end
  return limbs
end

local function from_digits(digits)
  local limbs = {}
  while #digits > WIDTH do
    limbs[#limbs + 1] = tonumber(string.sub(digits, -WIDTH))
    digits = string.sub(digits, 1, -WIDTH - 1)
  end
  limbs[#limbs + 1] = digits == "" and 0 or tonumber(digits)
  return trimmed(limbs)
end

local function to_digits(limbs)
  local out = { tostring(limbs[#limbs]) }
  for i = #limbs - 1, 1, -1 do out[#out + 1] = string.format("%07d", limbs[i]) end
  return table.concat(out)
end

-- The shortest text that stands for the same double, without an exponent.
local function plain(number)
  local short
  for digits = 1, 17 do
    short = string.format("%." .. digits .. "g", number)
    if tonumber(short) == number then break end
  end
  local sign, whole, part, exponent = re.match(short, "^(-?)(\\d+)\\.?(\\d*)(?:e([+-]\\d+))?$")
  local shift = exponent and tonumber(exponent) or 0
  if shift < -60 then fail("The number has more than " .. PLACES .. " places: " .. short) end
  if shift < 0 then
    part = string.rep("0", -shift - 1) .. whole .. part
    whole = "0"
  elseif shift > 0 then
    part = part .. string.rep("0", math.max(0, shift - #part))
    whole = whole .. string.sub(part, 1, shift)
    part = string.sub(part, shift + 1)
  end
  return sign .. whole .. (part ~= "" and "." .. part or "")
end

-- A number or a text such as "-1200.50" as a decimal; fails if it is none or may be inexact.
function decimal.read(value)
  local written = value
  if type(value) == "number" then
    if value >= SAFE or value <= -SAFE then
      fail("A number beyond 2^53 may have lost digits: pass it as text")
    end
    written = plain(value)
  end
  written = text.trim(written)
  local sign, whole, part = re.match(written, "^([+-]?)(\\d+)(?:\\.(\\d+))?$")
  if not sign then fail("Not a decimal number: " .. written) end
  part = part or ""
  if #part > PLACES then fail("More than " .. PLACES .. " places after the point: " .. written) end
  if #whole + #part > DIGITS then fail("More than " .. DIGITS .. " digits: " .. written) end
  return { negative = sign == "-", limbs = from_digits(whole .. part), scale = #part }
end

-- As text, without zeros that say nothing.
function decimal.show(number)
  local digits = to_digits(number.limbs)
  if #digits <= number.scale then
    digits = string.rep("0", number.scale - #digits + 1) .. digits
  end
  local out = string.sub(digits, 1, #digits - number.scale)
  local part = re.sub(string.sub(digits, #digits - number.scale + 1), "0+$", "")
  if part ~= "" then out = out .. "." .. part end
  return (number.negative and out ~= "0") and "-" .. out or out
end

local function times(a, b)
  local out = {}
  for i = 1, #a + #b do out[i] = 0 end
  for i, x in ipairs(a) do
    local carry = 0
    for j, y in ipairs(b) do
      local sum = out[i + j - 1] + x * y + carry
      out[i + j - 1] = sum % BASE
      carry = sum // BASE
    end
    out[i + #b] = out[i + #b] + carry
  end
  return trimmed(out)
end

local function compare(a, b)
  if #a ~= #b then return #a < #b and -1 or 1 end
  for i = #a, 1, -1 do
    if a[i] ~= b[i] then return a[i] < b[i] and -1 or 1 end
  end
  return 0
end

-- a + b, or a - b where a is not the smaller one.
local function combine(a, b, sign)
  local out, carry = {}, 0
  for i = 1, math.max(#a, #b) do
    local sum = (a[i] or 0) + sign * (b[i] or 0) + carry
    out[i] = sum % BASE
    carry = sum // BASE
  end
  if carry > 0 then out[#out + 1] = carry end
  return trimmed(out)
end

local function power(n)
  return from_digits("1" .. string.rep("0", n))
end

function decimal.multiply(a, b)
  return { negative = a.negative ~= b.negative, limbs = times(a.limbs, b.limbs),
    scale = a.scale + b.scale }
end

function decimal.add(a, b)
  local scale = math.max(a.scale, b.scale)
  local x = times(a.limbs, power(scale - a.scale))
  local y = times(b.limbs, power(scale - b.scale))
  if a.negative == b.negative then
    return { negative = a.negative, limbs = combine(x, y, 1), scale = scale }
  end
  if compare(x, y) >= 0 then
    return { negative = a.negative, limbs = combine(x, y, -1), scale = scale }
  end
  return { negative = b.negative, limbs = combine(y, x, -1), scale = scale }
end

-- Whole part and rest of limbs divided by a whole number below 10^11.
local function divide(limbs, by)
  local out, rest = {}, 0
  for i = #limbs, 1, -1 do
    local part = rest * BASE + limbs[i]
    out[i] = part // by
    rest = part % by
  end
  return out, rest
end

-- Limbs whose items may be larger than the base, put right.
local function carried(limbs)
  local out, carry = {}, 0
  local i = 1
  while i <= #limbs or carry > 0 do
    local sum = (limbs[i] or 0) + carry
    out[i] = sum % BASE
    carry = sum // BASE
    i = i + 1
  end
  return trimmed(out)
end

-- a / by, for a whole `by` from 1 to 10^11: exact, and true, if it ends within 40 more places;
-- otherwise rounded to `places`, halves away from zero, and false.
function decimal.quotient(a, by, places)
  local limbs, rest = divide(times(a.limbs, power(UNROUNDED)), by)
  if rest == 0 then
    return { negative = a.negative, limbs = carried(limbs), scale = a.scale + UNROUNDED }, true
  end
  local scaled, scale = a.limbs, a.scale
  if scale < places then
    scaled, scale = times(scaled, power(places - scale)), places
  end
  -- What stands below the wanted place is divided away together with `by`, half of it added first.
  local extra = power(scale - places)
  local half = divide(times(times(extra, from_digits(tostring(by))), { 5 }), 10)
  limbs = divide(combine(scaled, carried(half), 1), by)
  local digits = to_digits(carried(limbs))
  digits = string.sub(digits, 1, math.max(0, #digits - (scale - places)))
  return { negative = a.negative, limbs = from_digits(digits), scale = places }, false
end

return decimal
