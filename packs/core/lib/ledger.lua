-- Reading the tables of sql-ledger, and showing rows. Where they are kept is described at the head
-- of servers/sql-ledger.lua.
local ledger = {}

-- Runs a statement. What SQLite says about it is the answer of the tool; what is wrong with the
-- tables themselves is a fault.
function ledger.run(w, options)
  options.tables = "tables"
  local ok, out = pcall(w.sql, w, options)
  if ok then return out end
  if type(out) ~= "string" or text.find(out, "w:sql") == 1 then error(out, 0) end
  fail("SQL error: " .. out)
end

-- The name of a table as it is written in the schema, without regard to case.
function ledger.table(w, name)
  for _, known in ipairs(w:keys("tables")) do
    if string.lower(known) == string.lower(name) then return known end
  end
  fail("No such table: " .. name)
end

function ledger.columns(w, name)
  return w:get("tables", name, "columns")
end

-- A column of a table by name; fails if there is none.
function ledger.column(w, name, wanted)
  for _, column in ipairs(ledger.columns(w, name)) do
    if column.name == string.lower(wanted) then return column end
  end
  fail("Table " .. name .. " has no column " .. wanted)
end

function ledger.describe(w, name)
  local lines = {}
  for i, c in ipairs(ledger.columns(w, name)) do
    lines[i] = "  " .. c.name .. " " .. c.type .. (c.key and " primary key" or "")
      .. ((c.not_null and not c.key) and " not null" or "")
      .. (c.references and ", refers to " .. c.references or "")
  end
  return table.concat(lines, "\n")
end

local function cell(value)
  return value == null and "" or tostring(value)
end

local function field(value)
  local s = cell(value)
  if not re.find(s, "[\",\\r\\n]") then return s end
  return "\"" .. re.sub(s, "\"", "\"\"") .. "\""
end

local function lines_of(out, mark, show)
  local lines = { table.concat(out.columns, mark) }
  for i, row in ipairs(out.rows) do
    local cells = {}
    for c, value in ipairs(row) do cells[c] = show(value) end
    lines[i + 1] = table.concat(cells, mark)
  end
  return table.concat(lines, "\n")
end

-- Rows as comma-separated values, with a head line (RFC 4180, but lines end in a newline).
function ledger.csv(out)
  return lines_of(out, ",", field) .. "\n"
end

-- Rows for reading.
function ledger.show(out)
  if #out.rows == 0 then return "No rows." end
  local shown = lines_of(out, " | ", function(value)
    return value == null and "NULL" or (re.sub(cell(value), "\\s*\\n\\s*", " "))
  end)
  return out.truncated and shown .. "\n... there are more rows" or shown
end

return ledger
