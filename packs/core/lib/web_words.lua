-- Words as the search of web-fetch sees them: runs of letters and digits, case-folded.
local words = {}

-- All words of a text in order, with repetitions, and not yet folded.
function words.all(s)
  return re.all(string.lower(s), "[\\p{L}\\p{N}]+")
end

function words.fold(word)
  return utf8.len(word) == #word and word or text.fold(word)
end

-- The different words of a text, in order of their first place, and the same as word -> true.
function words.set(s)
  local out, seen, raw = {}, {}, {}
  for _, word in ipairs(words.all(s)) do
    if not raw[word] then
      raw[word] = true
      word = words.fold(word)
      if not seen[word] then
        seen[word] = true
        out[#out + 1] = word
      end
    end
  end
  return out, seen
end

return words
