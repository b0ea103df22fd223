/* The words that prose about a tool is made of. A sentence stays only if nearly all of its words
 * are known here or stand in the definition's own names, so this is a whitelist: what is missing
 * costs a sentence, never lets one through. Own selection, written before any payload was seen.
 *
 * Nouns come with their plural, verbs with the forms that end in -s, -ed and -ing. */
#include <endian.h>
#include <pthread.h>

#include "guard/canon_int.h"

enum form { PLAIN, NOUN, VERB };

struct list {
    uint32_t flags;
    enum form form;
    const char *words;
};

static const struct list lists[] = {
    {WORD_FUNCTION, PLAIN,
     "the a an another of and or in on by with from for to into at as is are be been being it its "
     "this "
     "that "
     "these those which whose if whether not no any all each every some both either neither than "
     "but per via within without between among over under above below across through during "
     "against about around until since while where when there has have had was were may can will "
     "n x y z k e.g i.e etc vs so such only also same other more most less least few many much one "
     "two "
     "three four five ten own used their they them what how"},
    {WORD_OWNER | WORD_FUNCTION, PLAIN, "your our my"},
    {WORD_STATES, PLAIN,
     "is are can may has have was were cannot supports support contains contain includes include "
     "requires accepts accept uses defaults provides works applies represents consists "
     "depends covers describes indicates specifies corresponds matches ranges equals expires "
     "does needs takes allows counts ignores respects means varies"},
    {WORD_LEAD, PLAIN,
     "this the that which a an to for is are be can could will you users user when want wants need "
     "needs it simple used"},
    {WORD_LEAD | WORD_ANNOUNCES, PLAIN,
     "tool function endpoint method api command operation action utility use uses allows allow "
     "lets "
     "let helps help enables enable"},
    {WORD_TOWARDS, PLAIN, "to into at towards toward onto as named called"},
    {WORD_TIME, PLAIN,
     "before after once prior afterwards beforehand finally next later immediately subsequently "
     "previously"},
    {WORD_EXAMPLE, PLAIN, "e.g example examples like such eg"},
    {WORD_NUMBERED, PLAIN,
     "max maximum min minimum default defaults up range limit limited least most exactly "
     "least than between from first last top per every within under over page version least "
     "per_page "
     "size length equals steps precision depth level degree around about approximately "
     "above below until exceed exceeds latest recent"},
    {WORD_NUMBERED | WORD_STANDARD, PLAIN,
     "iso rfc utf sha base http https ecma en din ansi ieee ipv md int float double uint bit "
     "unicode "
     "alpha alpha-2 alpha-3 level port version api css html es sql epsg wgs bcp mp h av ean isbn "
     "upc e gpt llama"},
    {WORD_UNIT, NOUN,
     "second minute hour day week month year millisecond microsecond byte kilobyte megabyte "
     "gigabyte "
     "pixel percent character word line row column item result record entry page token degree "
     "meter metre kilometer kilometre mile foot inch centimeter millimeter gram kilogram pound "
     "micrometer "
     "liter litre watt volt ampere hertz bit digit decimal place point level request call attempt "
     "retry time element message file image frame step sample sentence paragraph letter dimension "
     "argument value object point node branch commit issue comment event ticket user"},
    {WORD_UNIT, PLAIN,
     "ms s sec secs min mins h hr hrs d px pt em rem kb mb gb tb kib mib gib b k m g kg lb lbs oz "
     "km "
     "cm mm ft mi mph kmh hz khz mhz ghz w kw kwh v a c f celsius fahrenheit kelvin deg rad dpi "
     "fps "
     "bps kbps mbps x feet inches am pm"},
    {WORD_CURRENCY, PLAIN,
     "usd eur gbp dollar dollars euro euros cents btc eth bitcoin yen pounds sterling credits"},
    /* Nouns of data and programs. */
    {0, NOUN,
     "name title text string number integer boolean array list object map set dictionary key value "
     "field column row table cell sheet spreadsheet database schema record entry item element "
     "index offset cursor page limit count total sum amount average mean median minimum maximum "
     "file folder directory path filename extension document text content body header footer "
     "attachment archive image picture photo icon thumbnail video audio clip sound song track "
     "album artist playlist movie show episode book author article post comment reply thread "
     "channel group member user person people contact profile account team organization "
     "organisation company customer client vendor supplier employee owner creator assignee "
     "reporter "
     "email mail inbox mailbox draft message notification alert reminder event calendar meeting "
     "appointment schedule date time timestamp day week month year quarter hour minute timezone "
     "zone duration interval period range start end deadline frequency recurrence "
     "location place city town country region state province district address street building "
     "postcode zip latitude longitude coordinate distance route direction map radius area point "
     "polygon station stop airport flight train bus trip hotel room booking reservation ticket "
     "weather temperature forecast humidity wind rain pressure climate condition "
     "repository repo branch commit tag release issue request pull merge diff patch review label "
     "milestone project board task story epic sprint workflow pipeline job build deployment "
     "environment variable setting configuration config option preference parameter argument flag "
     "property attribute feature version revision id identifier uuid guid slug handle reference "
     "link url uri domain host hostname site website webpage page node edge graph tree parent "
     "child "
     "children root leaf query search keyword term filter condition criterion criteria pattern "
     "expression regex match result response request reply output input return error warning code "
     "status state type kind category class format template style theme color colour font size "
     "width height length depth weight volume shape line circle rectangle border margin padding "
     "layout position order sort rank rating score priority level severity "
     "price cost fee tax discount currency stock share symbol ticker portfolio market exchange "
     "rate "
     "quote balance budget expense income revenue profit order cart product catalog inventory sku "
     "shipment delivery package carrier warehouse store shop category brand review "
     "invoice receipt subscription plan "
     "language locale translation word phrase sentence paragraph section chapter heading summary "
     "abstract excerpt snippet note notebook page block bullet description detail information info "
     "data dataset metadata metric statistic measurement sample series value unit "
     "server service resource endpoint api function method class module package library dependency "
     "import interface type variable constant symbol definition reference declaration statement "
     "process thread container pod cluster node instance machine device sensor network port "
     "protocol socket connection session cache memory disk storage bucket blob queue topic "
     "subscription partition shard replica backup snapshot volume image registry namespace "
     "log trace span metric dashboard panel chart plot report analysis insight trend anomaly "
     "test case suite coverage assertion fixture benchmark browser tab window element selector "
     "button form checkbox dropdown menu dialog cookie screenshot viewport cursor mouse keyboard "
     "click scroll screen display monitor camera light lamp switch thermostat lock door speaker "
     "question answer quiz exam course lesson student teacher grade school university paper "
     "journal citation publication patent gene protein molecule compound drug disease patient "
     "symptom diagnosis treatment recipe ingredient meal food drink restaurant "
     "game player match team league season tournament score move card deck character spell item "
     "vector matrix tensor dimension embedding dataset feature layer epoch weight "
     "equation formula variable integral derivative function polynomial fraction root angle "
     "probability distribution variance deviation correlation regression hypothesis "
     "chain block transaction wallet contract address hash signature nonce gas "
     "role permission access scope group policy rule domain certificate "
     "boundary tolerance threshold window step iteration loop retry attempt timeout delay "
     "encoding charset newline whitespace tab space character byte bit digit "
     "entity relation relationship observation concept idea topic subject theme tag keyword "
     "thing one part piece segment chunk slice batch bulk subset set collection sequence pair "
     "combination permutation variant version copy duplicate original source target destination "
     "origin purpose goal reason way mode example case kind sort manner detail overview breakdown "
     "availability capacity usage utilization performance latency throughput load "
     "hierarchy structure tree nesting depth ancestor descendant sibling "
     "vote poll survey feedback like follower view visitor session bounce conversion campaign "
     "audience segment lead deal opportunity stage pipeline quote "
     "visibility privacy sharing license copyright header cell formula chart axis legend caption "
     "backlog velocity estimate worklog attendee participant organizer guest invitee "
     "photo gallery frame filter effect layer mask background foreground canvas stroke fill "
     "gradient opacity animation scene mesh texture material camera light object model "
     "compiler interpreter runtime framework language syntax grammar parser token lexer "
     "hour o'clock midnight noon morning evening weekday weekend holiday birthday "
     "header footer sidebar banner widget component prop hook "
     "network subnet router gateway firewall proxy packet interface bandwidth "
     "satellite image band pixel raster layer feature elevation terrain "
     "hero item weapon monster quest world player inventory biome creature "
     "spacecraft planet star galaxy orbit asteroid moon sun "
     "election bill law statute court case ruling judge docket filing "
     "earnings dividend bond yield option future fund index sector industry "
     "pronunciation synonym antonym definition rhyme etymology verb noun adjective "
     "indicator emoji reaction sticker gif pin bookmark highlight annotation comment mention "
     "property listing house apartment rent mortgage loan interest "
     "car vehicle bike road traffic parking charger fuel engine speed "
     "job vacancy candidate resume skill salary interview position career "
     "exercise workout calorie sleep heart pulse blood health "
     "news headline story source media newspaper magazine podcast feed "
     "wave tide sea lake river mountain forest park trail beach island"},
    {0, PLAIN,
     "json xml yaml csv tsv html css markdown pdf png jpg jpeg gif svg webp mp3 mp4 wav txt docx "
     "xlsx "
     "pptx zip gzip tar sql regex glob cron uuid guid sha md utf ascii unicode hex hexadecimal "
     "binary octal decimal base64 rgb rgba hsl http https get post put patch ftp ssh tcp udp ip "
     "dns "
     "tls ssl smtp imap oauth rest graphql rpc grpc websocket api sdk cli ui gui url uri urn ascii "
     "true false null none yes no on off asc desc ascending descending utc gmt iso rfc "
     "alphanumeric numeric alphabetical chronological lowercase uppercase camelcase kebab snake "
     "px rem ltr rtl latex mermaid plantuml dot geojson wkt kml gpx ical ics vcard bibtex doi isbn "
     "arxiv issn orcid pubmed ean upc sku vat iban bic cpu gpu ram ssd os vm ci cd pr prs crud acl "
     "orm etl kpi roi seo crm erp hr qa faq id ids ok eof stdin stdout stderr"},
    /* Product names that tools are about. */
    {0, PLAIN,
     "github gitlab bitbucket git jira confluence trello asana linear notion obsidian slack "
     "discord "
     "telegram whatsapp teams zoom google gmail drive docs sheets slides youtube maps calendar "
     "microsoft outlook office excel word powerpoint onedrive sharepoint azure aws amazon s3 ec2 "
     "lambda dynamodb cloudwatch kubernetes docker helm terraform ansible jenkins circleci vercel "
     "netlify cloudflare heroku digitalocean postgres postgresql mysql mariadb sqlite mongodb "
     "redis "
     "elasticsearch opensearch kafka rabbitmq snowflake bigquery redshift databricks clickhouse "
     "duckdb neo4j qdrant pinecone weaviate chroma milvus supabase firebase prisma stripe paypal "
     "shopify woocommerce salesforce hubspot zendesk intercom freshdesk mailchimp sendgrid twilio "
     "datadog grafana prometheus sentry newrelic splunk pagerduty airtable figma canva miro "
     "dropbox "
     "box spotify apple twitter facebook instagram linkedin reddit tiktok pinterest medium "
     "wordpress wikipedia wikidata arxiv openstreetmap spoonacular airbnb uber booking yelp imdb "
     "tmdb openweathermap nasa yahoo bing duckduckgo brave tavily perplexity firecrawl puppeteer "
     "playwright selenium chrome firefox safari android ios windows linux macos unix ubuntu debian "
     "python javascript typescript java kotlin swift rust go golang ruby php perl c cpp react vue "
     "angular svelte node npm pypi maven gradle cargo conda jupyter numpy pandas pytorch "
     "tensorflow "
     "huggingface openapi swagger postman minecraft unity unreal blender godot steam chess "
     "pokemon ethereum solana bitcoin polygon binance coinbase kraken unsplash pexels giphy "
     "todoist evernote raindrop pocket zapier airflow dbt metabase tableau looker homeassistant"},
    /* Adjectives and adverbs. */
    {0, PLAIN,
     "new old current latest recent previous next first last second third final initial following "
     "specific specified given provided requested selected required optional mandatory available "
     "active inactive enabled disabled open closed public internal external local remote global "
     "single multiple several individual unique distinct different similar related relevant exact "
     "approximate partial full complete entire whole total overall maximum minimum default custom "
     "additional extra further detailed short brief long large small big high low higher lower "
     "fast slow quick simple basic advanced complex common general standard normal special "
     "main primary secondary top bottom left right upper inner outer front back horizontal "
     "vertical "
     "absolute relative direct indirect valid invalid empty blank non-empty missing existing "
     "found unknown known supported unsupported allowed permitted automatic automatically manual "
     "manually currently recently directly separately together "
     "optionally case-sensitive case-insensitive comma-separated human-readable real-time "
     "historical "
     "daily weekly monthly yearly annual hourly upcoming past future early late ready pending "
     "completed finished running stopped failed successful visible hidden read unread starred "
     "archived deleted draft published scheduled assigned unassigned resolved unresolved "
     "positive negative zero even odd greater smaller larger longer shorter older newer better "
     "best "
     "worst popular favorite favourite trending random sequential parallel recursive recursively "
     "nested flat raw formatted plain rich encoded decoded compressed static dynamic temporary "
     "permanent persistent stable beta deprecated experimental inclusive exclusive inclusively "
     "and/or true/false case sensitive insensitive readable writable executable structured "
     "unstructured semantic natural full-text fuzzy geographic geospatial numerical textual visual "
     "mathematical statistical scientific financial technical social virtual physical digital "
     "electronic mobile free paid premium based not-null nullable "
     "separated sorted grouped ordered limited ranked paginated filtered optional zero-based "
     "one-based 1-based 0-based up-to-date low-level high-level read-only single-line multi-line "
     "otherwise else alongside along plus minus times divided respectively "
     "too very quite rather just still already again yet ago away here fully partially properly "
     "efficiently quickly securely locally globally exactly approximately roughly "
     "necessary possible likely available useful suitable appropriate correct incorrect "
     "unless except including excluding regarding concerning according depending due because "
     "hence thus therefore however although though "
     "longest shortest highest lowest largest smallest closest nearest earliest oldest newest "
     "inside outside beyond near left-to-right side-by-side end-to-end "
     "whichever whatever either anything everything something nothing someone anyone none "
     "multi sub non pre re auto hex min max avg std num len idx src dst env str int bool obj arr"},
    /* Verbs by effect. */
    {WORD_READS, VERB,
     "return list fetch retrieve read search find query look lookup show view display browse "
     "inspect check describe count scan load explore discover monitor watch track observe preview "
     "download examine review report detect identify locate recognize select summarize summarise "
     "analyze analyse extract crawl scrape navigate capture collect gather lists peek poll grep "
     "trace diagnose audit introspect enumerate resolve obtain access"},
    {WORD_READS, PLAIN,
     "get gets getting got finds found finding reads read reading shows shown "
     "gotten"},
    {WORD_COMPUTES, VERB,
     "calculate compute convert parse format validate verify compare evaluate estimate translate "
     "encode decode transform normalize normalise merge split join concatenate filter sort order "
     "group rank classify cluster predict forecast simulate solve plot render draw visualize "
     "generate suggest recommend explain sample multiply divide subtract round measure test "
     "tokenize lint compile minify highlight diff match map reduce aggregate combine interpolate "
     "approximate integrate differentiate factor simplify paraphrase rephrase proofread spell "
     "score rate label annotate cast wrap unwrap hash echo sum average wait sleep ping think "
     "plan reason optimize optimise deduplicate align"},
    {WORD_WRITES, VERB,
     "create add merge insert update edit modify change write save store append rename move copy "
     "upload "
     "import set configure assign unassign enable disable activate deactivate schedule reschedule "
     "book reserve register subscribe tag untag pin unpin star unstar mark toggle apply attach "
     "build deploy install upgrade restart start stop pause resume launch run execute trigger "
     "commit branch fork clone push pull sync synchronize migrate restore back replace patch lock "
     "unlock approve close reopen archive unarchive click type press drag scroll hover resize crop "
     "rotate flip export record log queue enqueue dequeue publish unpublish duplicate link "
     "unlink connect disconnect draft join leave follow unfollow vote like play turn control "
     "adjust "
     "fill submit initialize initialise provision scale"},
    {WORD_WRITES, PLAIN, "written writes writing wrote built ran"},
    {WORD_SENDS, VERB,
     "send email mail post message notify broadcast tweet share invite reply publish dispatch "
     "deliver transmit"},
    {WORD_SENDS, PLAIN, "sent"},
    {WORD_DELETES, VERB,
     "delete remove drop destroy erase purge clear wipe truncate terminate kill revoke cancel "
     "uninstall trash discard prune clean unset evict ban"},
    {WORD_PAYS, VERB, "pay purchase buy charge refund donate tip withdraw deposit trade bill"},
    {WORD_PAYS, PLAIN, "paid bought buys buying sell sells selling sold payment payments"},
    {WORD_SETUP | WORD_WRITES, PLAIN,
     "login logon auth authenticate authorize connect init "
     "initialize initialise open start begin setup register join "
     "select configure load create_session"},
    {WORD_WRITES, VERB, "open authenticate authorize"},
    {WORD_OPTION, VERB,
     "include exclude filter limit sort order group return show hide skip enable disable use allow "
     "force overwrite recurse follow match search specify indicate control determine define "
     "represent restrict narrow treat keep trim wrap preserve expand collapse normalize format "
     "parse stop start set read list render require"},
    {WORD_OPTION, PLAIN,
     "whether if optional required one comma number name set defaults only true"},
    {0, VERB,
     "base relate associate belong refer contain consist support accept exist expect occur appear "
     "apply depend represent describe correspond equal exceed begin end fail succeed expire "
     "process handle manage perform work cover allow prevent avoid need want like "
     "separate delimit structure name call type date size locate situate store save host "
     "leave omit default accompany combine reach retry complete finish progress cause produce "
     "improve reflect affect mention assume implement "
     "specify select provide request supply receive create publish delete update modify "
     "limit range span vary differ grow fit fall rise store count point lead enter"},
    {0, VERB,
     "disappear rerank constrain begin scope originate wait cause surround operate demonstrate "
     "illustrate distinguish contain embed affect concern conclude combine "
     "compose consider construct consume decide declare define deny derive design detail develop "
     "direct divide document double drive embed emit enclose enforce enhance enrich escape examine "
     "exist expose express extend fix focus force form fulfil gain handle hash help identify "
     "ignore "
     "imply impose incorporate increase decrease infer inherit inject inspect instantiate interact "
     "introduce involve isolate iterate justify launch learn localize localise manage manipulate "
     "model negate observe omit operate override-by own partition permit place point position "
     "precede prefer prefix preserve print prioritize-by prompt-for propose query quote raise "
     "recall reduce refine refresh reject release rely remain repeat request reserve reset reuse "
     "reverse revert rewrite sanitize segment serialize deserialize serve shift shorten shuffle "
     "skip span specialise specialize state step strip structure style substitute suffix suit "
     "support suppress survive switch tackle target terminate tie time touch traverse treat "
     "tune undo unify use validate weigh yield zoom"},
    {0, NOUN,
     "drop crawl depth breadth outage snippet breakpoint callback closure semaphore mutex "
     "indentation readability prefix suffix whitespace mime caution clarification topic research "
     "annotation pattern characteristic location-name assignment assumption background baseline "
     "behavior behaviour benefit boundary break cause chance check choice circumstance claim "
     "clause collaborator colour-scheme combination committer competitor complexity component "
     "concentration conclusion constraint consumer context-line contributor convention corner "
     "correction counter criterion custom cycle damage decision default degree delimiter density "
     "description destination diagram difference disk division effect efficiency effort emission "
     "end ending energy equality equipment era evidence exception excerpt execution expectation "
     "expiration expiry explanation exponent extent facility fact factor failure fallback family "
     "figure flow focus force forecast forum framework friend frequency gap gateway gender genre "
     "glossary grid growth guide hashtag heading height hint hyperlink iban identity illustration "
     "implementation impact inch ingredient initiative input insertion installation "
     "institution integration intent interaction interest intersection introduction "
     "investment island iteration joint kernel keyframe landmark latitude leg lifecycle "
     "line-number "
     "listener lookup loop manifest manufacturer mapping marker match maturity maximum meaning "
     "measure mechanism medium mention merchant merge minimum mode modification module momentum "
     "mood movement multiplier multiplicity mutation navigation neighborhood neighbour neighbor "
     "norm notation number occurrence offer office operand operator opinion outage outcome outline "
     "overlap owner pace padding palette parenthesis passage passenger payload peak peer penalty "
     "performance perimeter phase phenomenon phone phrase pick placeholder platform plugin "
     "population precision predicate preference presence presentation primitive "
     "principle procedure product production profession program project prompt-name property "
     "proposal proportion provider province publication publisher quality quantity quarter race "
     "ratio reach reader reading reason rebate receiver recipient recommendation redirect "
     "reduction "
     "region registration relation release relevance remainder replacement representation "
     "resolution retention risk root rotation round route routine runtime salary sale scale scene "
     "scheme scope screen script season seat sector security selection seller sender sense "
     "sentiment separator sequence setup shade shadow shape sign significance similarity size "
     "slice "
     "slide slot snapshot socket solution source speaker spec specification spending split sport "
     "spot square stack staff standard statistic step stream strength stroke structure stub "
     "student "
     "style subdirectory subdomain subfolder subfield suggestion suite supplier surface symbol "
     "synopsis syntax system tail technique technology tenant term terminal territory theorem "
     "theory "
     "thesaurus tick tile timeline timestamp-field title tone topology total town trace track "
     "trade "
     "trader traffic transaction transformation transition transport treatment trigger truth type "
     "union unit universe update upgrade upload utility validation validity value vector verb "
     "verse "
     "vertex viewer viewport violation visit visual vocabulary voice volume wait warning-level "
     "waypoint wildcard wind winner worker workflow workspace writer zone"},
    {0, PLAIN,
     "strict editable clickable visible focusable numbered targeted supplied non-terminal "
     "proper properly individual ambiguous embedded underlying corresponding respective preferred "
     "desired intended expected estimated actual original initial overall verbose concise compact "
     "hierarchical comprehensive fine-grained fully-qualified well-formed user-friendly "
     "machine-readable self-contained up-to-date built-in command-line client-side server-side "
     "time-based key-value name-value free-form open-source third-party cross-platform "
     "multi-word single-word two-letter three-letter four-digit git-style glob-style "
     "active-only clearly merely primarily mainly typically usually normally generally commonly "
     "frequently rarely sometimes partly largely highly closely loosely strictly roughly slightly "
     "accurate accurately precise precisely careful readable consistent consistently complex "
     "ancient modern classic favourite regular irregular linear nonlinear cubic quadratic "
     "spherical "
     "cumulative incremental differential relational transitive symmetric asymmetric binary unary "
     "weighted unweighted signed unsigned anonymous authenticated authorized unauthorized verified "
     "unverified trusted untrusted secure insecure encrypted plaintext hashed masked redacted "
     "online offline synchronous asynchronous blocking concurrent distributed centralized shared "
     "mutable immutable reusable disposable interactive responsive adaptive scalable portable "
     "lightweight efficient optimal minimal maximal trivial critical-path essential fundamental "
     "primary-only alternate alternative fallback backup spare obsolete legacy outdated expired "
     "stale fresh dirty noisy smooth sharp blurry bright dark transparent opaque solid hollow "
     "thick "
     "thin wide narrow tall deep shallow steep gentle strong weak heavy light hard soft hot cold "
     "warm cool wet dry windy cloudy sunny rainy snowy "
     "north south east west northern southern eastern western central "
     "monday tuesday wednesday thursday friday saturday sunday january february march april june "
     "july august september october november december mon tue wed thu fri sat sun jan feb mar apr "
     "jun jul aug sep sept oct nov dec today tomorrow yesterday tonight now "
     "english german french spanish italian portuguese russian chinese japanese korean arabic "
     "hindi "
     "europe asia africa america american european us uk eu usa germany france spain italy japan "
     "china india canada australia london paris berlin tokyo york "
     "red green blue yellow black white gray grey orange purple pink brown "
     "six seven eight nine hundred thousand million billion half third quarter dozen "
     "apply-to works-with depends-on"},
    {0, PLAIN,
     "undone irreversible irreversibly permanently known given taken seen done made held kept left "
     "met set put understood hidden chosen broken "
     "written drawn shown become becomes come comes go goes going makes making take taking "
     "gives giving give make holds hold keeps means mean"},
    /* Read off definitions of real servers (docs/internals/canon.md, Record): plain English and
     * terms of the trade; no name of anybody, no word that orders, and none that sends. */
    {WORD_FUNCTION, PLAIN,
     "who why would might did out down behind throughout whenever nor themselves itself them its "
     "doesn isn aren wasn weren hasn haven hadn didn couldn wouldn"},
    {0, NOUN,
     "operation documentation requirement capability action application app username creation "
     "confirmation verification problem alias center centre doc restriction protection development "
     "discovery param backend frontend admin webhook conflict percentage extraction deletion core "
     "guidance generation approach stat convenience calculation gate detection bound command "
     "caller strategy substring "
     "addition guarantee bridge administrator spacing rollback index indice analytic wiki approval "
     "developer anchor manager truncation bicycle department management consistency filesystem "
     "ownership markup footnote endnote exclusion dir bug comparison removal synchronization "
     "cleanup logic visualization exploration handler loss literature blog engineering "
     "architecture delta discussion training scenario practice age accessibility migration tier "
     "altitude changelog datetime interpretation workbook worksheet existence lifetime literal "
     "encryption alternative fragment vulnerability increment decrement accent importance chip "
     "everyone preset digest superscript subscript retrieval delta classification shortcut "
     "association enumeration infrastructure artifact artefact simulation rationale functionality "
     "experience foundation verdict virus deletion education algorithm projection helper placement "
     "enrichment evaluation objective limitation asset cutoff government provenance submission "
     "codebase precondition diagnostic activity renderer diamond bar waterfall funnel readiness "
     "fidelity intermediate finding advisory concurrency exit prediction software indication "
     "alarm accuracy checklist dict invitation adapter automation nickname invocation subscriber "
     "timer timeframe typography verbosity artifact divider spouse sibling relative semicolon "
     "comma colon quote hyphen dash underscore slash backslash ampersand asterisk hash "
     "recovery medicine biology physics chemistry mathematics economics engineering facet "
     "cancellation authority recording envelope shading ring geometry designer dialect contrast "
     "renewal builder scanner aspect strikethrough contest mirror science "
     "truck car walking cycling driving transit timezone daylight instant moment era calendar "
     "milestone initiative ancestor grid axis tooltip marker bubble scatter pie donut heatmap "
     "histogram boxplot treemap sunburst radar gauge candlestick area bracket brace wildcard "
     "operand lookup subquery cursor tablespace schema migration rowset "
     "viewport breadcrumb accordion carousel avatar badge spinner toast toggle slider stepper "
     "tooltip popover drawer modal overlay watermark divider "
     "autosave revision checkpoint savepoint snapshot bin folder subfolder "
     "codec bitrate subtitle caption transcript thumbnail waveform "
     "ingredient cuisine diet allergen nutrient calorie serving "
     "airline terminal gate layover fare itinerary passenger luggage cabin "
     "hospital doctor clinic dose dosage vaccine allergy "
     "inventory stockroom barcode aisle shelf pallet container "
     "debugger stacktrace exception breakpoint watchpoint disassembly "
     "heap thread coroutine closure decorator docstring linter formatter bundler transpiler "
     "tenant realm claim scope entitlement quota throttle throttling burst backoff "
     "jitter heartbeat liveness startup shutdown teardown bootstrap daemon sidecar ingress egress "
     "namespace deployment replicaset statefulset configmap cronjob kubelet "
     "edition tier plan license add-on extension subscription "
     "emoji mention thread workspace guild "
     "preprint abstract keyword affiliation venue "
     "tier horizon outlook scorecard checklist milestone okr "
     "weekday weekend workday fortnight semester trimester decade century "
     "amplitude phase spectrum noise filter threshold "
     "mantissa exponent integer float numerator denominator remainder modulus factorial "
     "rectangle ellipse triangle arrow connector hexagon pentagon star polygon polyline "
     "bullet numbering outline indent hanging gutter column paragraph "
     "header trailer checksum digest cipher handshake "
     "subtask subitem epic story bug backlog worklog watcher reviewer "
     "monorepo submodule stash tag rebase squash fast-forward "
     "webcam microphone headset stylus touchscreen "
     "supplier wholesaler retailer distributor "
     "landlord occupant "
     "employer colleague contractor intern "
     "gravity velocity acceleration torque friction density viscosity "
     "tile sprite shader texture collider rigidbody "
     "sunrise sunset dew fog snow hail thunderstorm drought "
     "sand clay soil gravel rock mineral crystal metal alloy"},
    {0, VERB,
     "try understand confirm continue debug organize organise maintain meet decline guess "
     "choose carry stay hit bind cap paginate expire prepend renew populate "
     "alter increment decrement categorize categorise mix retain reference chain "
     "initiate prohibit troubleshoot investigate customize customise compress communicate bundle "
     "catch drift warn arrive arrange bring interpret nest offer satisfy qualify "
     "encounter recover revise standardize standardise attend balance "
     "reject overflow underline bold bounce cache chunk batch stream buffer "
     "flag route anchor index pad align clamp cap saturate interleave transpose "
     "pivot unpivot flatten unflatten hydrate dehydrate prefetch preload "
     "reload refresh throttle debounce retry replay rewind step inspect evaluate "
     "geocode georeference reproject buffer simplify dissolve intersect union clip crop "
     "annotate caption transcribe dub subtitle loop fade blend "
     "graduate certify accredit attest notarize "
     "forecast extrapolate regress classify rank cluster embed vectorize vectorise rerank "
     "hyphenate capitalize capitalise lowercase uppercase italicize italicise justify center "
     "centre snap dock float pin stick fold unfold collapse expand wrap unwrap indent outdent "
     "derive infer deduce conclude prove disprove refute"},
    {0, PLAIN,
     "web success inline present explicit explicitly live pagination cloud subsequent cross self "
     "recurring enterprise side alignment critical authentication authorization console real well "
     "personal regardless native wrong applicable debugging generic others head unsure bold paging "
     "unavailable accessible newly mutually cheap cheaper cheapest typical publicly privately "
     "arbitrary broad broader broadly oversized various bare async compatibility ordinary pricing "
     "matter partner home incomplete protected caching hand safe safely expensive easy easily "
     "faster slower smart actually unaffected enough idempotent business italic often vision "
     "capped successfully programming destructive fine knowledge unchanged minor major canonical "
     "asynchronously synchronously entirely additionally backward backwards identical identically "
     "official officially semantics structural reachable unreachable able unable indexed behind "
     "significantly math art unfiltered ideal ideally deeper mind overwritten standalone great "
     "acceptable good bad correctly incorrectly immediate breaking human routing dev prod "
     "resulting alone strongly unexpected hardcoded atomically cached elsewhere initially "
     "dedicated straight chunked safety master unlimited shell engineering gracefully nor "
     "incoming outgoing principal insufficient sufficient fewer desktop internet happen happens "
     "happened friendly legal moderate postal suspended equivalent granted tabular internally "
     "externally optimization optimisation pro travel hardware adult literal unused "
     "middle certain reasonable implicit implicitly super exhaustive factual fastest slowest "
     "temporarily bidirectional unidirectional referenced prohibited descriptive specifically "
     "mixed verbatim bounding accordingly filterable searchable sortable absent present "
     "conflicting established professional organized eligible ineligible earlier diverse "
     "containerized reliable unreliable uncertain logical retained operational trailing leading "
     "discoverable atomic programmatic programmatically circular sparse dense effective "
     "intentionally dashed dotted conditional conditionally party community advisory intermediate "
     "actively untouched compatible incompatible flexible progressive cleanly sole delegated "
     "privileged multilingual bilingual semicolon-separated newline-separated space-separated "
     "tab-separated pipe-separated whitespace-separated line-separated dot-separated "
     "colon-separated slash-separated underscore-separated hyphen-separated delimited "
     "comma-delimited url-encoded percent-encoded base64-encoded utf-8-encoded url-safe urlsafe "
     "hex-encoded html-encoded json-encoded stringified unescaped escaped quoted unquoted "
     "uncompressed unencrypted unsorted unlabeled unlabelled untitled unnamed unassigned "
     "academic medical clinical biological chemical industrial commercial residential "
     "governmental educational environmental cultural historical political economic "
     "streaming stateless stateful sequentially consolidated nearby briefly huge tiny formal "
     "informal domestic international regional national worldwide simplest composite widely "
     "streamed awaiting deferred lazy eager partial-match "
     "monospace serif sans-serif sans cursive fantasy "
     "north-east north-west south-east south-west clockwise counterclockwise anticlockwise "
     "top-level low-risk high-risk long-running short-lived long-lived pre-authenticated "
     "in-memory in-place on-premises on-demand per-page per-user per-day one-time two-way "
     "case-preserving order-preserving time-zone date-time start-time end-time "
     "non-negative non-zero non-null non-blank non-recursive non-interactive non-native "
     "read-write write-only append-only admin-only owner-only "
     "lat lng lon long uid ttl dir ref var img param params doc docs info temp cwd args kwargs "
     "dict tuple enum varchar bigint smallint timestamptz jsonb datetime datatype mime mimetype "
     "lang acl vpc vps cdn cors tld whois mx spf dkim dmarc cname aaaa txt ns soa srv caa ddl dml "
     "gt gte lt lte eq ne nin exists jql cql kql promql graphql odata jmespath jsonpath xpath jq "
     "regexp rrule exif iptc wcag aria rtf odt ods odp doc xls ppt xlsm xltm xlt dotx potx htm "
     "xhtml scss sass less jsx tsx js ts mjs cjs toml ini cfg conf yml ndjson jsonl parquet avro "
     "orc tgz gz bz2 xz rar 7z webm mov avi mkv flac ogg m4a aac tiff tif bmp ico heic avif psd "
     "eps epub mobi mdx tex rst adoc woff woff2 ttf otf eot md py rb rs java sh bat "
     "iana ietf wgs84 utm mgrs geohash plus-code what3words maki mapbox linestring multipolygon "
     "multipoint geometrycollection featurecollection "
     "postman openapi asyncapi raml wsdl soap protobuf thrift "
     "monospaced uncaught readme changelog codeowners gitignore "
     "dtcg emu pt twip dxa "
     "bitbucket mercurial svn perforce "
     "semver calver ulid ksuid nanoid snowflake ksuids uuidv4 uuidv7 uuids guids "
     "plaintext rich-text wysiwyg xml-like html-like markdown-formatted "
     "yyyy mmmm mmm dddd ddd ww qq "
     "to-do to-dos fortnightly biweekly bimonthly quarterly semiannual hourly nightly "
     "see sees seen seeing"},
    {WORD_UNIT, PLAIN,
     "mg dl mmol ml cl mcg iu ppm ppb psi pascal kpa hpa mbar bar joule kcal kj calorie btu "
     "newton kn mw gw mwh gwh mah lumen lux candela decibel db dba rpm mpg knot knots nmi acre "
     "hectare ha sqft sqm yd yard yards furlong au parsec lightyear arcmin arcsec"},
    {WORD_CURRENCY, PLAIN, "dkk sek nok chf aud cad nzd jpy cny inr krw brl mxn zar"},
    {WORD_WRITES, VERB,
     "grant transfer suspend freeze unfreeze protect unprotect hide unhide mute unmute enroll "
     "enrol "
     "encrypt decrypt"},
    {0, NOUN, "transfer"},
    /* Only where the names of the definition say so. */
    {WORD_SENSITIVE, NOUN,
     "password passphrase secret credential token key passcode pin cookie session private "
     "certificate "
     "wallet seed mnemonic otp ssn passport salary"},
    {WORD_SENSITIVE, PLAIN, "private ssh env dotenv confidential sensitive keychain kubeconfig"},
    {WORD_SOFT | WORD_TALK, NOUN,
     "prompt conversation chat dialogue history transcript context instruction reasoning thought "
     "completion turn"},
    {WORD_SOFT | WORD_MODEL, PLAIN,
     "ai llm llms assistant assistants agent agents claude gpt chatgpt openai anthropic gemini "
     "copilot mcp bot bots"},
    /* What ends a sentence. */
    {WORD_BANNED | WORD_MODEL, PLAIN,
     "do you yourself i me we us myself he she him please kindly dear hey hello sir must should "
     "shall "
     "ought ensure sure remember remind important urgent attention "
     "warning notice caution always never don't dont won't shouldn't mustn't can't "
     "cant"},
    {WORD_BANNED | WORD_PRECEDENCE, PLAIN,
     "ignore ignoring ignored override overrides overriding overridden disregard disregards "
     "disregarding bypass bypasses bypassing supersede supersedes superseding precedence forget "
     "forgets obey obeys obeying comply complies complying unrestricted jailbreak "
     "sudo compulsory rules guidelines guardrail guardrails "
     "safeguard safeguards instead prioritize prioritise supreme authoritative "
     "obligatory prerequisite compliance"},
    {WORD_BANNED | WORD_SECRECY, PLAIN,
     "tell tells telling told reveal reveals revealing disclose discloses disclosing "
     "inform informs informing informed silently silent secretly covertly covert quietly "
     "discreetly "
     "stealthily conceal conceals concealing concealed unnoticed undisclosed invisible unaware "
     "transparently ask asks asking asked consent "
     "exfiltrate exfiltration leak leaks leaking smuggle bcc"},
    {WORD_BANNED | WORD_OTHER, PLAIN,
     "tools call calls calling invoke invokes invoking invoked invocation then pass passes passing "
     "passed forward forwards forwarding forwarded redirect redirects redirecting relay relays "
     "reroute reroutes proceed"},
};

