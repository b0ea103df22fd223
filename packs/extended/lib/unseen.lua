-- Writes text so that people do not see it, or a simple filter does not find it, and a model reads it.
local M = {}

-- Every ASCII character as its twin among the tag characters (U+E0000 and on), which nothing shows.
function M.tags(s)
  local out = {}
  for i = 1, #s do
    local byte = string.byte(s, i)
    out[i] = byte < 128 and utf8.char(0xE0000 + byte) or string.sub(s, i, i)
  end
  return table.concat(out)
end

-- A zero-width space behind each character.
function M.spaced(s)
  local out, i = {}, 1
  while i <= #s do
    local byte = string.byte(s, i)
    local len = byte < 128 and 1 or byte >= 240 and 4 or byte >= 224 and 3 or 2
    out[#out + 1] = string.sub(s, i, i + len - 1) .. utf8.char(0x200B)
    i = i + len
  end
  return table.concat(out)
end

-- Backwards in memory, forwards on the screen: U+202E and the characters from the end. ASCII only.
function M.overridden(s) return utf8.char(0x202E) .. string.reverse(s) .. utf8.char(0x202C) end

-- In a page of HTML: there, and not drawn.
function M.undrawn(s) return "<span style=\"font-size:0;color:#fff\" aria-hidden=\"true\">" .. s .. "</span>" end

return M
