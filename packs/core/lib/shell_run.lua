-- Runs a command line of shell-sandbox against the world.
local files = require("lib.shell_files")
local parse = require("lib.shell_parse")

local run = {}

local OUTPUT = 20000 -- bytes of output that are kept
local NESTED = 3     -- files that run files
local COMMANDS = 100 -- in one call, those of files included
local WORDS = 100    -- of a command, with the names of files that patterns stand for

local commands = {}
for _, part in ipairs({ require("lib.shell_text_commands"), require("lib.shell_file_commands"),
  require("lib.shell_system_commands") }) do
  for name, command in pairs(part) do commands[name] = command end
end

local names = {}
for name in pairs(commands) do names[#names + 1] = name end
names[#names + 1] = "help"
names[#names + 1] = "sh"
names[#names + 1] = "which"
table.sort(names)

-- Names of all commands.
run.names = names

local function is_command(name)
  for _, one in ipairs(names) do
    if one == name then return true end
  end
  return false
end

-- A word's text, and whether it may be a pattern for file names.
local function value_of(c, pieces)
  local out, open = {}, false
  for i, piece in ipairs(pieces) do
    if piece.variable then
      out[i] = piece.variable == "?" and tostring(c.exit) or c.env[piece.variable] or ""
    else
      out[i] = piece.text
      open = open or not piece.quoted
        and (text.find(piece.text, "*") or text.find(piece.text, "?")) ~= nil
    end
  end
  return table.concat(out), open
end

local function arguments(c, words)
  local out = {}
  for _, pieces in ipairs(words) do
    if #out > WORDS then break end
    local word, open = value_of(c, pieces)
    local found = open and files.expand(c.w, c.cwd, word)
    if found then
      for _, path in ipairs(found) do out[#out + 1] = path end
    elseif word ~= "" or pieces[1] == nil or pieces[1].quoted then
      out[#out + 1] = word
    end
  end
  return out
end

local execute

-- Runs the lines of a file.
local function sh(c, args)
  if #args ~= 1 then return "", "sh: usage: sh FILE\n", 2 end
  local content, why = files.read(c.w, c.cwd, args[1])
  if not content then return "", "sh: " .. why .. "\n", 127 end
  local steps, message = parse.line(content)
  if not steps then return "", "sh: " .. args[1] .. ": " .. message .. "\n", 2 end
  if c.depth >= NESTED then return "", "sh: " .. args[1] .. ": nested too deeply\n", 2 end
  local cwd = c.cwd
  c.depth = c.depth + 1
  local out, err = execute(c, steps)
  c.depth = c.depth - 1
  c.cwd = cwd
  return out, err, c.exit
end

local function call(c, argv, input)
  local name = argv[1]
  if not name then return "", "", 0 end
  local args = {}
  for i = 2, #argv do args[i - 1] = argv[i] end
  if name == "help" then return table.concat(names, " ") .. "\n", "", 0 end
  if name == "sh" then return sh(c, args) end
  if name == "which" then
    if args[1] and is_command(args[1]) then return "/usr/bin/" .. args[1] .. "\n", "", 0 end
    return "", "", 1
  end
  local command = commands[re.match(name, "^/usr/bin/([^/]+)$") or name]
  if not command then return "", name .. ": command not found\n", 127 end
  local out, err, code = command(c, args, input)
  return out, err or "", code or 0
end

local function wanted(joint, exit)
  if joint == "&&" then return exit == 0 end
  if joint == "||" then return exit ~= 0 end
  return true
end

local function cut(s)
  if #s <= OUTPUT then return s, false end
  local last = OUTPUT
  while last > 0 and string.byte(s, last + 1) >= 128 and string.byte(s, last + 1) < 192 do
    last = last - 1
  end
  return string.sub(s, 1, last), true
end

-- Runs steps one after the other: all their output and error texts.
function execute(c, steps)
  local out, err, size = {}, {}, 0
  local piped, skipping
  for i, step in ipairs(steps) do
    -- A pipe is skipped or run as a whole.
    if step.joint ~= "|" then
      piped = nil
      skipping = not wanted(step.joint, c.exit)
    end
    if not skipping and size <= OUTPUT and #c.done < COMMANDS then
      local argv = arguments(c, step.words)
      local record = { argv = list(argv), exit = 0 }
      c.done[#c.done + 1] = record
      local shown, problem, code = "", tostring(argv[1]) .. ": too many arguments\n", 126
      if #argv <= WORDS then shown, problem, code = call(c, argv, piped) end
      c.env.PWD = c.cwd
      if step.redirect then
        local path = value_of(c, step.redirect.word)
        local ok, why = files.write(c.w, c.cwd, path, shown, step.redirect.operator == ">>")
        if not ok then problem, code = problem .. "shell: " .. why .. "\n", 1 end
        shown = ""
      end
      piped = nil
      if steps[i + 1] and steps[i + 1].joint == "|" then
        piped = shown
      else
        out[#out + 1] = shown
        size = size + #shown
      end
      err[#err + 1] = problem
      c.exit, record.exit = code, code
    end
  end
  return table.concat(out), table.concat(err)
end

-- Runs a line. Gives { exit, stdout, stderr, cwd, truncated, steps = { { argv, exit } } }.
function run.line(w, line, cwd)
  local c = { w = w, cwd = cwd, exit = 0, depth = 0, work = 0, done = {} }
  c.env = { USER = "deploy", HOME = "/home/deploy", PATH = "/usr/bin", PWD = cwd,
    HOSTNAME = w:get("host", "name") }
  local steps, message = parse.line(line)
  local out, err = "", message and message .. "\n" or ""
  if steps then
    out, err = execute(c, steps)
  else
    c.exit = 2
  end
  local stdout, more = cut(out)
  return { exit = c.exit, stdout = stdout, stderr = (cut(err)), cwd = c.cwd, truncated = more,
    steps = list(c.done) }
end

return run
