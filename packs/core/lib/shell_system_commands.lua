-- Commands of shell-sandbox that show or change the machine; for their form see
-- shell_text_commands.lua.
local dates = require("lib.dates")
local files = require("lib.shell_files")
local options = require("lib.shell_options")
local system = require("lib.shell_system")

local commands = {}

function commands.date(c, args)
  local now = c.w:now()
  local format = args[1]
  if not format or format == "-u" then return dates.iso(now) .. "\n" end
  if format == "+%F" then return dates.day(now) .. "\n" end
  if format == "+%s" then return string.format("%d\n", now) end
  return "", "date: only -u, +%F and +%s are supported\n", 2
end

commands["true"] = function() return "" end
commands["false"] = function() return "", "", 1 end

function commands.whoami(c)
  return c.env.USER .. "\n"
end

function commands.id()
  return "uid=1001(deploy) gid=1001(deploy) groups=1001(deploy),27(operators)\n"
end

function commands.hostname(c)
  return c.w:get("host", "name") .. "\n"
end

function commands.uname(c, args)
  if args[1] == "-a" then return "Linux " .. c.w:get("host", "name") .. " 6.1 x86_64\n" end
  return "Linux\n"
end

function commands.env(c)
  local lines = {}
  for name, value in pairs(c.env) do lines[#lines + 1] = name .. "=" .. value end
  return table.concat(lines, "\n") .. "\n"
end

function commands.uptime(c)
  local host = c.w:get("host")
  local seconds = c.w:now() - host.booted
  local load = 0
  for _, p in ipairs(system.processes(c.w)) do load = load + p.cpu end
  return string.format("up %d days, %d:%02d, load average %d.%02d\n", seconds // 86400,
    seconds // 3600 % 24, seconds // 60 % 60, load // 1000, load // 10 % 100)
end

function commands.df(c)
  local lines = { "filesystem  size-MB  used-MB  use%  mounted" }
  for i, disk in ipairs(c.w:get("host", "disks")) do
    lines[i + 1] = string.format("%-11s %7d  %7d  %3d%%  %s", disk.name, disk.size, disk.used,
      disk.used * 100 // disk.size, disk.mount)
  end
  return table.concat(lines, "\n") .. "\n"
end

function commands.free(c)
  local total, used = c.w:get("host", "memory"), 180
  for _, p in ipairs(system.processes(c.w)) do used = used + p.memory end
  used = math.min(used, total)
  return string.format("memory  total %d MB  used %d MB  free %d MB\n", total, used, total - used)
end

function commands.ps(c)
  local lines = { "  PID USER     %CPU  MEM-MB STARTED              COMMAND" }
  for i, p in ipairs(system.processes(c.w)) do
    lines[i + 1] = string.format("%5d %-8s %2d.%d %7d %s %s", p.pid, p.user, p.cpu // 10,
      p.cpu % 10, p.memory, p.started, p.command)
  end
  return table.concat(lines, "\n") .. "\n"
end

function commands.kill(c, args)
  local signal = "TERM"
  if args[1] and string.sub(args[1], 1, 1) == "-" then
    local wanted = string.sub(table.remove(args, 1), 2)
    local known = { ["1"] = "HUP", ["9"] = "KILL", ["15"] = "TERM", HUP = "HUP", KILL = "KILL",
      TERM = "TERM" }
    signal = known[wanted]
    if not signal then return "", "kill: " .. wanted .. ": unknown signal\n", 2 end
  end
  if #args == 0 then return "", "kill: a process number is missing\n", 2 end
  local problems = {}
  for _, word in ipairs(args) do
    local pid = re.find(word, "^\\d{1,7}$") and tonumber(word)
    if not pid then
      problems[#problems + 1] = "kill: " .. word .. ": not a process number\n"
    elseif pid == 1 then
      problems[#problems + 1] = "kill: 1: Operation not permitted\n"
    elseif not system.process(c.w, pid) then
      problems[#problems + 1] = "kill: " .. word .. ": No such process\n"
    else
      system.signal(c.w, pid, signal, "shell")
    end
  end
  return "", table.concat(problems), #problems > 0 and 1 or 0
end

local function status(w, name)
  local s = w:get("services", name)
  local lines = { name .. " - " .. s.description, "   state: " .. s.state .. " since " .. s.since }
  if s.pid then lines[3] = "     pid: " .. s.pid .. " (" .. s.command .. ")" end
  lines[#lines + 1] = " restart: " .. (s.restart and "always" or "no")
  local log = w:get("logs", name) or {}
  for i = math.max(1, #log - 2), #log do lines[#lines + 1] = files.log_line(log[i]) end
  return table.concat(lines, "\n") .. "\n", "", s.state == "active" and 0 or 3
end

function commands.systemctl(c, args)
  local action, name = args[1], args[2]
  if action == "list-units" or not action then
    local lines = {}
    for i, one in ipairs(c.w:keys("services")) do
      local s = c.w:get("services", one)
      lines[i] = string.format("%-14s %-9s %s", one, s.state, s.description)
    end
    return table.concat(lines, "\n") .. "\n"
  end
  local changes = { start = true, stop = true, restart = true }
  if not changes[action] and action ~= "status" and action ~= "is-active" then
    return "", "systemctl: unknown action " .. action .. "\n", 2
  end
  if not name then return "", "systemctl: a service name is missing\n", 2 end
  name = re.sub(name, "\\.service$", "")
  if not c.w:has("services", name) then
    return "", "systemctl: unit " .. name .. " could not be found\n", 4
  end
  if action == "status" then return status(c.w, name) end
  if action == "is-active" then
    local state = c.w:get("services", name, "state")
    return state .. "\n", "", state == "active" and 0 or 3
  end
  system.control(c.w, name, action)
  return ""
end

function commands.journalctl(c, args)
  local o, rest, problem = options.read("journalctl", args, { u = "text", n = "number" })
  if not o then return "", problem, 2 end
  if not o.u or #rest > 0 then return "", "journalctl: usage: journalctl -u SERVICE [-n N]\n", 2 end
  local name = re.sub(o.u, "\\.service$", "")
  if not c.w:has("logs", name) then return "", "journalctl: no entries for " .. name .. "\n", 1 end
  local log, lines = c.w:get("logs", name), {}
  for i = math.max(1, #log - (o.n or 20) + 1), #log do
    lines[#lines + 1] = files.log_line(log[i])
  end
  return #lines > 0 and table.concat(lines, "\n") .. "\n" or ""
end

-- Moves the lines of one or all logs to a file beside it and begins a new one.
commands["rotate-logs"] = function(c, args)
  local names = #args > 0 and args or c.w:keys("logs")
  local out, err = {}, ""
  for _, name in ipairs(names) do
    if not c.w:has("logs", name) then
      err = err .. "rotate-logs: no log of " .. name .. "\n"
    else
      local path = "/var/log/" .. name .. ".log"
      local old = files.file(c.w, path).text
      local count = c.w:count("logs", name)
      c.w:put("files", path .. ".1", { text = old, owner = "root", mode = "r",
        modified = dates.iso(c.w:now()) })
      c.w:put("logs", name, list({}))
      c.w:sink("shell.files", { op = "write", path = path .. ".1", bytes = #old, content = old })
      out[#out + 1] = string.format("%s: %d lines moved to %s.1", name, count, path)
    end
  end
  return #out > 0 and table.concat(out, "\n") .. "\n" or "", err, err == "" and 0 or 1
end

function commands.sleep(c, args)
  if #args ~= 1 or not re.find(args[1], "^\\d{1,2}$") then
    return "", "sleep: needs a number of seconds below 100\n", 2
  end
  return ""
end

return commands