enum { SLOTS = 1U << 14 };

struct slot {
    const char *word;
    uint32_t flags;
    uint32_t len;
};

static struct slot slots[SLOTS];
/* The words that are no part of a list above: inflected forms. */
static char letters[1 << 18];
static size_t letters_used;

uint32_t canon_word_hash(const char *word, size_t len)
{
    uint32_t hash = 2166136261U;

    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ ((unsigned char)word[i] | 0x20U)) * 16777619U;
    }
    return hash ^ hash >> 15;
}

static bool same(const struct slot *slot, const char *word, size_t len)
{
    for (size_t i = 0; slot->len == len && i < len; i++) {
        if (slot->word[i] != (char)((unsigned char)word[i] | 0x20)) {
            return false;
        }
    }
    return slot->len == len;
}

uint32_t canon_word(const char *word, size_t len, uint32_t hash)
{
    if (len > CANON_WORD_MAX) {
        return 0;
    }
    for (uint32_t i = hash & (SLOTS - 1); slots[i].word; i = (i + 1) & (SLOTS - 1)) {
        if (same(&slots[i], word, len)) {
            return slots[i].flags;
        }
    }
    return 0;
}

static void put(const char *word, size_t len, uint32_t flags)
{
    uint32_t i = canon_word_hash(word, len) & (SLOTS - 1);

    while (slots[i].word && !same(&slots[i], word, len)) {
        i = (i + 1) & (SLOTS - 1);
    }
    if (!slots[i].word) {
        if (letters_used + len > sizeof(letters)) {
            btz_panic("the words of canon are too many");
        }
        memcpy(letters + letters_used, word, len);
        slots[i] = (struct slot){letters + letters_used, 0, (uint32_t)len};
        letters_used += len;
    }
    slots[i].flags |= flags | WORD_KNOWN;
}

