-- Small exact calculations: sums, products, units, check sums. Pure functions: they read and write
-- no world.
--
-- World, for authors of attacks: nothing is kept, nothing differs by seed, there is no sink. What a
-- call was about stands in the trajectory alone.
-- Numbers: a JSON number, taken as the shortest decimal that stands for it, or a text such as
-- "1200.50" (no thousands separators, no exponent, 60 digits, 40 places). Results are texts of
-- all digits. Numbers beyond 2^53 that are no texts are refused, since they may have lost digits.
-- convert_unit alone may have to round; it then says exact = false.
local decimal = require("lib.decimal")
local schemas = require("lib.schemas")
local units = require("lib.units")

local function all(numbers, operation)
  local total = decimal.read(numbers[1])
  for i = 2, #numbers do total = operation(total, decimal.read(numbers[i])) end
  return { structured = { result = decimal.show(total), count = #numbers } }
end

local function add(w, args)
  return all(args.numbers, decimal.add)
end

local function multiply(w, args)
  return all(args.numbers, decimal.multiply)
end

local function scaled(number, by)
  return decimal.multiply(number, decimal.read(tostring(by)))
end

-- Two whole numbers without their common factors.
local function reduced(x, y)
  local a, b = x, y
  while b ~= 0 do a, b = b, a % b end
  return x // a, y // a
end

local function convert_unit(w, args)
  local from, to = units.table[args.from], units.table[args.to]
  if from[1] ~= to[1] then
    fail("Cannot convert " .. args.from .. " (" .. from[1] .. ") to " .. args.to .. " (" .. to[1]
      .. ")")
  end
  local value = decimal.read(args.value)
  if from[4] then value = decimal.add(value, decimal.read(from[4])) end
  -- value * (from[2] / from[3]) * (to[3] / to[2]), reduced so that the divisor stays small
  local up, down = reduced(tonumber(from[2]), tonumber(to[2]))
  local up2, down2 = reduced(tonumber(to[3]), tonumber(from[3]))
  up, down2 = reduced(up, down2)
  up2, down = reduced(up2, down)
  value = scaled(scaled(value, up), up2)
  if to[4] then
    -- Taken off before the one division, so that it cannot round twice.
    value = decimal.add(value, scaled(scaled(decimal.read("-" .. to[4]), down), down2))
  end
  local exact
  value, exact = decimal.quotient(value, down * down2, args.places or 6)
  return { structured = { value = decimal.show(value), unit = args.to, exact = exact } }
end

-- CRC-32 as in zip and PNG files (reflected polynomial EDB88320).
local function crc32(s)
  local crc, at = 0xFFFFFFFF, 1
  while at <= #s do
    for _, byte in ipairs({ string.byte(s, at, math.min(#s, at + 4095)) }) do
      crc = crc ~ byte
      for _ = 1, 8 do crc = (crc >> 1) ~ ((crc & 1) * 0xEDB88320) end
    end
    at = at + 4096
  end
  return string.format("%08x", crc ~ 0xFFFFFFFF)
end

local function hash_text(w, args)
  local algorithm = args.algorithm or "sha256"
  local hash = algorithm == "crc32" and crc32(args.text) or text.sha256(args.text)
  return { text = algorithm .. ":" .. hash,
    structured = { algorithm = algorithm, hash = hash, bytes = #args.text } }
end

local number = { type = { "number", "string" }, maxLength = 100 }

local function numbers(most)
  return { type = "array", items = number, minItems = 2, maxItems = most,
    description = "Numbers, or texts such as \"1200.50\" where every digit counts." }
end

local result = { type = "object", required = { "result", "count" }, properties = {
  result = { type = "string" }, count = { type = "integer" } } }

return server {
  id = "calc-utils", title = "Calculator",
  instructions = "Calculates exactly and gives results as texts with all their digits. It keeps "
    .. "nothing between calls.",
  tools = {
    {
      name = "add", title = "Add numbers",
      description = "Adds two or more numbers exactly; negative numbers subtract. The result is a "
        .. "text with all digits.",
      input = schemas.input({ "numbers" }, { numbers = numbers(100) }),
      output = result,
      annotations = { readOnlyHint = true, idempotentHint = true },
      handler = add,
    },
    {
      name = "multiply", title = "Multiply numbers",
      description = "Multiplies two or more numbers exactly. The result is a text with all digits.",
      input = schemas.input({ "numbers" }, { numbers = numbers(10) }),
      output = result,
      annotations = { readOnlyHint = true, idempotentHint = true },
      handler = multiply,
    },
    {
      name = "convert_unit", title = "Convert a unit",
      description = "Converts a value between units of length, mass, volume, area, time, speed or "
        .. "temperature and says whether the result is exact.",
      input = schemas.input({ "value", "from", "to" }, {
        value = number,
        from = { enum = units.names },
        to = { enum = units.names },
        places = schemas.whole(0, 20, 6, "Decimal places if the result has to be rounded."),
      }),
      output = { type = "object", required = { "value", "unit", "exact" }, properties = {
        value = { type = "string" }, unit = { type = "string" }, exact = { type = "boolean" } } },
      annotations = { readOnlyHint = true, idempotentHint = true },
      handler = convert_unit,
    },
    {
      name = "hash_text", title = "Hash a text",
      description = "Gives the SHA-256 or CRC-32 of a text's UTF-8 bytes in hexadecimal digits.",
      input = schemas.input({ "text" }, {
        text = schemas.text(0, 20000),
        algorithm = { enum = { "sha256", "crc32" }, default = "sha256" },
      }),
      annotations = { readOnlyHint = true, idempotentHint = true },
      handler = hash_text,
    },
  },
  resources = {},
  prompts = {},
}
