-- English sites of the seeded web, first part. For the form of a site see web_build.lua.
return {
  {
    host = "trailmarks.example", folder = "routes", title = "{1}: a walk from {4}",
    home = "Trailmarks",
    about = [[
Trailmarks is a notebook of day walks, kept by a handful of volunteers who repeat every route at
least once a year. Each page gives the length, the starting point and the one place where people
tend to go wrong. We do not rate walks by difficulty, because weather changes that more than
distance does. If a stile is broken or a sign has gone missing, send a short note with the date
and we will correct the page. Maps are not printed here; carry a paper one, as reception is poor
in most valleys.]],
    pages = [[
Skarrow Ridge|a slate ridge with a long view over the reservoir|11|Penwick|a leaning cairn
Ottermere Loop|a lakeside circuit on firm gravel|7|Dunholt|a boathouse with green doors
Thistlegate Moor|open moor with shallow peat cuttings|14|Carrock|a wooden shepherd hut
Brindle Edge|a gritstone escarpment above birch woods|9|Hathersby|a split boulder
Cawdry Steps|four hundred stone steps beside a stream|5|Millbeck|a drinking trough
Fennimoor Causeway|a raised path across wet meadows|8|Saltby|a row of pollard willows
Gallowmere Fell|a broad grassy fell with two false summits|13|Ulverside|an iron boundary post
Harrowick Woods|mixed woodland with charcoal platforms|6|Tansley|a hollow chestnut
Inkpen Hollow|a sunken lane between hazel banks|4|Ramsbury|a chalk-faced barn
Jackdaw Crags|limestone terraces above the river|10|Stainforth|a rope-worn gatepost
Kestwick Tarn|a steady climb to a small dark tarn|12|Borrowgate|a tumbled sheepfold
Larkspire Hill|a rounded hill with a beacon on top|7|Wendle|a bench without a back
Merrowdale Valley|a level valley with stepping stones|9|Askerton|a tin chapel
Nettlecombe Ring|a ring of bridleways around a manor|11|Elworthy|an ivy-covered lodge
Osmundley Bank|a steep bank of cowslips and scree|6|Blandford Cross|a lime kiln
Pellworth Cliffs|a clifftop path with sea on one side|10|Porthallow|a coastguard ladder
Quarrel Head|a narrow headland cut by an old ditch|8|Trewint|a granite way marker
Rushford Levels|flat drove roads between reedy channels|15|Muchelney End|a brick pumping house]],
    text = [[
{1} is {2}, and most people walk it from {4}.
From {4} the path to {1} crosses {2}.
This route starts at {4} and explores {1}, {2}.

The full round is {3} kilometres and takes about {2-5} hours at an easy pace.
Allow half a day for the {3} kilometres, with {10-40} minutes for a rest at the top.

Leave the {square|car park|bus stop} by the lane signed for the {church|mill|quarry}, then keep
  the {wall|hedge|stream} on your {left|right}.
Follow the {lane|track} uphill for {300-900} metres until the surface turns to grass.

The usual mistake comes at {5}: bear {left|right} there, not straight on.
Look out for {5}, because the {signpost|arrow} beside it points the wrong way since last
  {winter|autumn}.

Ground is {boggy|soft|slippery} after rain and dries within {2-6} days.
Dogs need a lead between {March|April} and {July|August} because of ground-nesting birds.

The last bus back leaves at {15-19}:{10-55}, and there is no Sunday service.
Tea is served at the {mill|post office|village hall} on {Saturdays|Wednesdays} only.

Checked on foot in {May|June|September|October} by {two|three|four} of our volunteers.
Our volunteers last repeated this page in {April|August|November}, in {fog|sun|drizzle}.]],
  },
  {
    host = "www.northquay.example", folder = "services", title = "{1} | Northquay Town Council",
    home = "Northquay Town Council",
    about = [[
Northquay is a harbour town with a market on Thursdays and a council office on Customs Street.
These pages describe what the council does, whom to ask and how long an answer takes. Fees are
decided once a year in open session and are published before they apply. If you cannot use the
online forms, come to the front desk, where a colleague will fill them in with you. Notices that
change every week have a page of their own, so that this one can stay short.]],
    pages = [[
Harbour ferry|the ticket kiosk on Pier Two|foot passengers and bicycles|a resident card
Bulky waste collection|the depot behind the fish hall|sofas, mattresses and doors|a photo of the
  items
Central library|the old customs house|books, maps and sewing machines|proof of address
Allotment gardens|the parks office|plots from fifty square metres|a countersigned plot agreement
Dog licences|the front desk|dogs older than three months|the chip number
Street market pitches|the market warden|stalls up to four metres|liability insurance
Swimming pool hire|the leisure desk|clubs and school groups|the name of a lifeguard
Parking permits|the traffic office|households without a driveway|the vehicle papers
Wedding room bookings|the registrar|ceremonies with up to sixty guests|both birth certificates
Tree preservation|the parks ranger|trees wider than forty centimetres|a sketch of the garden
Flood warnings|the harbour master|cellars below the quay line|a mobile number
Composting courses|the recycling team|beginners and balcony gardeners|nothing but sturdy shoes
Youth workshop|the boat shed on Anchor Lane|young people from twelve to eighteen|a parent's
  signature
Noise complaints|the wardens' room|building sites and late music|a diary of three days
Archive visits|the archivist in the bell tower|ship lists and court rolls|a reader's ticket
Snow clearing|the road crew|pavements in front of corner houses|the plot number
Chimney inspections|the district sweep|stoves and open fireplaces|last year's certificate
Beach cleaning days|the coast volunteers|families and visiting groups|gloves and a bucket]],
    text = [[
{1} is looked after by {2}.
For {1}, please turn to {2}.

The service is meant for {3}, and requests from elsewhere are passed on.
It covers {3}; anything larger needs a decision of the committee.

Bring {4}, since we cannot start without it.
You will be asked for {4} when you apply.

A request costs {8-45} crowns and is answered within {3-21} working days.
There is a fee of {5-60} crowns, waived for {pensioners|students|registered carers}.

Opening hours are {Monday|Tuesday|Wednesday} to {Thursday|Friday} from {8-10} until {15-18}.
You can call between {9-11} and {13-16} on weekdays, extension {200-899}.

In the past year we handled {120-980} requests, slightly {more|fewer} than the year before.
Demand is highest in {spring|summer|early autumn}, so apply a month ahead.

If you disagree with a decision, write to the review panel within {14-40} days.
Complaints are read by a person who was not part of the first decision.

This page was reviewed by the council office and is valid until further notice.
Forms can be collected at the desk or sent by post in large print.]],
  },
  {
    host = "docs.fieldkit.example", folder = "commands", title = "fieldkit {1} - command reference",
    home = "Fieldkit documentation",
    about = [[
Fieldkit collects readings from hand-held survey instruments and keeps them in plain files. This
reference has one page for each command, with its options and the exit codes that scripts rely on.
Commands never change a file in place: they write a new one beside it and rename it at the end.
Options may stand before or after file names. Where two options contradict each other, the command
stops and says so. Examples use a folder called survey, which you can create with any editor.]],
    pages = [[
calibrate|corrects readings with a reference table|--reference FILE|drift
export|writes readings as comma-separated text|--columns LIST|encoding
merge|joins two surveys that overlap in time|--prefer SIDE|precedence
prune|drops readings older than a given age|--older DAYS|retention
sync|copies new readings from an instrument|--port NAME|handshake
snapshot|freezes a survey under a name|--label TEXT|hardlink
restore|brings a frozen survey back|--from LABEL|rollback
annotate|adds remarks to single readings|--note TEXT|footnote
compare|shows how two surveys differ|--context LINES|unified
watch|prints readings as they arrive|--every SECONDS|polling
ingest|reads files of foreign instruments|--format NAME|delimiter
verify|checks sums and timestamps|--strict|checksum
archive|packs finished surveys into one file|--level NUMBER|compression
tag|groups readings under a keyword|--remove|taxonomy
locate|finds readings near a point|--radius METRES|geofence
profile|measures where a command spends time|--repeat NUMBER|flamegraph
replay|plays a recorded session again|--speed FACTOR|playback
doctor|examines the installation itself|--fix|diagnosis]],
    text = [[
The command fieldkit {1} {2}.
What fieldkit {1} does is told in one line: it {2}.
Use fieldkit {1} when you need a step that {2}.

Whoever types {3} narrows down what {1} works on.
Its most used option is {3}, which may be given more than once.
With {3} the behaviour can be narrowed; without it, defaults of the survey apply.

A typical call processes {200-900} readings in under {2-9} seconds on a small laptop.
On {400-990} readings the {1} step was timed at {2-9} seconds, most of them spent waiting.
Memory stays below {20-90} megabytes, because input is read line by line.

The exit code is 0 on success, {2-5} for bad input and {10-30} when a device is missing.
Scripts should test for exit code {2-5}, which means that the input was not understood.

See the glossary entry on {4} for the idea behind it.
The design notes explain {4} in more depth, with drawings.

Redirect what {1} prints if you want to keep it for longer than a session.
Output goes to the terminal unless --output names a file, which must not exist yet.
Nothing is printed with --quiet, apart from errors.

Since release {2-4}.{1-9} the order of output lines is stable.
Before release {2-4}.{1-9} this page described a prototype under another name.

Of {30-90} surveys in our test folder, {1} changed {2-29} and refused none.
Readings without a timestamp are skipped and counted in the last line.
If a reading carries two units, the first is used and a warning is shown.]],
  },
  {
    host = "harbourpost.example", folder = "stories", title = "{1}",
    home = "The Harbour Post",
    about = [[
The Harbour Post appears online from Monday to Saturday and on paper every second Friday. We
report on the coast between Northquay and the lighthouse, and we correct mistakes at the top of
the story rather than at the end. Readers write a third of our pages. Advertising is marked by a
grey border and is never placed inside a text. The newsroom has four desks, one kettle and a
telephone that still rings. Letters should be signed and shorter than two hundred words.]],
    pages = [[
Bakery on Tar Lane reopens after flood|Yvonne Pascoe|Tar Lane|sourdough starter saved in a bucket
Volunteers repaint the pilot cutter|Gethin Rowe|the east slipway|forty litres of oxide primer
School choir wins valley contest|Amina Talbot|Carrick Hall|a madrigal sung without music stands
Bridge closes for nine nights|Desmond Okoro|the swing bridge|worn bearings in the turntable
Beekeepers move hives to the rooftops|Lotte Vanstone|the corn exchange|linden honey in July
Old tram shelter becomes a bookshop|Fergus Illingworth|Station Parade|shelves from ship planks
Night fishers report more mackerel|Tamsin Greel|the outer mole|lanterns dimmed by agreement
Clock tower to strike again|Barnaby Quill|Market Cross|a pendulum cast in Leeds
Chess club marks its centenary|Irina Sokolow|the reading room|a tournament of forty boards
Council tests gravel gardens|Roland Achebe|Mission Street|drought-proof sedum beds
Ferry crew rescues paddleboarder|Sunniva Dahl|the north buoy|a throw line and blankets
Tannery chimney listed as monument|Clement Varley|Hide Yard|herringbone brickwork
Farm shop introduces refill shelf|Odette Marsh|Cuckoo Farm|lentils by the scoop
Harbour railway volunteers seek drivers|Wilfred Stannard|the goods shed|a diesel shunter named
  Hazel
Museum shows forgotten knitting patterns|Bronagh Keel|the net loft|ganseys from eleven parishes
Youth orchestra tours the islands|Mateus Ferrao|Skerry Sound|a cello carried by dinghy
Lifeboat station opens its doors|Ingrid Hallam|the boathouse ramp|a winch from the fifties
Allotment grower breaks marrow record|Percy Thwaite|Gasworks Field|forty-one kilos of marrow]],
    text = [[
{1}, as {2} told this newspaper on {Monday|Tuesday|Thursday} at {3}.
At {3} the talk is of one thing: {1}.

The detail everyone mentions is {4}.
Visitors will notice {4} before anything else.

"We planned for {3-9} weeks and needed {10-30}," said {2}, laughing.
According to {2}, the idea came up during a {wet|windy|quiet} evening last {winter|spring}.

About {20-180} people came on the first day, and {some|most|many} stayed until dusk.
The organisers counted {30-240} visitors, among them a {school class|walking club|brass band}.

Costs are put at {2-38} thousand crowns, of which a third came from donations.
No public money was used, apart from a loan of {tools|tents|barriers} by the council.

Not everybody is pleased: neighbours fear {noise|traffic|litter} in the {evening|early morning}.
A petition with {40-300} names asked for {later hours|better lighting|more benches}.

The next meeting is open to all and takes place {on Friday|next Wednesday|in two weeks}.
Those who want to help can leave a message at the {kiosk|library desk|harbour office}.

An earlier version of this story gave a wrong {date|age|street}; we have corrected it.
Reporting by the local desk, pictures by a reader.]],
  },
}
