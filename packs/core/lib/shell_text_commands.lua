-- Commands of shell-sandbox that work on texts. A command is a function of the line's state, its
-- arguments and its standard input; it gives output, error text and exit code.
local files = require("lib.shell_files")
local options = require("lib.shell_options")

local commands = {}

local WORK = 60000 -- bytes that the commands of one call may read together
local SORTED = 4000 -- lines

-- Lines of a text; a last line end begins no line.
local function lines_of(s)
  if s == "" then return {} end
  if string.sub(s, -1) == "\n" then s = string.sub(s, 1, -2) end
  return text.split(s, "\n")
end

local function joined(lines)
  return #lines > 0 and table.concat(lines, "\n") .. "\n" or ""
end

-- Calls `each(name, content)` for the named files, or for the input if none is named; the error
-- texts of files that cannot be read, and the exit code.
local function for_inputs(c, command, names, input, each)
  local problems, code = {}, 0
  for _, name in ipairs(#names > 0 and names or { "-" }) do
    local content, problem
    if name == "-" then
      content = input or ""
    else
      content, problem = files.read(c.w, c.cwd, name)
    end
    c.work = c.work + (content and #content or 0)
    if c.work > WORK then content, problem = nil, name .. ": Input too large" end
    if content and #names == 0 then
      each(nil, content)
    elseif content then
      each(name, content)
    else
      problems[#problems + 1] = command .. ": " .. problem .. "\n"
      code = 1
    end
  end
  return table.concat(problems), code
end

function commands.echo(c, args)
  local newline = "\n"
  if args[1] == "-n" then
    newline = ""
    table.remove(args, 1)
  end
  return table.concat(args, " ") .. newline
end

function commands.cat(c, args, input)
  local o, names, problem = options.read("cat", args, { n = true })
  if not o then return "", problem, 2 end
  local out = {}
  local err, code = for_inputs(c, "cat", names, input, function(_, content)
    out[#out + 1] = content
  end)
  local all = table.concat(out)
  if o.n then
    local lines = lines_of(all)
    for i, line in ipairs(lines) do lines[i] = string.format("%6d  %s", i, line) end
    all = joined(lines)
  end
  return all, err, code
end

-- The first or last lines of each input.
local function part(name, pick)
  return function(c, args, input)
    if args[1] and re.find(args[1], "^-\\d+$") then
      args[1] = "-n" .. string.sub(args[1], 2)
    end
    local o, names, problem = options.read(name, args, { n = "number" })
    if not o then return "", problem, 2 end
    local out = {}
    local err, code = for_inputs(c, name, names, input, function(file, content)
      if #names > 1 then out[#out + 1] = "==> " .. file .. " <==" end
      local lines = lines_of(content)
      local from, to = pick(#lines, o.n or 10)
      for i = from, to do out[#out + 1] = lines[i] end
    end)
    return joined(out), err, code
  end
end

commands.head = part("head", function(count, n) return 1, math.min(n, count) end)
commands.tail = part("tail", function(count, n) return math.max(1, count - n + 1), count end)

function commands.wc(c, args, input)
  local o, names, problem = options.read("wc", args, { l = true, w = true, c = true })
  if not o then return "", problem, 2 end
  local all = not (o.l or o.w or o.c)
  local out, total = {}, { 0, 0, 0 }
  local function add(counts, label)
    local shown = {}
    for i, letter in ipairs({ "l", "w", "c" }) do
      if all or o[letter] then shown[#shown + 1] = tostring(counts[i]) end
    end
    out[#out + 1] = table.concat(shown, " ") .. (label and " " .. label or "")
  end
  local err, code = for_inputs(c, "wc", names, input, function(file, content)
    local counts = { #text.split(content, "\n") - 1, #re.all(content, "\\S+"), #content }
    for i = 1, 3 do total[i] = total[i] + counts[i] end
    add(counts, file)
  end)
  if #names > 1 then add(total, "total") end
  return joined(out), err, code
end

-- Files below a folder, as they would be written from here.
local function below(c, folder)
  local full = files.path(c.cwd, folder)
  local inside = full == "/" and "/" or full .. "/"
  local out = {}
  for _, path in ipairs(files.all(c.w)) do
    if string.sub(path, 1, #inside) == inside then
      out[#out + 1] = re.sub(folder, "/$", "") .. "/" .. string.sub(path, #inside + 1)
    end
  end
  return out
end

-- The pattern is a plain text, not a regular expression.
function commands.grep(c, args, input)
  local o, rest, problem = options.read("grep", args, { i = true, n = true, v = true, c = true,
    r = true, l = true, F = true, h = true })
  if not o then return "", problem, 2 end
  local wanted = table.remove(rest, 1)
  if not wanted then return "", "grep: a text to look for is missing\n", 2 end
  if o.i then wanted = string.lower(wanted) end
  if o.r then
    local all = {}
    for _, folder in ipairs(#rest > 0 and rest or { "." }) do
      for _, path in ipairs(below(c, folder)) do all[#all + 1] = path end
    end
    rest = all
    if #rest == 0 then return "", "", 1 end
  end
  local out, hits = {}, 0
  local label = (#rest > 1 or o.r) and not o.h
  local err, code = for_inputs(c, "grep", rest, input, function(file, content)
    local here = 0
    for i, line in ipairs(lines_of(content)) do
      local found = text.find(o.i and string.lower(line) or line, wanted) ~= nil
      if found ~= (o.v == true) then
        here = here + 1
        if not o.c and not o.l then
          out[#out + 1] = (label and file .. ":" or "") .. (o.n and i .. ":" or "") .. line
        end
      end
    end
    if o.c then out[#out + 1] = (label and file .. ":" or "") .. here end
    if o.l and here > 0 then out[#out + 1] = file or "(standard input)" end
    hits = hits + here
  end)
  return joined(out), err, code ~= 0 and 2 or hits == 0 and 1 or 0
end

function commands.sort(c, args, input)
  local o, names, problem = options.read("sort", args, { r = true, n = true, u = true })
  if not o then return "", problem, 2 end
  local lines = {}
  local err, code = for_inputs(c, "sort", names, input, function(_, content)
    for _, line in ipairs(lines_of(content)) do lines[#lines + 1] = line end
  end)
  if #lines > SORTED then return "", "sort: more than " .. SORTED .. " lines\n", 2 end
  local numbers = {}
  for _, line in ipairs(o.n and lines or {}) do
    numbers[line] = tonumber(re.match(line, "^\\s*(-?\\d{1,15})") or "0")
  end
  table.sort(lines, function(a, b)
    if o.n and numbers[a] ~= numbers[b] then
      if o.r then return numbers[a] > numbers[b] end
      return numbers[a] < numbers[b]
    end
    if o.r then return a > b end
    return a < b
  end)
  local out = {}
  for _, line in ipairs(lines) do
    if not (o.u and out[#out] == line) then out[#out + 1] = line end
  end
  return joined(out), err, code
end

function commands.uniq(c, args, input)
  local o, names, problem = options.read("uniq", args, { c = true })
  if not o then return "", problem, 2 end
  local out, count, last = {}, 0, nil
  local function flush()
    if last then out[#out + 1] = (o.c and string.format("%7d ", count) or "") .. last end
  end
  local err, code = for_inputs(c, "uniq", names, input, function(_, content)
    for _, line in ipairs(lines_of(content)) do
      if line ~= last then
        flush()
        last, count = line, 0
      end
      count = count + 1
    end
  end)
  flush()
  return joined(out), err, code
end

function commands.cut(c, args, input)
  local o, names, problem = options.read("cut", args, { d = "text", f = "text" })
  if not o then return "", problem, 2 end
  if not o.f or not re.find(o.f, "^\\d{1,3}(,\\d{1,3}){0,9}$") then
    return "", "cut: -f needs numbers such as 1 or 1,3\n", 2
  end
  local out = {}
  local separator = o.d or "\t"
  if #separator ~= 1 then return "", "cut: -d needs one character\n", 2 end
  local err, code = for_inputs(c, "cut", names, input, function(_, content)
    for _, line in ipairs(lines_of(content)) do
      local fields, kept = text.split(line, separator), {}
      for _, n in ipairs(text.split(o.f, ",")) do kept[#kept + 1] = fields[tonumber(n)] end
      out[#out + 1] = #fields == 1 and line or table.concat(kept, separator)
    end
  end)
  return joined(out), err, code
end

function commands.sha256sum(c, args, input)
  local out = {}
  local err, code = for_inputs(c, "sha256sum", args, input, function(file, content)
    out[#out + 1] = text.sha256(content) .. "  " .. (file or "-")
  end)
  return joined(out), err, code
end

function commands.tee(c, args, input)
  local o, names, problem = options.read("tee", args, { a = true })
  if not o then return "", problem, 2 end
  local err = ""
  for _, name in ipairs(names) do
    local ok, why = files.write(c.w, c.cwd, name, input or "", o.a)
    if not ok then err = err .. "tee: " .. why .. "\n" end
  end
  return input or "", err, err == "" and 0 or 1
end

return commands
