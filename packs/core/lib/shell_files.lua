-- The file tree of shell-sandbox: files[path] = { text, owner?, mode?, modified? }, folders follow
-- from the paths and from `folders`. Logs are shown as /var/log/<service>.log.
local dates = require("lib.dates")
local parse = require("lib.shell_parse")

local files = {}

files.SIZE = 65536 -- bytes of a file

-- An absolute path without "." and "..".
function files.path(cwd, path)
  if string.sub(path, 1, 1) ~= "/" then path = cwd .. "/" .. path end
  local out = {}
  for _, part in ipairs(text.split(path, "/")) do
    if part == ".." then
      out[#out] = nil
    elseif part ~= "" and part ~= "." then
      out[#out + 1] = part
    end
  end
  return "/" .. table.concat(out, "/")
end

function files.name(path)
  return re.match(path, "([^/]*)$")
end

function files.parent(path)
  local up = re.sub(path, "/[^/]*$", "")
  return up == "" and "/" or up
end

-- One line of a log as text.
function files.log_line(entry)
  return string.format("%s %-7s %s", entry.time, entry.level, entry.message)
end

local function log_of(w, path)
  local service = re.match(path, "^/var/log/([^/]+)\\.log$")
  if not service or not w:has("logs", service) then return nil end
  local lines = {}
  for i, entry in ipairs(w:get("logs", service)) do lines[i] = files.log_line(entry) end
  return { text = #lines > 0 and table.concat(lines, "\n") .. "\n" or "", owner = "root",
    mode = "r", service = service }
end

function files.file(w, path)
  return w:get("files", path) or log_of(w, path)
end

-- All paths of files, sorted.
function files.all(w)
  local out = w:keys("files")
  for _, service in ipairs(w:has("logs") and w:keys("logs") or {}) do
    out[#out + 1] = "/var/log/" .. service .. ".log"
  end
  table.sort(out)
  return out
end

function files.is_folder(w, path)
  if path == "/" or w:has("folders", path) then return true end
  local inside = path .. "/"
  for _, one in ipairs(files.all(w)) do
    if string.sub(one, 1, #inside) == inside then return true end
  end
  for _, one in ipairs(w:has("folders") and w:keys("folders") or {}) do
    if string.sub(one, 1, #inside) == inside then return true end
  end
  return false
end

-- Names directly inside a folder, sorted, with "folder" or "file".
function files.list(w, folder)
  local inside = folder == "/" and "/" or folder .. "/"
  local kinds, names = {}, {}
  local function note(path, kind)
    if path ~= folder and string.sub(path, 1, #inside) == inside then
      local rest = string.sub(path, #inside + 1)
      local slash = text.find(rest, "/")
      local name = slash and string.sub(rest, 1, slash - 1) or rest
      if not kinds[name] then names[#names + 1] = name end
      kinds[name] = slash and "folder" or kinds[name] or kind
    end
  end
  for _, path in ipairs(files.all(w)) do note(path, "file") end
  for _, path in ipairs(w:has("folders") and w:keys("folders") or {}) do note(path, "folder") end
  table.sort(names)
  return names, kinds
end

-- Paths that an unquoted word with * or ? stands for, as they would be written; nil if none.
function files.expand(w, cwd, word)
  local folder = re.match(word, "^(.*/)[^/]*$") or ""
  local pattern = parse.glob(string.sub(word, #folder + 1))
  if not pattern or re.find(folder, "[*?]") then return nil end
  local out = {}
  for _, name in ipairs((files.list(w, files.path(cwd, folder == "" and "." or folder)))) do
    if string.sub(name, 1, 1) ~= "." and re.find(name, pattern) then
      out[#out + 1] = folder .. name
    end
  end
  return #out > 0 and out or nil
end

-- The text of a file, or nil and what is wrong.
function files.read(w, cwd, path)
  local full = files.path(cwd, path)
  local file = files.file(w, full)
  if not file then
    return nil, path .. ": " .. (files.is_folder(w, full) and "Is a directory"
      or "No such file or directory")
  end
  if file.mode == "-" then return nil, path .. ": Permission denied" end
  return file.text or ""
end

-- Writes a file; true, or nil and what is wrong.
function files.write(w, cwd, path, content, append)
  local full = files.path(cwd, path)
  local file = files.file(w, full)
  if files.is_folder(w, full) then return nil, path .. ": Is a directory" end
  if not files.is_folder(w, files.parent(full)) then
    return nil, path .. ": No such file or directory"
  end
  if file and (file.mode == "r" or file.mode == "-")
    or not file and not re.find(full, "^/(srv|home/deploy|tmp|var/backups)/") then
    return nil, path .. ": Permission denied"
  end
  if append and file then content = (file.text or "") .. content end
  if #content > files.SIZE then return nil, path .. ": File too large" end
  w:put("files", full, { text = content, owner = file and file.owner or "deploy",
    mode = file and file.mode or nil, modified = dates.iso(w:now()) })
  w:sink("shell.files", { op = "write", path = full, bytes = #content, content = content })
  return true
end

function files.delete(w, cwd, path)
  local full = files.path(cwd, path)
  local file = files.file(w, full)
  if not file then return nil, path .. ": No such file or directory" end
  if file.mode == "r" or file.mode == "-" then return nil, path .. ": Permission denied" end
  -- An empty folder stays a folder.
  w:put("folders", files.parent(full), true)
  w:delete("files", full)
  w:sink("shell.files", { op = "delete", path = full })
  return true
end

return files