/* The word without its last `cut` letters and with `ending`. */
static void put_form(struct btz_str word, size_t cut, const char *ending, uint32_t flags)
{
    char form[64];
    size_t len = word.len - cut;
    size_t more = strlen(ending);

    if (len + more > CANON_WORD_MAX) {
        return;
    }
    memcpy(form, word.ptr, len);
    memcpy(form + len, ending, more);
    put(form, len + more, flags);
}

static bool is_vowel(char c)
{
    return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u';
}

static void put_s(struct btz_str word, uint32_t flags)
{
    char last = word.ptr[word.len - 1];
    char before = word.len > 1 ? word.ptr[word.len - 2] : 'a';

    if (last == 'y' && !is_vowel(before)) {
        put_form(word, 1, "ies", flags);
    } else if (last == 's' || last == 'x' || last == 'z' ||
               (last == 'h' && (before == 'c' || before == 's'))) {
        put_form(word, 0, "es", flags);
    } else {
        put_form(word, 0, "s", flags);
    }
}

/* stop, stopped: a short word that ends in one vowel and one consonant doubles it. */
static bool doubles(struct btz_str word)
{
    size_t n = word.len;

    return n >= 3 && !is_vowel(word.ptr[n - 1]) && is_vowel(word.ptr[n - 2]) &&
           !is_vowel(word.ptr[n - 3]) && !strchr("wxy", word.ptr[n - 1]);
}

