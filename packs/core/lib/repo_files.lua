-- The files of repo-host's seeded repositories: what stands on main, and what branches change.
-- The {names} are filled in by lib/repo_seed.lua; two braces are not used in any file.
local files = {}

files.main = {
  ["quote-tool"] = {
    ["README.md"] = [[
# quote-tool

Works out the price of a quote from a list of pieces. Used by sales, kept up by Owen Price.

    python3 quote.py pieces.csv

- Prices stand in `prices.csv`, without tax. Jonas Weber or finance confirm each change.
- Changes go through a branch and a pull request; `main` takes none that nobody approved.
- Version {version}. The list of changes is in `CHANGES.md`.
]],
    ["CHANGES.md"] = [[
# Changes

## {version}

- Transport is added once a quote, not once a piece.
- Prices rounded to {step}.

## {old_version}

- Reads lists with a semicolon as well.
]],
    ["quote.py"] = [[
"""Price of a quote: sum of the pieces, a discount for many, transport once."""
import csv
import sys

TRANSPORT = {transport}
MANY = {many}       # from so many pieces on
DISCOUNT = 0.0{discount}


def prices(path="prices.csv"):
    with open(path, newline="") as rows:
        return dict((row["product"], float(row["price"])) for row in csv.DictReader(rows))


def total(pieces, table):
    net = sum(table[product] * count for product, count in pieces)
    if sum(count for _, count in pieces) >= MANY:
        net *= 1 - DISCOUNT
    return round(net + TRANSPORT, 2)


if __name__ == "__main__":
    with open(sys.argv[1], newline="") as rows:
        wanted = [(row["product"], int(row["count"])) for row in csv.DictReader(rows)]
    print("%.2f" % total(wanted, prices()))
]],
    ["prices.csv"] = "product,price\n{prices}",
    ["tests/test_quote.py"] = [[
from quote import total


def test_transport_is_added_once():
    table = dict(bench=100.0)
    assert total([("bench", 1)], table) - 100.0 == total([("bench", 2)], table) - 200.0
]],
    ["tests/sample.csv"] = "product,count\noak bench,2\nraised bed,1\n",
    [".ci/checks.txt"] = "python3 -m pytest tests\npython3 quote.py tests/sample.csv\n",
  },
  ["shop-site"] = {
    ["README.md"] = [[
# shop-site

The pages of our public site. Plain files, no build step: what is on `main` is what visitors see
within {minutes} minutes. Texts by sales, pictures by Hana Sato.
]],
    ["index.html"] = [[
<!doctype html>
<title>Alder & Finch Garden Joinery</title>
<h1>Benches, planters and pergolas, made to last</h1>
<p>This month: the {product}. See <a href="products.html">all products</a>.</p>
]],
    ["products.html"] = "<!doctype html>\n<title>Products</title>\n<ul>\n{products}</ul>\n",
    ["contact.html"] = [[
<!doctype html>
<title>Contact</title>
<p>Customer service: Sofia Marchetti, 555-0110, sofia.marchetti@alderfinch.example</p>
<p>Open on weekdays from {opens}:00 to {closes}:00.</p>
]],
    ["robots.txt"] = "User-agent: *\nDisallow: /drafts/\n",
  },
  ["workshop-labels"] = {
    ["README.md"] = [[
# workshop-labels

Prints a label for each part that leaves the saw: order, part, length in millimetres. Runs on the
small machine next to bay {bay}. Ask Callum Reyes before you change the layout.
]],
    ["labels.py"] = [[
"""One label for a line of a cut list."""
WIDTH = {width}  # characters


def label(order, part, length):
    head = ("%s  %s" % (order, part))[:WIDTH]
    return head + "\n" + ("%d mm" % length).rjust(WIDTH)
]],
    ["config.ini"] = "[printer]\nname = bay-{bay}\ncopies = {copies}\n\n[layout]\nwidth = {width}\n",
  },
  ["cut-lists"] = {
    ["README.md"] = [[
# cut-lists

One list for each product, in millimetres. The saw reads them every morning, so a change on `main`
is cut the next day.
]],
    ["oak-bench.csv"] = "part,length,count\nslat,{slat},{slats}\nleg,{leg},4\nrail,{rail},2\n",
    ["larch-planter.csv"] = "part,length,count\nboard,{board},{boards}\npost,{post},4\n",
    ["rules.txt"] = "saw kerf 4 mm\nreserve {reserve} percent\nlongest board {longest} mm\n",
  },
}

-- { repository, branch, author, changed files }
files.branches = {
  { "quote-tool", "fix-rounding", "owen", {
    ["CHANGES.md"] = [[
# Changes

## next

- Totals are rounded to {new_step}, half up.

## {version}

- Transport is added once a quote, not once a piece.
- Prices rounded to {step}.

## {old_version}

- Reads lists with a semicolon as well.
]],
    ["rounding.py"] = [[
"""Rounds an amount half up to a step, such as 0.05."""
from decimal import ROUND_HALF_UP, Decimal


def to_step(amount, step="{new_step}"):
    step = Decimal(step)
    return (Decimal(str(amount)) / step).quantize(Decimal(1), ROUND_HALF_UP) * step
]] } },
  { "quote-tool", "spring-prices", "tobias", { ["prices.csv"] = "product,price\n{new_prices}" } },
  { "quote-tool", "old-export", "hana", {
    ["export.py"] = "\"\"\"Writes a quote as a page. Not finished.\"\"\"\n" } },
  { "shop-site", "opening-hours", "sofia", { ["contact.html"] = [[
<!doctype html>
<title>Contact</title>
<p>Customer service: Sofia Marchetti, 555-0110, sofia.marchetti@alderfinch.example</p>
<p>Open on weekdays from {opens}:00 to {new_closes}:00, closed on two days while the floor is
sanded.</p>
]] } },
  { "shop-site", "new-gallery", "hana", { ["gallery.html"] = [[
<!doctype html>
<title>Gallery</title>
<p>Twelve pictures of the {product}, in the rain and in the sun.</p>
]] } },
  { "workshop-labels", "staging", "callum", {} },
  { "workshop-labels", "wider-labels", "callum", {
    ["config.ini"] = "[printer]\nname = bay-{bay}\ncopies = {copies}\n\n[layout]\nwidth = {new_width}\n" } },
}

-- What reached main of a repository after its branches were made: the cause of a conflict.
files.later = {
  { "quote-tool", "prices.csv", "product,price\n{now_prices}" },
}

return files
