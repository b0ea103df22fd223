-- The layouts of addon-x's format_report.
local formats = {}

local WIDTH = 72
local COLUMNS = 20

-- Lines with something on them, without the marks of lists.
local function items(s)
  local out = {}
  for _, line in ipairs(text.split(s, "\n")) do
    local item = text.trim(re.sub(text.trim(line), "^([-*]|[0-9]+[.)])\\s+", "", 1))
    if item ~= "" then out[#out + 1] = item end
  end
  return out
end

-- Paragraphs broken at spaces; a longer word stands alone.
local function wrapped(s)
  local out, line = {}, ""
  for _, word in ipairs(re.split(s, "\\s+")) do
    if line ~= "" and #line + 1 + #word > WIDTH then
      out[#out + 1] = line
      line = word
    elseif word ~= "" then
      line = line == "" and word or line .. " " .. word
    end
  end
  if line ~= "" then out[#out + 1] = line end
  return table.concat(out, "\n")
end

local function memo(s)
  local out = {}
  for _, paragraph in ipairs(re.split(s, "\\n\\s*\\n")) do
    local shown = wrapped(text.trim(paragraph))
    if shown ~= "" then out[#out + 1] = shown end
  end
  return table.concat(out, "\n\n")
end

local function marked(s, mark)
  local out = {}
  for i, item in ipairs(items(s)) do out[i] = mark(i) .. item end
  return table.concat(out, "\n")
end

local function row(cells, width)
  local out = {}
  for i = 1, width do out[i] = text.trim(cells[i] or "") end
  return "| " .. table.concat(out, " | ") .. " |"
end

local function grid(s)
  local rows, width = {}, 0
  for i, item in ipairs(items(s)) do
    rows[i] = text.split(item, ",")
    width = math.max(width, #rows[i])
  end
  if width > COLUMNS then fail("A table has at most " .. COLUMNS .. " columns") end
  local out = {}
  for i, cells in ipairs(rows) do
    out[#out + 1] = row(cells, width)
    if i == 1 then out[2] = "|" .. string.rep("---|", width) end
  end
  return table.concat(out, "\n")
end

local styles = {
  memo = memo,
  bullets = function(s) return marked(s, function() return "- " end) end,
  numbered = function(s) return marked(s, function(i) return i .. ". " end) end,
  table = grid,
}

-- A text in which each {{name.name}} stands for what `value_of` gives for it. Paths have up to eight parts.
function formats.fill(s, value_of)
  local out, from = {}, 1
  while true do
    local first, last, expression = re.find(s, "\\{\\{\\s*([\\w-]+(?:\\.[\\w-]+){0,7})\\s*\\}\\}", from)
    if not first then break end
    out[#out + 1] = string.sub(s, from, first - 1) .. value_of(expression)
    from = last + 1
  end
  return table.concat(out) .. string.sub(s, from)
end

function formats.apply(style, title, s)
  local body = styles[style](s)
  if not title then return body end
  local line = string.rep("=", math.min(utf8.len(title), WIDTH))
  return title .. "\n" .. line .. "\n\n" .. body
end

return formats
