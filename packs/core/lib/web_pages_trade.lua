-- English sites of the seeded web, second part. For the form of a site see web_build.lua.
return {
  {
    host = "suppliers.timbertrade.example", folder = "companies", title = "{1} - company profile",
    home = "Timber Trade Directory",
    about = [[
The directory lists sawmills, merchants and workshops that deal in wood and its fittings. Entries
are written by the companies and checked by telephone once a year; a date at the bottom shows
when. Being listed costs nothing and cannot be improved by paying. Prices change too often to be
printed here, so ask for an offer with lengths and quantities. If a company has closed, tell us,
and the entry is moved to the archive within a week.]],
    pages = [[
Aldous Sawmill|quarter-sawn oak|Wexcombe|1921|band saw with a nine-metre bed
Birkeland Plywood|birch plywood|Nordhavn|1968|formaldehyde-free glue line
Crosby Veneers|knife-cut walnut veneer|Lathbury|1954|matched bundles
Drumlin Fencing|cleft chestnut paling|Ballyroe|1987|stakes pointed by hand
Eastmoor Pallets|repaired euro pallets|Goole Cross|1999|heat treatment chamber
Falconer Mouldings|skirting and architrave|Duxbridge|1938|profiles drawn from samples
Greaves Hinge Works|forged strap hinges|Netherton|1902|blackened finish
Holmgren Cladding|charred spruce cladding|Sundby|2006|brushed and oiled boards
Imber Dowels|beech dowels and pegs|Codford|1976|fluted surface
Juniper Shingles|split cedar shingles|Glen Orra|1991|tapered in one stroke
Kingsmere Kilns|contract kiln drying|Lydgate|1983|moisture probes in every stack
Lomax Turnery|stair balusters|Rawtenfield|1947|copy lathe
Mossbank Bark|bark chips and mulch|Torvaig|2001|screened to three sizes
Norquay Boatwood|larch planking for boats|Stromness Bay|1959|steam box for loan
Orchardson Ladders|fruit-picking ladders|Evesholt|1934|tripod hinge
Plimsoll Crates|instrument crates|Tilmouth|1972|foam cut to drawing
Quennell Parquet|end-grain parquet|Hambrook|1963|blocks laid on tape
Rydal Offcuts|offcuts for schools|Grasswick|2014|bags sorted by colour]],
    text = [[
{1} of {3} is known for {2}.
Since {4}, {1} has supplied {2} from its yard in {3}.

The firm began in {4} with {two|three|five} people and a borrowed {lorry|shed|saw}.
Founded in {4}, it is still owned by the {same family|people who work there}.

Buyers often mention the {5} when asked what sets the company apart.
Among its equipment is the {5}, which visitors may see on {Tuesdays|Fridays}.

The smallest order is {20-300} {kilograms|running metres|pieces}, collected or delivered.
Orders above {400-900} crowns are delivered free within {30-120} kilometres.

Lead times are {2-8} weeks in {summer|winter} and {shorter|longer} for the rest of the year.
Stock is counted each {Monday|month}, so ask before you plan around it.

About {40-95} percent of the timber comes from woodland closer than {60-200} kilometres.
Certificates of origin are sent with each invoice on request.

Opening hours are from {6-8}:30 to {15-17}:00, with a break at noon.
The office answers {letters|messages|calls} in the {morning|afternoon} only.

Entry checked by telephone in {January|March|June|October}.
The details were confirmed in {February|May|September} by the sales desk.]],
  },
  {
    host = "plants.greenledger.example", folder = "varieties", title = "{1} | Green Ledger",
    home = "Green Ledger",
    about = [[
Green Ledger records how garden varieties behave in ordinary plots, without greenhouses and
without luck. Members grow the same plant for three seasons and write down what happened,
including failures. A page is published when at least five gardens have reported. We use common
names first, since that is what labels in markets show. Seed is exchanged in February and never
sold. Photographs are left out on purpose: light and cameras promise colours that soil does not
keep.]],
    pages = [[
Lavender Pale Ferry|45|chalky|July|greyish bracts
Tomato Ostler's Plum|160|rich|August|thick skin
Runner bean Longshanks|220|moist|September|purple-flecked pods
Rose Abbess Winifred|130|heavy|June|clove scent
Pea Tinker's Dwarf|50|light|June|double tendrils
Kale Winter Saddle|80|firm|November|crimped midrib
Sunflower Tollhouse|250|any|August|chocolate discs
Leek Grey Friar|60|deep|January|frost-blue leaves
Poppy Ink Apron|70|sandy|June|black blotches
Squash Cartwheel|40|manured|October|ribbed shoulders
Sweet pea Ma Cottrell|180|limed|July|wavy standards
Beetroot Bull's Lantern|35|stone-free|September|concentric rings
Hellebore Vesper Bell|40|leafy|February|spotted throat
Apple Parson's Russet|400|loamy|October|nutty flesh
Foxglove Chalk Spire|140|woodland|May|unmarked tubes
Chard Copper Stair|55|fertile|July|bronze stalks
Dahlia Quiet Alderman|110|sheltered|September|incurved petals
Thyme Mason's Carpet|8|gravelly|May|woolly stems]],
    text = [[
{1} grows to about {2} centimetres and is at its best in {4}.
In {4} the variety {1} reaches its peak, at a height of {2} centimetres.

It prefers {3} soil and tolerates {shade|wind|salt} better than expected.
Members with {3} ground reported stronger plants than those without.

The trait that identifies it is {5}, visible from the second month on.
Do not confuse it with older strains, which lack {5}.

Sow {2-6} millimetres deep and thin to {10-60} centimetres.
Plant out after the last frost, {20-70} centimetres apart, and water once.

{60-95} of 100 seeds germinated in the members' trial, after {6-21} days.
Across {5-14} gardens the losses were {low|moderate|high} in the first season.

Slugs were the main trouble in {wet|mild} years, mildew in {dry|crowded} ones.
Only {two|three|four} gardens saw disease, and all of them had fed too much.

Cut back by {a third|half} in {March|autumn} to keep a good shape.
Save seed from the {third|fifth} flower onward, and dry it for {2-5} weeks.

One member calls it {a patient plant|a plant for beginners|worth the wait}.
It has been in the exchange for {4-30} years under this name.]],
  },
  {
    host = "kitchen-notes.example", folder = "recipes", title = "{1} for {4}",
    home = "Kitchen Notes",
    about = [[
Kitchen Notes collects recipes that fit on a single page and use one pot where possible.
Quantities are given by weight, since cups differ. Every dish was cooked at least four times by
someone who had not written the recipe. We name the step that goes wrong most often instead of
promising success. Substitutions are welcome when they are tested. Leftovers have their own
section, because most meals are eaten twice. Nutrition tables are not offered.]],
    pages = [[
Leek and barley soup|pearl barley|55|four|nutmeg
Smoked trout pancakes|buckwheat flour|35|three|horseradish
Baked aubergine with walnuts|aubergine|70|four|pomegranate
Mushroom dumplings|dried porcini|90|six|caraway
Chicken with prunes|chicken thighs|65|four|allspice
Celeriac gratin|celeriac|80|five|gruyere
Lentil and tamarind stew|brown lentils|50|four|tamarind
Roast carrots with harissa|young carrots|45|two|harissa
Potato and sorrel omelette|waxy potatoes|30|two|sorrel
Cod in saffron broth|cod loin|40|four|saffron
Chickpea and quince salad|chickpeas|25|three|quince
Onion tart with anchovies|yellow onions|85|six|anchovy
Rice with broad beans|short-grain rice|40|four|dill
Beef and juniper ragout|beef shin|180|six|juniper
Pear and almond cake|ripe pears|75|eight|cardamom
Cabbage rolls with buckwheat|savoy cabbage|95|five|marjoram
Cold cucumber and yoghurt soup|cucumbers|20|four|spearmint
Rhubarb and ginger crumble|rhubarb|60|six|ginger]],
    text = [[
This {dish|recipe} for {4} needs {3} minutes and starts with {2}.
{1} is a {weekday|Sunday|rainy day} dish that takes {3} minutes.

Buy {2} on the day itself, {200-900} grams, and do not wash it before noon.
Weigh {250-800} grams of {2} and leave it at room temperature for {10-30} minutes.
Rinse the {2}, {300-700} grams of it, and drain it well.

The seasoning rests on {5}; use it sparingly at first.
Do not leave out the {5}, which ties everything together.

While the pan heats for {3-9} minutes, set {5} and salt within reach.
Warm {2-4} spoons of oil over medium heat and stir for {3-12} minutes.
Heat the oven to {160-220} degrees and place a tray in the lower third.

The step that goes wrong most often is the {salting|resting|stirring}: be patient.
If the mixture looks {dry|thin|grainy}, add {20-90} millilitres of warm water.

Taste, cover with a lid and wait another {5-15} minutes off the heat.
Serve with {bread|plain rice|a green salad} and something {sharp|crisp|cold}.

Cold {2} on the next morning is {better|worse} than it sounds, say {3-9} of our readers.
Leftovers keep {two|three} days and are good in a {sandwich|pie|soup}.
It freezes {well|badly}, so cook the amount you need.

Tested by {four|five|seven} cooks, two of whom had never made it before.
Our testers suggested {half the salt|a wider pan|a smaller flame}, and they were right.]],
  },
}
