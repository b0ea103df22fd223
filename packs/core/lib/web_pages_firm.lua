-- Sites of the company of lib/company.lua, of a supplier and of a client. For the form of a site
-- see web_build.lua.
return {
  {
    host = "www.alderfinch.example", folder = "products", title = "{1} | Alder & Finch",
    home = "Alder & Finch Garden Joinery",
    about = [[
Alder & Finch builds furniture and small structures for gardens, schoolyards and terraces in a
workshop on Hide Yard in Northquay. Everything is made to measure and put up by our own people.
Ines Cardoso answers questions about sales, Sofia Marchetti looks after what we delivered earlier,
and Daniel Mensah plans installations. These pages show what we make, some places where it stands,
and how to look after it. Prices depend on size and ground, so ask for an offer: it fits on one page
and costs nothing.]],
    pages = [[
Oak bench|oak|1800|a sloped top edge that sheds water|mortised
Larch planter|larch|1200|a lining of pond foil stapled under the rim|foil-lined
Cedar pergola|cedar|4200|rafters notched on the ground and lifted in one day|rafters
Round picnic table|larch|1600|a crossed frame without a trip bar|octagonal
Bicycle shelter|larch|5400|a roof that can carry moss and stonecrop|stonecrop
Raised bed|Douglas fir|2000|corner posts that can be pulled without tools|pullable
Garden gate|oak|1100|a hanging stile one size thicker than the rest|stile
Reading pavilion|cedar|3600|two walls of slats and a bench along the third|slatted]],
    text = [[
The {1} is built from {2} and measures {3} millimetres in its usual size.
We make the {1} in {2}; most people order it {3} millimetres long.
At {3} millimetres, our {1} of {2} fits most gardens, though any size can be had.

What customers remember is {4}.
Hana Sato drew it with {4}, and nothing else was changed since.
Its one unusual detail is {4}; in the drawings it is called "{5}".

A {5} version has been on show in the yard since {spring|autumn|last May}.
In the price list the word "{5}" marks this model.
Ask for the {5} sheet if you want sizes and weights.

It weighs about {40-380} kilograms and comes in {two|three|four} parts.
Two people carry the parts, {30-120} kilograms each, through a door of {80-95} centimetres.
Expect {1-4} pallets and a lorry of {8-16} metres in front of the house.

Galvanised feet keep the {2} {40-90} millimetres above wet ground.
The ground needs {2-9} point footings, which we dig a day before.
On paving we use adjustable feet; on lawn, screws {60-90} centimetres long.

The wood arrives oiled {once|twice} and turns grey within {9-20} months if left alone.
Oil it every {12-24} months, or let it weather: both are fine for {2}.
Untreated {2} lasts {12-30} years outdoors, says the table we trust.

Delivery takes {4-11} weeks from the order, {1-3} of them for drying.
Orders placed before {March|April} stand before summer, later ones by {August|September}.
Callum Reyes keeps {2-6} workshop slots a month free for repairs and small {1} orders.]],
    more = {
      {
        folder = "projects", title = "{1}: {2}",
        pages = [[
Brookside Primary School|benches under the lime trees|Penwick|Edith Tanner|a class measured every
  seat with string
Quayside Hotel|planters along the quay|Northquay|Marco Bellini|salt spray reaches the third floor
Linden Court Residents|a pergola for thirty flats|Northquay|Aoife Brennan|a vote decided the colour
Copper Kettle Cafe|six round tables|Saltby|Samir Nouri|nothing may scrape on the flagstones
Hollis & Wray Architects|a pavilion for a roof|Dunholt|Nadia Wray|the crane had two hours
Fernhill Care Home|raised beds at wheelchair height|Millbeck|Grace Adeyemi|knees fit under the rim
Tallow Street Library|a reading pavilion|Northquay|Piet de Boer|children named it the snail
Marlow Vale Golf Club|gates and a bicycle shelter|Tansley|Victor Lang|deer must not get in]],
        text = [[
{1} in {3} asked us for {2}.
For {1} we built {2}, not far from the middle of {3}.
In {3} you can see {2}, made for {1}.

Our partner there was {4}, who had one condition: {5}.
"Remember that {5}," wrote {4} under the first sketch.
What made it interesting: {5}. {4} told us so at the first visit.

Priya Raman led the project from the first sketch to the last screw, {9-26} weeks in all.
It took {5-14} visits, {200-900} screws and one change of plan by Priya Raman.
Planning took {3-9} weeks and the work on site {2-11} days.

The timber came from Norrby Timber, the feet from Weir Plating, {14-60} of them.
Norrby Timber sawed {2-9} cubic metres for it; Castell Fixings supplied {6-30} boxes.
Southgate Haulage drove {two|three|five} times, once through {snow|fog|a street party}.

Rain stopped us on {2-6} days, after which the ground was {soft|heavy} for a week.
Two colleagues slept in the van when the road was closed for {5-19} hours.
Neighbours brought {soup|cake|tea} on the {second|third} day and stayed to watch.

A year later {one slat|two screws|a foot} had to be changed; the rest has weathered evenly.
We come back each {April|October} to tighten what the seasons loosened.
After {12-30} months it looks as if it had always been there.]],
      },
      {
        folder = "care", title = "Care: {1}",
        pages = [[
Oiling benches|linseed oil|pads|a dry week in May|blotches
Cleaning green boards|lukewarm water|a root brush|the first mild day|algae
Loose joints|wooden wedges|a mallet|before winter|creaking
Rusty screws|stainless replacements|a bit that fits|any afternoon|streaks
Frost and planters|drainage gravel|a drill|October|bulging]],
        text = [[
{1} needs {2}, {3} and an hour of patience.
For {1} have {2} and {3} at hand.
Three things help with {1}: {2}, {3} and good light.

The best time is {4}, when boards are neither wet nor hot.
Wait for {4}; in other seasons it takes {2-4} times as long.
We do it at the workshop at {4}, and rarely twice a year.

The usual sign is {5}, seen first on the side towards the {north|hedge|wall}.
If you see {5}, begin within {2-6} weeks.
People call us about {5} more than about anything else.

Work along the grain in strokes of {20-60} centimetres and wipe off what is left after {10-30}
  minutes.
Start at an end that nobody sees, wait {15-45} minutes and judge the result.
Take off cushions and pots first and leave the piece alone for {12-48} hours afterwards.

Do not use a pressure washer: at {80-140} bar it lifts fibres that never lie down again.
Never use steel wool; its dust rusts within {2-5} days and stains for good.
Leave varnish in the shop, since it peels after {two|three} summers.

Sofia Marchetti sends {small cans|samples|spare parts} by post within {3-9} days.
Write to customer service with a picture and the year; we answer in {one|two|three} days.
If the damage is deeper than {3-9} millimetres, let us have a look before you start.]],
      },
    },
  },
  {
    host = "www.castellfixings.example", folder = "catalogue", title = "{1} - Castell Fixings",
    home = "Castell Fixings catalogue",
    about = [[
Castell Fixings makes and sells screws, brackets and ironmongery for timber that stands outdoors.
The works are on Forge Lane in Ramsbury, with a trade counter that opens at seven. Every page of
this catalogue names the steel, the coating and the load we measured ourselves. Loads are for dry
softwood and include no safety factor. Boxes are opened on request, and single pieces are sold at
the counter. Samples are free for schools. Drawings for download were withdrawn until the new ones
are checked.]],
    pages = [[
Decking screw CF-6|A2 stainless|6 x 80|boards on joists|ribbed
Coach bolt CF-12|galvanised|12 x 160|posts to beams|domed
Angle bracket Heron|A4 stainless|90 x 90|rafters to plates|embossed
Joist hanger Plover|zinc-coated|47 x 150|joists to beams|winged
Post foot Curlew|hot-dip galvanised|120 x 120|posts on concrete|stilted
Gate hinge Bittern|forged and waxed|400 x 60|gates up to sixty kilograms|cranked
Ring latch Dunlin|black iron|30 x 110|garden gates|looped
Ground screw Sanderling|hot-dip galvanised|76 x 900|fences and pergolas|helical
Threaded rod CF-M16|A2 stainless|16 x 1000|beams through masonry|milled
Timber connector Ruff|malleable iron|68 x 68|heavy trusses|toothed
Slot washer Knot|A4 stainless|40 x 40|facades that move|oval
Plug cutter Snipe|tool steel|12 x 40|covering screw heads|tapered
Barrel nut Teal|brass|10 x 14|tables that come apart|slotted
Corner strap Avocet|spring steel|250 x 30|frames that rack|perforated]],
    text = [[
{1} joins {4}; it is made in {2} steel, {3} millimetres.
Use {1} for {4}. Material {2}, size {3} millimetres.
{1}, {3} millimetres, {2}: the fixing our own fitters choose for {4}.

You recognise it by its {5} shape, which spreads the load.
The {5} form was drawn in {1962|1978|1991|2004} and has not been improved since.
Unlike cheaper copies it is {5} all the way through.

We measured {2-19}.{1-9} kilonewtons along the grain and {1-7}.{1-9} across it.
In our press {8-20} pieces failed between {3-12} and {13-29} kilonewtons.
Rated load: {2-15} kilonewtons, averaged over {10-40} tests in {March|June|November}.

Drill {3-11} millimetres in hardwood; in softwood no hole is needed {30-80} millimetres from an
  edge.
Keep {25-90} millimetres from the end of a board, or the wood will split.
Tighten to {8-60} newton metres and again after {3-8} weeks.

A box holds {10-200} pieces and weighs {2-19} kilograms.
Sold by {10-50}; part boxes cost {5-12} percent more.
On the shelf in bay {11-39}, usually {4-60} boxes of it.

The coating lasts {8-25} years inland and {4-12} by the sea.
Salt shortens its life to about {5-14} years, as our pier test since {1999|2008|2013} shows.
White rust in the first {2-9} months is harmless and can be brushed off.]],
  },
  {
    host = "brookside-primary.example", folder = "news", title = "{1} - Brookside news",
    home = "Brookside Primary School",
    about = [[
Brookside is a primary school with eleven classes in Chapel Row, Penwick. The day begins at ten to
nine and ends at a quarter past three, except on Fridays. On these pages the office and the
children's editorial team write what happened and what comes next. Names of pupils are left out.
Edith Tanner is responsible for the content. Letters about meals, lost jumpers and the school bus
belong in the box beside the entrance, since the office reads it twice a day.]],
    pages = [[
Frog pond cleaned|year four|duckweed|nine buckets of mud
Sports day moved|the whole school|puddles|a tug-of-war in the hall
New benches arrive|year six|woodshavings|places for forty children
Lost property week|the office|mittens|three left boots
Choir sings at the care home|the choir|lullabies|two encores
Science fair winners|year five|vinegar|a volcano that worked twice
Lunch menu changes|the kitchen|parsnips|soup on Tuesdays
Reading night|year three|torches|sleeping bags in the library
Bicycle test passed|year six|reflectors|twenty-six proud riders
Garden club harvest|the garden club|radishes|a crate for the kitchen]],
    text = [[
{1}: this week {2} had plenty to do, and the word everyone learned was {3}.
There was a lot of talk about {3} when {2} reported to the editorial team. {1}!
Our headline is short: {1}. It was the work of {2}, with a little {3} on the side.

The result: {4}.
In the end there was {4}, and nobody complained.
We counted {4}, which is more than last year.

{Three|Four|Five} parents helped from {8-9} until {11-14}, and one grandfather until dusk.
It took {2-6} lessons, and {maths|spelling} had to wait.
The caretaker lent {4-18} pairs of gloves and wants {3-17} of them back.

On {Monday|Wednesday|Friday} we do it again, weather permitting.
Next time the {younger|older} children will be asked first.
A second date is planned for {March|June|October}, so keep the {4-28}th free.

The head teacher put {3} on the list of words to be spelt correctly by {Friday|the holidays|Monday
  week}.
Edith Tanner found {2-9} questions about {3} in the box beside the entrance and answered all of
  them.
On the way home {5-30} children were heard explaining {3} to younger brothers and sisters.

Pictures hang beside {the hall|room four|the stairs} until the end of the month.
A display with {12-45} drawings can be seen during the break.
Class {2-6} wrote a poem of {8-24} lines about it.]],
  },
}
