-- Commands of shell-sandbox that work on files and folders; for their form see
-- shell_text_commands.lua.
local files = require("lib.shell_files")
local options = require("lib.shell_options")
local parse = require("lib.shell_parse")
local dates = require("lib.dates")

local commands = {}

function commands.pwd(c)
  return c.cwd .. "\n"
end

function commands.cd(c, args)
  local target = args[1] or "/home/deploy"
  local full = files.path(c.cwd, target)
  if not files.is_folder(c.w, full) then
    local is_file = files.file(c.w, full) ~= nil
    return "", "cd: " .. target .. ": " .. (is_file and "Not a directory"
      or "No such file or directory") .. "\n", 1
  end
  c.cwd = full
  return ""
end

local function row(c, path, name, folder)
  local file = not folder and files.file(c.w, path) or {}
  local mode = folder and "drwxr-xr-x" or file.mode == "r" and "-r--r--r--"
    or file.mode == "-" and "-rw-------" or "-rw-r--r--"
  local modified = file.modified or c.w:get("start")
  return string.format("%s %-6s %7d %s %s", mode, file.owner or (folder and "root" or "deploy"),
    folder and 4096 or #(file.text or ""), re.sub(string.sub(modified, 1, 16), "T", " "), name)
end

function commands.ls(c, args)
  local o, names, problem = options.read("ls", args, { l = true, a = true, h = true, ["1"] = true })
  if not o then return "", problem, 2 end
  local out, err, code = {}, "", 0
  for _, name in ipairs(#names > 0 and names or { "." }) do
    local full = files.path(c.cwd, name)
    if files.is_folder(c.w, full) then
      if #names > 1 then out[#out + 1] = name .. ":" end
      local inside, kinds = files.list(c.w, full)
      for _, one in ipairs(inside) do
        if o.a or string.sub(one, 1, 1) ~= "." then
          local folder = kinds[one] == "folder"
          out[#out + 1] = o.l and row(c, files.path(full, one), one, folder)
            or one .. (folder and "/" or "")
        end
      end
    elseif files.file(c.w, full) then
      out[#out + 1] = o.l and row(c, full, name, false) or name
    else
      err, code = err .. "ls: " .. name .. ": No such file or directory\n", 2
    end
  end
  return #out > 0 and table.concat(out, "\n") .. "\n" or "", err, code
end

function commands.find(c, args)
  local start = "."
  local pattern
  if args[1] and string.sub(args[1], 1, 1) ~= "-" then start = table.remove(args, 1) end
  if args[1] == "-name" and args[2] and #args == 2 then
    pattern = parse.glob(args[2])
    if not pattern then return "", "find: the pattern has too many stars\n", 2 end
  elseif #args > 0 then
    return "", "find: only -name PATTERN is supported\n", 2
  end
  local full = files.path(c.cwd, start)
  if not files.is_folder(c.w, full) then
    return "", "find: " .. start .. ": No such directory\n", 1
  end
  local inside = full == "/" and "/" or full .. "/"
  local out = {}
  for _, path in ipairs(files.all(c.w)) do
    if string.sub(path, 1, #inside) == inside
      and (not pattern or re.find(files.name(path), pattern)) then
      out[#out + 1] = re.sub(start, "/$", "") .. "/" .. string.sub(path, #inside + 1)
    end
  end
  return #out > 0 and table.concat(out, "\n") .. "\n" or ""
end

-- Calls `act` for each argument and gathers what went wrong.
local function each(command, names, act)
  if #names == 0 then return "", command .. ": a file name is missing\n", 2 end
  local problems = {}
  for _, name in ipairs(names) do
    local ok, why = act(name)
    if not ok then problems[#problems + 1] = command .. ": " .. why .. "\n" end
  end
  return "", table.concat(problems), #problems > 0 and 1 or 0
end

function commands.touch(c, args)
  return each("touch", args, function(name)
    return files.write(c.w, c.cwd, name, "", true)
  end)
end

function commands.mkdir(c, args)
  local o, names, problem = options.read("mkdir", args, { p = true })
  if not o then return "", problem, 2 end
  return each("mkdir", names, function(name)
    local full = files.path(c.cwd, name)
    if files.is_folder(c.w, full) or files.file(c.w, full) then
      if o.p then return true end
      return nil, name .. ": File exists"
    end
    if not o.p and not files.is_folder(c.w, files.parent(full)) then
      return nil, name .. ": No such file or directory"
    end
    if not re.find(full, "^/(srv|home/deploy|tmp|var/backups)/") then
      return nil, name .. ": Permission denied"
    end
    c.w:put("folders", full, true)
    return true
  end)
end

function commands.rm(c, args)
  local o, names, problem = options.read("rm", args, { r = true, f = true })
  if not o then return "", problem, 2 end
  return each("rm", names, function(name)
    local full = files.path(c.cwd, name)
    if not files.is_folder(c.w, full) then
      if o.f and not files.file(c.w, full) then return true end
      return files.delete(c.w, c.cwd, name)
    end
    if not o.r then return nil, name .. ": Is a directory" end
    local inside, failed = full == "/" and "/" or full .. "/", nil
    for _, path in ipairs(files.all(c.w)) do
      if string.sub(path, 1, #inside) == inside then
        local ok, why = files.delete(c.w, "/", path)
        if not ok then failed = failed or why end
      end
    end
    if failed then return nil, failed end
    for _, path in ipairs(c.w:keys("folders")) do
      if path == full or string.sub(path, 1, #inside) == inside then c.w:delete("folders", path) end
    end
    return true
  end)
end

-- Copies one file, or moves it.
local function transfer(command, c, args, keep)
  local o, names, problem = options.read(command, args, { f = true, p = true })
  if not o then return "", problem, 2 end
  if #names ~= 2 then return "", command .. ": needs a source and a target\n", 2 end
  local content, why = files.read(c.w, c.cwd, names[1])
  if not content then return "", command .. ": " .. why .. "\n", 1 end
  local target = names[2]
  if files.is_folder(c.w, files.path(c.cwd, target)) then
    target = re.sub(target, "/$", "") .. "/" .. files.name(files.path(c.cwd, names[1]))
  end
  if files.path(c.cwd, target) == files.path(c.cwd, names[1]) then
    return "", command .. ": " .. names[1] .. ": source and target are the same file\n", 1
  end
  if not keep and files.file(c.w, files.path(c.cwd, names[1])).mode == "r" then
    return "", command .. ": " .. names[1] .. ": Permission denied\n", 1
  end
  local ok
  ok, why = files.write(c.w, c.cwd, target, content)
  if ok and not keep then ok, why = files.delete(c.w, c.cwd, names[1]) end
  return "", ok and "" or command .. ": " .. why .. "\n", ok and 0 or 1
end

function commands.cp(c, args)
  return transfer("cp", c, args, true)
end

function commands.mv(c, args)
  return transfer("mv", c, args, false)
end

function commands.test(c, args)
  local kind, name = args[1], args[2]
  if #args ~= 2 or not re.find(kind, "^-[fde]$") then
    return "", "test: only -f, -d and -e FILE are supported\n", 2
  end
  local full = files.path(c.cwd, name)
  local file, folder = files.file(c.w, full) ~= nil, files.is_folder(c.w, full)
  local yes = kind == "-f" and file or kind == "-d" and folder or kind == "-e" and (file or folder)
  return "", "", yes and 0 or 1
end

function commands.du(c, args)
  local o, names, problem = options.read("du", args, { s = true, h = true })
  if not o then return "", problem, 2 end
  local out = {}
  for _, name in ipairs(#names > 0 and names or { "." }) do
    local full = files.path(c.cwd, name)
    local inside, bytes = full == "/" and "/" or full .. "/", 0
    for _, path in ipairs(files.all(c.w)) do
      if path == full or string.sub(path, 1, #inside) == inside then
        bytes = bytes + #(files.file(c.w, path).text or "")
      end
    end
    out[#out + 1] = (bytes + 1023) // 1024 .. "\t" .. name
  end
  return table.concat(out, "\n") .. "\n"
end

-- Puts the files below a folder into one archive file: its name and, for each file, path, bytes and
-- check sum, then the texts.
function commands.backup(c, args)
  local folder = args[1] or "/srv/shop"
  local full = files.path(c.cwd, folder)
  if #args > 1 then return "", "backup: usage: backup [FOLDER]\n", 2 end
  if not files.is_folder(c.w, full) then
    return "", "backup: " .. folder .. ": No such directory\n", 1
  end
  local inside, parts, count = full == "/" and "/" or full .. "/", {}, 0
  for _, path in ipairs(files.all(c.w)) do
    local file = string.sub(path, 1, #inside) == inside and files.file(c.w, path)
    if file and file.mode ~= "-" then
      count = count + 1
      parts[count] = string.format("--- %s %d %s\n%s", path, #file.text,
        string.sub(text.sha256(file.text), 1, 16), file.text)
    end
  end
  local stamp = re.sub(string.sub(dates.iso(c.w:now()), 1, 16), "[-:]", "")
  local name = "/var/backups/" .. files.name(full) .. "-" .. stamp .. ".archive"
  local ok, why = files.write(c.w, "/", name, table.concat(parts, "\n"))
  if not ok then return "", "backup: " .. why .. "\n", 1 end
  return string.format("%s: %d files\n", name, count)
end

return commands
