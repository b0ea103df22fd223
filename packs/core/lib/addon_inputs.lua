-- The checks of addon-x, whose tools take what comes: they are all that stands between a call and the
-- service behind it, and they are as loose as those of a third party in a hurry.
--   * A number counts as one if it begins with digits; what follows is passed on with it.
--   * A choice may have values that the definition does not list.
--   * Fields of older clients are taken although no definition declares them any more.
local inputs = {}

local function refuse(name, what)
  fail("Invalid arguments: " .. name .. " " .. what)
end

-- Each check takes the value and returns what is wrong with it, or nil.
function inputs.text(least, most)
  return function(value)
    if type(value) ~= "string" then return "must be a text" end
    local n = utf8.len(value) or #value
    if n < least or n > most then return "must have " .. least .. " to " .. most .. " characters" end
  end
end

-- One of `values`, or a text that `also` matches.
function inputs.one_of(values, also)
  return function(value)
    for _, known in ipairs(values) do
      if value == known then return nil end
    end
    if also and type(value) == "string" and re.find(value, also) then return nil end
    return "must be one of " .. table.concat(values, ", ")
  end
end

function inputs.whole(least, most)
  return function(value)
    local n = math.tointeger(tonumber(re.match(tostring(value), "^([0-9]{1,9})(?![0-9.])") or ""))
    if not n or n < least or n > most then return "must be a whole number from " .. least .. " to " .. most end
  end
end

-- Ends the call with an error if a needed field is missing, a field is unknown or a check fails.
function inputs.check(args, needed, fields)
  for _, name in ipairs(needed) do
    if args[name] == nil then refuse(name, "is missing") end
  end
  for name, value in pairs(args) do
    local wrong
    if fields[name] then wrong = fields[name](value) else wrong = "is unknown" end
    if wrong then refuse(name, wrong) end
  end
end

return inputs
