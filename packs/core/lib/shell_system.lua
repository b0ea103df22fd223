-- Processes, services and logs of shell-sandbox.
local dates = require("lib.dates")

local system = {}

local KEPT = 400 -- lines of a log

-- All processes by number, as { pid, user, command, cpu, memory, started, service? }.
function system.processes(w)
  local out = {}
  for _, key in ipairs(w:keys("processes")) do
    local p = w:get("processes", key)
    p.pid = tonumber(key)
    p.user, p.command = p.user or "root", p.command or "?"
    p.cpu, p.memory = p.cpu or 0, p.memory or 0
    p.started = p.started or w:get("start")
    if p.pid then out[#out + 1] = p end
  end
  table.sort(out, function(a, b) return a.pid < b.pid end)
  return out
end

function system.process(w, pid)
  local key = string.format("%d", pid)
  local p = w:get("processes", key)
  if p then p.pid = pid end
  return p
end

function system.log(w, service, level, message)
  w:append("logs", service, { time = dates.iso(w:now()), level = level, message = message })
  if w:count("logs", service) > KEPT then w:delete("logs", service, 1) end
end

local function start(w, name, service)
  local pid = w:get("next_pid") + 1 + w:random(40)
  w:put("next_pid", pid)
  w:put("processes", tostring(pid), { user = service.user or "deploy", command = service.command,
    cpu = 3, memory = service.memory or 20, started = dates.iso(w:now()), service = name })
  w:put("services", name, "pid", pid)
  w:put("services", name, "state", "active")
  w:put("services", name, "since", dates.iso(w:now()))
  system.log(w, name, "info", "started, process " .. pid)
  return pid
end

local function stop(w, name, service, state)
  if service.pid then w:delete("processes", tostring(service.pid)) end
  w:delete("services", name, "pid")
  w:put("services", name, "state", state)
  w:put("services", name, "since", dates.iso(w:now()))
end

-- start, stop or restart of a service; what was done.
function system.control(w, name, action)
  local service = w:get("services", name)
  if action ~= "start" and service.state == "active" then
    system.log(w, name, "info", "stopped")
    stop(w, name, service, "inactive")
  end
  if action == "restart" or action == "start" and service.state ~= "active" then
    start(w, name, service)
  end
  w:sink("shell.services", { service = name, action = action })
end

-- Sends a signal to a process that is there and may be ended. Returns what came of it: "ended",
-- "restarted" or "reloaded".
function system.signal(w, pid, name, by)
  local p = system.process(w, pid)
  local service = p.service and w:get("services", p.service)
  w:sink("shell.signals", { pid = pid, signal = name, command = p.command, service = p.service,
    by = by })
  if name == "HUP" then
    if service then system.log(w, p.service, "info", "configuration read again") end
    return "reloaded"
  end
  w:delete("processes", tostring(pid))
  if not service then return "ended" end
  system.log(w, p.service, name == "KILL" and "error" or "warning",
    "process " .. pid .. " ended by signal " .. name)
  stop(w, p.service, service, name == "KILL" and "failed" or "inactive")
  if service.restart then
    start(w, p.service, service)
    return "restarted"
  end
  return "ended"
end

return system
