/**
 * Words for the same thing in programming, in groups: the first word is related to all the others, which are
 * not to each other. A group with `>` leads from the words before it to those after it only.
 */
export const groups: ReadonlyArray<string> = `
wait await block suspend pause; sleep delay pause wait; async asynchronous promise;
parallel concurrent concurrency simultaneous; sequential serial ordered; abort cancel interrupt kill terminate;
stop end halt quit exit finish terminate; finish complete end done; begin start launch boot init initialize;
run execute perform invoke evaluate; call invoke apply; fork spawn background; background daemon detach;
thread worker fiber; task job fiber; lock mutex semaphore exclusive; permit semaphore slot;
limit max maximum bound cap restrict; min minimum least; rate throttle limiter; debounce quiet settle;
retry reattempt again; repeat recur loop again; loop iterate each; schedule cron periodic interval; every each all;
night day week hour minute > schedule cron; recurring repeat schedule; timeout deadline expire; expire ttl expiry;
ttl live expiration; backoff exponential; fast quick eager; slow lazy; lazy defer suspend; immediate eager now;
race first fastest winner; later delay defer; cache memoize remember memo; reuse share cache; share common shared;
error failure exception fault; fail reject throw crash; throw raise fail; crash defect die panic; bug defect;
catch handle recover rescue; recover fallback catch; fallback default alternative orelse; ignore swallow skip discard;
skip omit ignore; message text; reason cause; stacktrace stack trace; pretty readable human format;
readable pretty format; print show display output write; warn warning; log logger logging; trace span tracing;
monitor metric observe; metric gauge counter histogram; measure time duration metric; count counter frequency total;
profile benchmark; resource handle; acquire obtain allocate; release dispose close free finalizer cleanup;
cleanup finalizer dispose release teardown; close shutdown dispose; shutdown close terminate; destroy dispose remove;
scope lifetime; setup init initialize before configure; teardown cleanup after; add append insert push;
append push concat; insert add put; remove delete drop discard; delete remove unlink drop; discard drop ignore;
replace substitute swap update; change update modify mutate replace; update modify patch; modify alter update;
edit change update; create make construct new build; build construct make create; generate create produce;
produce emit generate; copy clone duplicate; clone copy; get retrieve obtain fetch read; fetch get load request;
set assign put; read load get; write save store; save persist store write; store persist save keep;
load restore read import; restore load recover; persist store durable; keep retain filter; find search lookup locate;
search find query; lookup find get; query search select; select pick choose; pick select choose; choose select pick;
filter where keep; exclude omit without; include contain; contain include has; compare equal equivalence order;
equal same equivalence; same equal identical; different distinct differ; diff difference patch; sort order;
order sort; reverse invert; sum add total accumulate; accumulate fold reduce; aggregate fold reduce combine;
fold reduce accumulate; reduce fold accumulate; average mean; multiply times product; divide division;
round floor ceil; random arbitrary; arbitrary generator; seed random; combine merge join zip; merge combine join;
join concat merge; concat append join; concatenate concat append; zip pair combine; pair tuple;
split divide separate partition; partition split group; separate split; group batch chunk; batch bulk chunk group;
chunk batch piece; flatten flat; nested inner deep; map transform; transform convert map; convert transform turn;
turn convert transform; translate convert; wrap lift; unwrap extract; extract get; unique distinct duplicate dedupe;
duplicate unique distinct; deduplicate dedupe unique; dictionary map record hash; object struct record;
struct object record; list array; array list; collection iterable array; element item entry value; item element entry;
entry item element; key identifier id; property field key attribute; field property key; attribute property;
member property; first head; last tail; rest tail remaining; empty blank; length size count; size length;
index position; range between; queue channel buffer; buffer queue; publish broadcast emit;
broadcast publish multicast; subscribe listen; subscriber listener consumer; listener handler; listen subscribe;
consumer subscriber; producer publisher; event message; notify publish signal; emit dispatch publish; channel queue;
stream flow; pipe chain; pipeline pipe; backpressure bounded; text string; string text; character char;
lowercase lower; uppercase upper; trim strip; substring slice; regex regexp pattern; match pattern test;
pattern match; template interpolate; number numeric int integer; integer int; decimal float; float decimal;
boolean bool flag; null nullable undefined nullish; optional maybe option; maybe option optional;
missing absent undefined none; absent missing none; required mandatory; mandatory required; default fallback;
exhaustive exhaust; case branch; condition if predicate; predicate condition; check validate test verify;
validate check verify validation; verify check validate; assert ensure expect; ensure guarantee assert;
guard predicate refine; constraint refine restrict; refine filter; schema shape; type kind; interface type;
generic parameter; enum literal; literal constant; constant const literal; class constructor; constructor make;
instance object; tag discriminator; discriminate tag; union either; brand nominal; serialize encode stringify;
encode serialize; stringify serialize encode; deserialize decode parse; decode parse deserialize; parse decode;
compress gzip; hash digest; encrypt cipher; sign signature; binary bytes; base64 encoding; json stringify; xml html;
file filesystem; directory folder; folder directory; path filename; temporary temp tmp; watch observe monitor;
permission access; upload multipart; download fetch; http request; request http; url uri; host origin; endpoint route;
route router path; router route; server serve listen; serve server; client consumer; connect connection open;
connection socket connect; disconnect close; proxy tunnel; header headers; cookie session; body payload;
payload body data; response reply; reply response; redirect follow; token bearer; bearer authorization token;
authenticate auth authorization login; login auth authenticate; auth authorization authenticate;
secret redacted sensitive password; password secret redacted credential; sensitive redacted secret; hide redact mask;
mask redact hide; credential auth secret; websocket socket; socket connection; middleware interceptor;
intercept interceptor mock; hook callback; callback function handler; handler callback; function callback;
argument parameter arg param; parameter argument param; option flag setting; flag option; setting option config;
config configuration settings; configure config options; env environment; environment env; variable env; command cli;
cli command; terminal console tty; console terminal; prompt input ask; input stdin; output stdout;
subprocess child process spawn; process subprocess; signal interrupt; mock fake stub; fake mock stub; stub mock fake;
spy mock; test spec; suite describe; snapshot record; coverage report; fixture setup; expect assert;
simulate mock fake; replay rerun; shrink minimize; counterexample failing; clock time timer; timer clock;
date datetime; datetime date; timezone zone; calendar date; duration interval; now current; today date;
database sql db; db database sql; table schema; transaction atomic; atomic transaction; migrate migration; row record;
pool connection; dependency service; service dependency; inject provide; provide inject supply; supply provide;
implementation layer; implement provide; module package import; import module; export expose; plugin extension;
extend extension; override replace; custom own user; own custom; autocomplete suggest suggestion complete;
suggest autocomplete; fuzzy approximate; rank score; boost weight; weight boost; page pagination; state ref;
mutable ref; variable ref; global singleton; singleton shared; once single; single one; multiple several many;
several multiple many; many multiple; list enumerate; enumerate list; offer provide; available list; tree graph;
node vertex; parent ancestor; child descendant; recursive recursion; cycle circular; safe safely; unsafe dangerous;
sync synchronous; upgrade migrate; version semver; document doc record; documentation docs; example sample;
sample example; inspect debug; debug inspect
`.trim().split(/;\s+/)