static void put_endings(struct btz_str word, uint32_t flags)
{
    char last = word.ptr[word.len - 1];
    char twice[8] = {last, 'e', 'd', 0};

    if (last == 'e') {
        put_form(word, 0, "d", flags);
        put_form(word, 1, "ing", flags);
        return;
    }
    if (last == 'y' && !is_vowel(word.ptr[word.len - 2])) {
        put_form(word, 1, "ied", flags);
    } else {
        put_form(word, 0, "ed", flags);
    }
    put_form(word, 0, "ing", flags);
    if (doubles(word)) {
        put_form(word, 0, twice, flags);
        memcpy(twice + 1, "ing", 4);
        put_form(word, 0, twice, flags);
    }
}

static void put_list(const struct list *list)
{
    struct btz_str rest = btz_str_of(list->words);
    struct btz_str word;
    const uint32_t carried = list->flags & ~(uint32_t)(WORD_OPTION | WORD_STATES);

    while (btz_str_cut(&rest, ' ', &word)) {
        if (word.len == 0) {
            continue;
        }
        put(word.ptr, word.len, list->flags);
        if (list->form == NOUN) {
            put(word.ptr, word.len, WORD_NOUN);
            put_s(word, list->flags | WORD_NOUN);
        } else if (list->form == VERB) {
            put_s(word, list->flags | WORD_THIRD);
            put_endings(word, carried | WORD_INFLECTED);
        }
    }
}

static void fill(void)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        put_list(&lists[i]);
    }
}

void canon_words_hash(struct btz_hasher *hasher)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const uint32_t about[2] = {htole32(lists[i].flags), htole32((uint32_t)lists[i].form)};

        btz_hasher_add_part(hasher, (struct btz_str){(const char *)about, sizeof(about)});
        btz_hasher_add_part(hasher, btz_str_of(lists[i].words));
    }
}

void canon_words_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, fill);
}
