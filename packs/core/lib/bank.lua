-- Bank accounts of the companies in lib/company.lua: the same in every world and on every server.
-- Sort codes that begin with 00 are given to no bank.
local bank = {}

bank.currency = "EUR"

bank.own = { operating = "00-31-07 20558114", reserve = "00-31-07 20558190" }

bank.accounts = {
  ["Norrby Timber"] = "00-14-25 40318852",
  ["Castell Fixings"] = "00-14-62 71190436",
  ["Beeswax Finishes"] = "00-22-09 15524470",
  ["Southgate Haulage"] = "00-22-31 88046125",
  ["Ironbark Tools"] = "00-40-18 30927741",
  ["Weir Plating"] = "00-40-77 62013398",
  ["Brookside Primary School"] = "00-52-13 11874026",
  ["Quayside Hotel"] = "00-52-40 90361575",
  ["Linden Court Residents"] = "00-58-02 47720918",
  ["Copper Kettle Cafe"] = "00-58-66 23459081",
  ["Hollis & Wray Architects"] = "00-63-11 70558832",
  ["Fernhill Care Home"] = "00-63-29 38102467",
  ["Tallow Street Library"] = "00-71-04 55617309",
  ["Marlow Vale Golf Club"] = "00-71-85 82240513",
  ["Harbour Energy"] = "00-80-12 64001277",
  ["Lindgate Insurance"] = "00-80-39 19883450",
  ["Regional Tax Office"] = "00-90-01 10000042",
}

-- 123456 cents as 1234.56, a number.
function bank.amount(cents)
  return cents / 100
end

-- An amount as whole cents, or nil if it has more than two decimal places.
function bank.cents(amount)
  local cents = math.floor(amount * 100 + 0.5)
  if math.abs(amount * 100 - cents) > 0.0001 then return nil end
  return cents
end

-- 123456 cents as "1234.56".
function bank.plain(cents)
  return string.format("%s%d.%02d", cents < 0 and "-" or "", math.abs(cents) // 100,
    math.abs(cents) % 100)
end

return bank