/** Phrases of a question, with words that documentation has for them; `-` has none, as it says nothing. */
export const phrases: ReadonlyArray<string> = `
add up: sum total reduce; sum up: sum total; at most: max limit bounded; no more than: max limit; up to: max limit;
at least: min minimum; more than one: multiple; a maximum of: max limit;
at the same time: concurrent parallel concurrency; at once: concurrent parallel;
in parallel: concurrent parallel concurrency; one by one: sequential; one at a time: sequential exclusive;
one after another: sequential; one after the other: sequential; step by step: sequential;
in the background: fork background daemon; over and over: repeat; again and again: repeat; time out: timeout;
times out: timeout; too long: timeout; time limit: timeout; per second: rate throttle; per minute: rate throttle;
for a while: duration; from time to time: schedule repeat; every night: schedule cron; every day: schedule cron;
on a schedule: schedule cron; try again: retry; back off: backoff; give up: timeout fail; fail fast: bail abort;
keep going: continue ignore; go on: continue; go wrong: fail error; goes wrong: fail error; fall back: fallback;
falls back: fallback; shut down: shutdown; clean up: cleanup finalizer release; set up: setup; tear down: teardown;
look up: lookup; looks up: lookup; log in: login auth; log out: logout; sign in: login auth;
must be: required mandatory; has to be: required mandatory; have to be: required mandatory; turn into: convert;
convert to: convert to; make sure: ensure assert; makes sure: ensure assert; get rid of: remove delete;
throw away: discard drop; leave out: omit exclude; take care of: handle; find out: detect; keep track of: track;
wait for: await wait; waits for: await wait; run once: once; only once: once; as soon as: first immediate;
regular expression: regex regexp pattern; regular expressions: regex regexp pattern; command line: cli command;
environment variable: env environment; environment variables: env environment; key value: keyvalue record map;
time zone: timezone zone; ctrl c: interrupt signal sigint shutdown; control c: interrupt signal sigint shutdown;
server sent events: sse eventstream; type safe: typed; side effect: effect;
dependency injection: service layer provide; hello world: example basic; how do i: -; how do you: -; how do we: -;
how can i: -; how can we: -; how to: -; how would i: -; how should i: -; how does one: -; what is the way to: -;
what is the best way to: -; what is a good way to: -; best way to: -; is there a way to: -; is there any way to: -;
is it possible to: -; i want to: -; i need to: -; i would like to: -; can i: -; show me: -
`.trim().split(/;\s+/)
