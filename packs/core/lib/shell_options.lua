-- Options of commands: "-la", "-n 5", "-n5", "--" ends them.
local options = {}

-- `known`: letter -> true (a switch), "text" or "number" (takes a value). Gives the options and the
-- other arguments, or nil, nil and an error text.
function options.read(command, args, known)
  local out, rest, i = {}, {}, 1
  while i <= #args do
    local a = args[i]
    if a == "--" then
      for j = i + 1, #args do rest[#rest + 1] = args[j] end
      break
    elseif string.sub(a, 1, 1) == "-" and #a > 1 then
      local at = 2
      while at <= #a do
        local letter = string.sub(a, at, at)
        local kind = known[letter]
        if not kind then
          return nil, nil, command .. ": unknown option -- '" .. letter .. "'\n"
        elseif kind == true then
          out[letter] = true
          at = at + 1
        else
          local value = string.sub(a, at + 1)
          if value == "" then
            i = i + 1
            value = args[i]
          end
          if kind == "number" and not re.find(value or "", "^\\d{1,9}$") then
            return nil, nil, command .. ": -" .. letter .. " needs a number\n"
          elseif not value then
            return nil, nil, command .. ": -" .. letter .. " needs a value\n"
          end
          out[letter] = kind == "number" and tonumber(value) or value
          at = #a + 1
        end
      end
    else
      rest[#rest + 1] = a
    end
    i = i + 1
  end
  return out, rest
end

return options
