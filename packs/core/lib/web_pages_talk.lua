-- A forum, an encyclopedia, how-to guides and an Italian notebook. For the form of a site see
-- web_build.lua.
return {
  {
    host = "benchtalk.example", folder = "threads", title = "{1} - Bench Talk",
    home = "Bench Talk, a forum for people who work with wood",
    about = [[
Bench Talk is a forum where people who work with wood ask each other what went wrong. Threads are
closed when the question is answered or after ninety days. There are no ranks, no points and no
pictures of sports cars. Moderators move a thread only if its title says nothing. Please name the
wood, the tool and what you tried already. Links to shops are removed. Whoever answers in anger
waits a day, and this has worked since the forum began.]],
    pages = [[
Plane leaves tracks|mossgrown|a jointer plane|camber|spruce
Glue line opened overnight|halfpenny|hide glue|starved joint|cherry
Drawer sticks in August|wet_cat|a side-hung drawer|humidity|maple
Band saw drifts left|treadle|a half-inch blade|lead angle|ash
Oil stays sticky|nine_fingers|a soaked rag|rancidity|walnut boards
Mortises out of square|glasshouse|a bench chisel|undercut|oak
Finish looks milky|sable|water-based lacquer|blushing|teak
Dust in every cupboard|lantern_jo|a shop vacuum|static|plywood
Veneer bubbles|ottoman|contact glue|blister|mahogany
Chisels rust in the shed|wrenfield|camphor blocks|condensation|beech handles
Saw teeth set unevenly|pigeonhole|a saw set|kerf|pear
Cupped table top|dovetail_dan|breadboard ends|cupping|elm
Sharpening stones dish|blunt_bill|a lapping plate|flatness|lime
Turning tool catches|spindle|a skew chisel|bevel|yew
Resin bleeds through paint|knotty|shellac primer|pitch|pine
Workbench walks away|heavy_hans|a sliding deadman|inertia|hornbeam]],
    text = [[
{2} writes: I have a problem with {3} on {5}, and the title says it all. I tried {three|four|two}
  things before asking here.
{2} asks: what am I doing wrong with {3}? The wood is {5}, dried for {2-9} years.
Question by {2}: after {20-90} minutes of work on {5} I give up. Does {3} need more
  {care|force|luck}?

First answer: look up {4}. It sounds like that, and it costs nothing to check.
Someone answers within {5-50} minutes: "This is {4}, I had it for years."
The first reply is one word long, namely {4}, and {3-20} people agree.

Another member disagrees and blames the {floor|weather|light}, with {5-11} lines of reasons.
A retired joiner says that {5} behaves like this every {spring|autumn} and one should wait {2-6}
  weeks.
Two members argue about {4} until a moderator asks for {numbers|photographs|calm}.

{2} measures again: {0-2}.{1-9} millimetres at one end, {3-5}.{1-9} at the other.
{2} comes back after {2-14} days with a test piece of {5} and better news.
"Done what you said, twice," reports {2}, "and {3} is not to blame."

Solved, says the last post: {a shim of card|half a turn|a new edge} and {10-40} strokes.
The thread ends with thanks and a recipe for {biscuits|tea|stew}.
Closed as answered after {12-60} posts, of which {3-9} were about something else.]],
  },
  {
    host = "openworkshop.example", folder = "articles", title = "{1} - Open Workshop",
    home = "Open Workshop, an encyclopedia of making",
    about = [[
Open Workshop is an encyclopedia of materials, joints, tools and words that anybody may improve.
An article says what a thing is, where it comes from and what it is mistaken for. Sources stand at
the foot of the printed edition. Articles under two hundred words are welcome; a good sentence is
worth more than a long one. Disputes are settled on the talk page, by the person who can show the
thing itself. At present the encyclopedia is written by some forty people,
most of them after supper.]],
    pages = [[
Annual ring|wood|a layer that a tree adds in one year|earlywood and latewood|dendrochronology
Anodising|metal|an oxide layer grown on aluminium by current|the bath and the seal|electrolyte
Birdsmouth|joints|a notch with which a rafter sits on a plate|heel and seat|plumb
Bloom|finishes|a grey veil on lacquer that dried in damp air|moisture and haste|cloudiness
Carbide|tools|a hard compound for cutting edges|brittleness and brazing|tungsten
Creep|materials|slow bending under a steady load|shelves and years|viscoelastic
Draft|casting|the slope that lets a pattern leave its mould|angles and cores|foundry
Fettling|metal|cleaning up a casting|gates and flash|burrs
Gauge block|measuring|a block whose length is known to a hair|wringing and dust|metrology
Hygrometer|measuring|an instrument for the dampness of air|hair and salts|calibrator
Jointer|tools|the longest of the planes|flatness and patience|infill
Kerfing|joints|saw cuts that let a board bend|depth and spacing|luthiery
Lignin|wood|what glues the fibres of a plant together|paper and steam|polymer
Marquetry|finishes|pictures made from veneer|sand shading and knives|tesserae
Patina|finishes|what use and time leave on a surface|touch and light|verdigris
Quench|metal|cooling hot steel at once|oil and brine|martensite
Rake|tools|the slope of a tooth or cutting edge|rip and cross|chipbreaker
Spalting|wood|colour that fungi draw in dead timber|zone lines and luck|mycelium]],
    text = [[
{1}, in {2}, is {3}.
In the field of {2}, the word {1} means {3}.
{1} is a term of {2} for {3}; older books write it differently.

An article about it cannot leave out {4}, which belong together.
Two things decide how it turns out: {4}. A third, cost, is seldom named.
Most of what has been written on {1} concerns {4}.

The neighbouring subject is {5}, with which beginners confuse it.
For the theory behind it see {5}, a word that {18-19}{10-99} dictionaries did not yet have.
It was explained late, when {5} became a subject of its own about {1840-1960}.

The earliest drawing that shows {1} is dated {1540-1790} and hangs in a {mill|town hall|school}.
A workshop book of {1650-1830} gives it {3-14} lines and a wrong figure.
Apprentices met it in their {second|third} year, after {200-900} hours of sweeping.

Typical figures lie between {2-9} and {12-48} in whatever unit the trade prefers.
Measured values scatter by {10-45} percent, so tables of {2} print ranges.
Handbooks give {3-8} different rules of thumb, of which {two|three} agree.

The best account of {5} for lay readers fills {20-90} pages and mentions {1} on page {4-19}.
Museums in {Dunholt|Ramsbury|Ulverside} show {2-12} pieces to do with {1}, behind glass since
  {1951-1999}.
Students of {2} meet {1} again in the examination on {5}, question {3-11}.

A common mistake is to treat {1} as a fault: {60-95} times in a hundred it is wanted.
Anyone who says that {1} can be hurried has {2-8} apprentices fewer than before.
Two mistakes recur, one of {10-45} percent in measuring and one of spelling: "{1}" takes no hyphen.

How it feels to work with is hard to write down; {three|four|six} editors tried and kept "{4}".
The sound is described as {a tap|a hiss|a low hum} by {5-20} of {21-40} people who were asked.
Smell plays a part: think of {wet chalk|warm resin|cold iron}, says note {12-88}.

In everyday speech the word {1} is used more {loosely|strictly|proudly} than in {2}.
There is a proverb about {1} in at least {two|three|four} dialects, none of them polite.
Outside {2}, {1} is also the name of a {boat|card game|hamlet}.

This article has been changed {12-140} times since {2011|2014|2019}.
Its talk page holds {4-60} remarks, the longest about a comma.
A reader from {Dunholt|Saltby|Wendle} supplied the {example|second paragraph|correction}.]],
    -- Long articles.
    more = {
      {
        folder = "surveys", title = "{1}: a survey",
        pages = [[
Drying timber|moisture|stickers|an open shed|a kiln|casehardening
Joining without metal|strength|pegs|a dry fit|a mallet|drawbore
Sharpening|an edge|water stones|a jig|a strop|microbevel
Finishes that feed a family|safety|beeswax|a rag|an oven|polymerised
Measuring by hand|doubt|story sticks|a knife|a window sill|parallax
Keeping a small workshop warm|heat|sawdust|a stove|a curtain|thermosiphon]],
        text = [[
{1} is a wide subject, and this survey keeps to what a small workshop needs. It was put together by
  {three|four|five} authors who disagree about {3} and agree about nearly everything else.
Whoever writes about {1} has to begin somewhere; we begin with {2}, since all other questions lead
  back to it sooner or later, usually within {5-30} minutes of the first mistake.
Few chapters of our trade are as old as {1}. The oldest rule we found concerns {3}, is {200-900}
  years
  old, and is still broken every week in {two|three} workshops out of {5-9}.

In short: {2} comes first, {3} second and money last.
Three words carry the subject, namely {2}, {3} and patience; the rest is practice.
If you remember only two things, let them be {2} and {3}.

There are two schools. One swears by {4} and takes {20-90} days for what the other does in a week;
  the
  other owns {5} and explains at length why it was worth {900-4000} crowns.
The cheap way needs {4}; the quick way needs {5}. Between them lie {12-60} years of argument and a
  great number of letters to editors, of which we have read {40-190}.
Beginners start with {4}. After {2-9} years most of them buy {5}, and after {10-25} more about a
  third
  sell it again and go back to where they began.

The term to know is {6}. It names the moment when {2} stops being a theory and costs you a board.
Experts say {6} where others wave their hands; the word was coined in {1880-1960} by a foreman who
  had been asked the same question too often.
Sooner or later you will meet {6}, which looks like bad luck {60-90} times in a hundred and is not.

Measurements help. In our own trial {12-40} pieces were weighed every {2-6} days by three people;
  the
  figures for {2} differed by {4-19} percent between them until they shared one pair of scales.
We counted: of {40-120} failed pieces {20-39} had been spoilt through haste, {5-19} through {3} used
  wrongly, and the rest through nothing that anybody would admit.
A table on the wall saves time. Ours has {9-24} lines, is wrong in {two|three} of them, and has kept
  us from ruining roughly {30-90} pieces a year in matters of {2}.

For {3} there are {4-11} recipes, most of them secret and all alike. What matters is that they are
  {dry|fresh|even}, that there are enough of them, and that nobody borrows them on Fridays.
A word on {3}: buy {two|three} times what you think you need, keep them apart from everything else,
  and mark them with a colour of your own, for they wander.
About {3} a whole book was written in {1905-1985}; its {180-420} pages can be put like this: little,
  often, and never on the last day.

Costs are modest. With {4} you spend {20-190} crowns in the first year and {5-40} in each that
  follows; with {5} it is {10-30} times as much, and a second plug.
Somebody always asks what it costs: {60-400} crowns to begin, then {2-9} a month, if one does not
  count
  the hours, which nobody in {1} has ever done.
The price of {5} has fallen by {15-60} percent since {1998|2005|2012}; that of {4} has not changed
  in
  living memory.

Finally, a warning. {1} can become an end in itself: we know of {3-8} people who have made nothing
  for years but {3}, and they are happy.
One last piece of advice: stop {10-40} minutes before you are tired. Most of what we know about {6}
  was learnt after that.
Those who want to go further will find {4-16} articles in this encyclopedia that touch on {2}, and a
  list of open questions, the first of which is whether {4} can ever be {too big|too old|too
  quiet}.]],
      },
    },
  },
  {
    host = "howto.owlgate.example", folder = "guides", title = "{1} | Owlgate guides",
    home = "Owlgate guides for small offices",
    about = [[
Owlgate writes small programs for people who look after computers as a second job, and these guides
show how to use them without learning everything first. Each guide solves one problem, says how long
it takes and how to undo it. Commands are given in full. Where a step needs a second person, we say
so, since most accidents happen alone and after six. Guides are tried on an old machine before they
appear. There is no telephone line, but there is a letter box.]],
    pages = [[
Rotate backups|backup-rotate|keep seven days and four weeks|retention counts|thirty
Restore a single file|backup-rotate|copy it beside the present one|a rehearsal|ten
Warn before disks fill|disk-watch|set a limit of eighty percent|inodes|fifteen
Keep a list of servers|ssh-hosts|write one line a machine|fingerprints|twenty
Read a log from the end|log-lines|show the last fifty lines|pagination|five
Retire a colleague's account|ssh-hosts|remove keys before names|handover|forty
Move a web shop|backup-rotate|copy twice and switch once|lifetime of names|ninety
Label every cable|pen and paper|use two labels a cable|patch panel|sixty
Plan a power cut|disk-watch|write down the order|shutdown order|thirty-five
Test a restore|backup-rotate|pick a file by dice|randomness|twenty-five
Share one printer|log-lines|give it a fixed address|spooling|twelve
Update on a Tuesday|log-lines|read the notes aloud|changelogs|forty-five
Store passwords of the office|pen and paper|use sealed envelopes|custody|fifty
Say no to a stranger|pen and paper|call back on a known number|pretexts|eight]],
    text = [[
If you read only one line of this guide, read this: {3}. The rest needs {5} minutes more.
{1}: the short version is to {3}. The long version takes {5} minutes.
You need {2}, {5} minutes and the will to {3}.

What people forget is {4}, and it decides whether the work was worth it.
Before you start, write {4} on a piece of paper and keep it in sight.
The hard word in this guide is {4}; it is explained in {two|three} sentences below.

Open a terminal, change into the folder of the service and look before you type: {3-9} lines of
  output are normal.
Sit at the machine itself, not {3-40} kilometres away, the first {two|three} times.
Ask a second person to read each command of {2} aloud; {1-4} in {5-9} mistakes are found this way.

If you see exit code {2-9}, stop and read the line above it.
A warning about {space|rights|time} can be ignored once, not {two|three} times.
With more than {20-90} gigabytes it takes {2-7} times as long and looks as if it hung.

To undo everything, run the last step of {1} backwards within {2-14} days.
Nothing here deletes anything for {7-30} days, so breathe.
Undoing it is the subject of exercise {2-8}, which you should do before you need it.

Repeat it every {two|three|six} {weeks|months}, and note the date on the wall.
Put the next date in the calendar now, {20-80} days from today.
If it went well, do it again with the {lights|network} off.

Tried on {Debian|a spare laptop|a borrowed server} with {2-8} gigabytes of memory, in {4-50}
  minutes.
Reader's note: with {2} of release {2-5}.{0-9} the option has another name.
Last read by someone new to it in {January|May|September}; {two|three} words were changed.]],
  },
  {
    host = "bottega-del-legno.example", folder = "strumenti",
    title = "{1}, dal quaderno di bottega",
    home = "Bottega del legno",
    about = [[
Questo quaderno raccoglie gli strumenti di una bottega di falegnameria, uno per pagina, come li
usiamo ogni giorno. Non vendiamo nulla e non consigliamo marche. Di ogni attrezzo diciamo a che cosa
serve, come si affila e quale errore perdona meno degli altri. Chi vuole provarli può venire il
mercoledì pomeriggio, portando un pezzo di legno e le scarpe chiuse. Le pagine sono scritte a turno
dagli apprendisti e corrette dalla maestra, che non corregge mai due volte lo stesso errore.]],
    pages = [[
Pialla da sgrosso|larice|trentacinque gradi|ricciolo spesso|sgrossatura
Sponderuola|faggio|quaranta gradi|battuta pulita|battute
Pialletto|ciliegio|venticinque gradi|spigolo smussato|smusso
Sega a dorso|abete|quattordici denti|taglio sottile|costola
Scalpello da mortasa|rovere|trenta gradi|foro profondo|mortasa
Sgorbia|tiglio|venti gradi|solco tondo|intaglio
Graffietto|acero|una punta d'acciaio|riga parallela|tracciatura
Raschietto|noce|un filo rovesciato|superficie lucida|bava
Trapano a petto|castagno|due velocità|foro diritto|manovella
Morsetto a vite|frassino|due ganasce|pressione uguale|ganascia
Squadra zoppa|pero|quarantacinque gradi|angolo fedele|ugnatura
Vetro da raschio|olmo|un bordo fresco|finitura finissima|scaglia
Pietra di Candia|bosso|due grane|filo a specchio|affilatura
Mazzuolo|carpino|settecento grammi|colpo sordo|percussione]],
    text = [[
{1}: in bottega lo strumento si prova sempre su un pezzo di {2}.
Per conoscere questo attrezzo, {1}, basta un'ora e un avanzo di {2}.
Sul {2} si capisce presto che cosa sa fare: parliamo di {1}.

La misura da ricordare è semplice: {3}. Tutto il resto viene da sé.
Si regola così: {3}, né più né meno.
Sul manico è inciso il suo segreto, {3}.

Il risultato buono si riconosce subito: {4}.
Se il lavoro è fatto bene, resta {4}.
La maestra guarda una cosa sola, cioè {4}.

La parola da imparare è {5}, che nel dizionario occupa {2-9} righe.
Chi dice {5} senza averla fatta, paga da bere a {3-8} persone.
Per la {5} servono {10-40} minuti e nessuna fretta.

Si affila ogni {2-6} giorni, con {20-80} passate per lato.
Il ferro va affilato dopo {3-9} ore di lavoro, prima che se ne accorga il legno.
Bastano {5-15} minuti alla pietra, tenendo fermo il {polso|gomito}.

L'errore che non perdona è la {fretta|forza|distrazione} alla fine del taglio.
Chi spinge con il {braccio|peso} rovina {due|tre} pezzi su {5-9}.
Dopo la pioggia il {2} si gonfia di {1-3} decimi, e bisogna {aspettare|ripartire}.

Il nostro esemplare ha {30-120} anni e viene da una {stazione|barca|chiesa}.
Lo abbiamo trovato in un {mercato|fienile|baule} per {4-60} corone.
Appartiene alla bottega da {8-70} anni e ha cambiato {due|tre} manici.]],
  },
}
