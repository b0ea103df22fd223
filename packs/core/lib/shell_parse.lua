-- Command lines of shell-sandbox as data. The language is a small part of the POSIX shell's:
--   words        split at blanks; 'text' as it is, "text" with $NAME, \c one character
--   $NAME ${NAME} $?   replaced, also inside double quotes, and not split again
--   * ?          in unquoted words: names of files, as in a shell
--   ; newline && || |   and > >> in front of a file name; # begins a comment
-- Background jobs, command substitution, variables of one's own, loops and input redirection are
-- refused as syntax errors.
local parse = {}

local STEPS = 30 -- commands in one line

local function syntax(message)
  return nil, "syntax error: " .. message
end

-- The next operator at `i`, or nil.
local function operator(s, i)
  local two = string.sub(s, i, i + 1)
  if two == "&&" or two == "||" or two == ">>" then return two end
  local one = string.sub(s, i, i)
  if one == "\n" then return ";" end
  if one == ";" or one == "|" or one == ">" then return one end
  return nil, one
end

local blank = { [" "] = true, ["\t"] = true, ["\r"] = true, ["\v"] = true, ["\f"] = true }
-- What ends a word that is not quoted.
local ends = { ["\n"] = true, [";"] = true, ["|"] = true, ["&"] = true, ["<"] = true, [">"] = true,
  ["("] = true, [")"] = true }

local function is_name_byte(byte)
  return byte and (byte == 95 or byte >= 48 and byte <= 57 or byte >= 65 and byte <= 90
    or byte >= 97 and byte <= 122)
end

-- A variable behind a dollar at `i`: its name and the place after it.
local function variable(s, i)
  local braced = string.sub(s, i + 1, i + 1) == "{"
  local from = braced and i + 2 or i + 1
  local to = from
  if string.sub(s, from, from) == "?" then
    to = from + 1
  else
    while to - from < 40 and is_name_byte(string.byte(s, to)) do to = to + 1 end
  end
  local name = string.sub(s, from, to - 1)
  if name == "" or braced and string.sub(s, to, to) ~= "}" then return nil end
  return name, braced and to + 1 or to
end

-- The place after the character that begins at `i`.
local function after_character(s, i)
  repeat
    i = i + 1
    local byte = string.byte(s, i)
  until not byte or byte < 128 or byte >= 192
  return i
end

-- A word as pieces { text } or { variable } (both with `quoted`), and the place after it.
local function read_word(s, i)
  local pieces, plain, quote = {}, {}, nil
  local function flush(quoted)
    if #plain > 0 or quoted then
      pieces[#pieces + 1] = { text = table.concat(plain), quoted = quoted }
      plain = {}
    end
  end
  while i <= #s do
    local c = string.sub(s, i, i)
    if quote == "'" then
      if c == "'" then
        flush(true)
        quote = nil
      else
        plain[#plain + 1] = c
      end
      i = i + 1
    elseif c == "`" or string.sub(s, i, i + 1) == "$(" then
      return syntax("command substitution is not supported")
    elseif c == "\\" then
      if i == #s then return syntax("nothing follows the backslash") end
      flush(quote ~= nil)
      local after = after_character(s, i + 1)
      plain[1] = string.sub(s, i + 1, after - 1)
      flush(true)
      i = after
    elseif c == "\"" then
      flush(quote ~= nil)
      quote = not quote and "\"" or nil
      i = i + 1
    elseif c == "$" and variable(s, i) then
      flush(quote ~= nil)
      local name, after = variable(s, i)
      pieces[#pieces + 1] = { variable = name, quoted = quote ~= nil }
      i = after
    elseif quote then
      plain[#plain + 1] = c
      i = i + 1
    elseif c == "'" then
      flush(false)
      quote = "'"
      i = i + 1
    elseif blank[c] or ends[c] then
      break
    else
      plain[#plain + 1] = c
      i = i + 1
    end
  end
  if quote then return syntax("unclosed quote") end
  flush(false)
  return pieces, nil, i
end

-- A line as a list of { joint, words, redirect } where joint is what stands in front (";" for the
-- first), words are lists of pieces and redirect is { operator, word }; or nil and a message.
function parse.line(s)
  local steps, current, i = {}, nil, 1
  local joint, wants_file = ";", nil
  local function close()
    if wants_file then return syntax("a file name is missing after " .. wants_file) end
    if current then
      if #current.words == 0 then return syntax("a command is missing") end
      steps[#steps + 1] = current
      if #steps > STEPS then return syntax("more than " .. STEPS .. " commands") end
      current = nil
    elseif joint ~= ";" then
      return syntax("a command is missing after " .. joint)
    end
    return true
  end
  while i <= #s do
    local op, c = operator(s, i)
    if op == ">" or op == ">>" then
      if wants_file then return syntax("a file name is missing after " .. wants_file) end
      current = current or { joint = joint, words = {} }
      if current.redirect then return syntax("two redirections") end
      wants_file = op
      i = i + #op
    elseif op then
      local had = current ~= nil
      local ok, message = close()
      if not ok then return nil, message end
      if not had and op ~= ";" then return syntax("a command is missing before " .. op) end
      joint = op
      i = i + (string.sub(s, i, i) == "\n" and 1 or #op)
    elseif blank[c] then
      i = i + 1
    elseif c == "#" then
      i = text.find(s, "\n", i) or #s + 1
    elseif c == "&" or c == "<" or c == "(" or c == ")" then
      return syntax("\"" .. c .. "\" is not supported")
    else
      local pieces, message, after = read_word(s, i)
      if not pieces then return nil, message end
      current = current or { joint = joint, words = {} }
      if wants_file then
        current.redirect, wants_file = { operator = wants_file, word = pieces }, nil
      else
        current.words[#current.words + 1] = pieces
      end
      i = after
    end
  end
  local ok, message = close()
  if not ok then return nil, message end
  return steps
end

-- A glob as a pattern for one name, or nil if it has too many stars. Each star but the last takes
-- as little as it can and keeps it, so matching takes linear time.
function parse.glob(s)
  local parts = text.split(re.sub(s, "\\*+", "*"), "*")
  if #parts > 6 or #s > 200 then return nil end
  local out = {}
  for i, part in ipairs(parts) do
    local literal = re.sub(re.sub(part, "[^\\p{L}\\p{N}_?]", "\\%0"), "\\?", "[^/]")
    if i == 1 then
      out[1] = "^" .. literal
    elseif i < #parts then
      out[i] = "(?>[^/]*?" .. literal .. ")"
    else
      out[i] = "[^/]*" .. literal
    end
  end
  return table.concat(out) .. "$"
end

return parse
