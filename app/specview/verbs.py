"""Verbs that test names use, by what they do in a sentence."""

from __future__ import annotations

from app.specview.listed import listed

_MAINLY_VERBS = listed("""
cap fallback lookup exhaust compose nest favor favour localize dispose recurse intercept postpone dominate
rescan revalidate advertise equate autocorrect downgrade regenerate redefine differentiate substitute propose
limit concat transition deal peek dump leak mix trap probe exec help debug say span cover spawn vary consult
surface narrow widen reside jsonify invert pickle unpickle marshal unmarshal deselect evict refute pay raise
include declare eval scaffold disambiguate tap hover drag swipe press pinch zoom blur type purchase charge earn
spend win arrive depart travel rent borrow lend owe refer invite join vote rate rank archive unarchive publish
unpublish approve reject reopen escalate mute unmute pin unpin star unstar mangle login logout autoload detach
hold bump infer negate abort accept access accumulate acknowledge acquire activate adapt add adjust advance
affect aggregate align allocate allow announce annotate append apply ask assert assign assume attach attempt
authenticate authorize avoid await backfill become begin behave belong bind block blow break bring browse bubble
build bypass calculate cancel capture carry cast catch cause check choose clamp clean clear click clone close
coalesce coerce collapse collect combine come compare compile complete compute concatenate configure confirm
connect consider consist construct consume contain continue convert copy create crash decode decompress decrease
decrement decrypt deduplicate default defer define delegate delete deliver deny depend deprecate describe
deserialize destroy detect determine differ disable disallow disappear discard disconnect discover dispatch
display distinguish distribute download drain drop duplicate edit eject emit enable encode encrypt enforce
enqueue ensure enter escape establish evaluate exceed exclude execute exist exit expand expect expire explain
expose extend extract fail fall fetch fill find finalize finish fire fit fix flatten flush focus follow forbid
force forget forward freeze fulfil fulfill generate get give go grant guess handle happen hash hide highlight
hoist honor honour identify ignore implement imply increase increment indicate inherit initialize inject insert
inspect install instantiate interpolate intersect invalidate invoke isolate iterate keep kill know lead leave
let link list listen load locate log look loop lose lower make mark match mention merge migrate minify mock
modify mount move mutate navigate need negotiate normalize notice notify obey obtain occur omit open optimize
order output overflow override overwrite parse pass patch pause perform persist pick pluralize poll pop populate
prefer prefix prepare prepend preserve prevent print prioritize proceed process produce profile prompt propagate
protect provide prune purge push put query quit quote reach react read reanalyze receive recognize recommend
reconnect record recover redirect reduce reflect refresh refuse register release reload remain remember remove
rename render repeat replace reply report represent request require reset resize resolve respect respond restart
restore restrict resume retain retrieve retry return reuse revert revoke rewind rewrite roll rotate round run
sanitize satisfy save scan schedule scroll search select send separate serialize serve set shadow share show
shut shutdown silence skip slice sort specify split start stay stop store stream strip stub submit subscribe
subtract succeed supply support suppress survive suspend swap switch sync synchronize take tear tell terminate
throttle throw tie timeout toggle tolerate track transfer transform translate transpile traverse treat trigger
trim truncate try turn unbind uncompress understand unescape unfold unhandle uninstall unload unlock unmount
unpack unregister unset unsubscribe unwind unwrap update upgrade upload use validate verify visit wait walk want
warn work wrap write yield zip swallow coincide hydrate prerender preload prefetch dedupe compress decorate
evolve ship stringify tokenize unquote assemble bisect reraise rethrow respawn reschedule requeue cope interact
operate reassign recompute rebuild recreate reindex reap recycle reclaim prohibit promote qualify replicate
rehash reconcile reformat relate rely repair resend resemble reserve settle shift sign simulate sleep snapshot
stack steal stick suggest summarize surround suffice tick touch trace trust tune unwatch upsert warm
""")

#: those of them that are as often nouns; alone at the start or in -s they decide nothing
NOUNS_TOO = listed("""
cap fallback lookup limit transition deal peek dump leak mix trap probe exec help debug substitute
panic error tap hover drag press zoom blur type rate rank star pin vote charge purchase travel rent win loop
pull handle click login logout select import export commit call case set support hold change matches log access
block break build bump cache cast catch cause check clone close copy crash default display download drop
duplicate edit exit fall fetch filter fire fix flush focus force format function group hash highlight index
input insert install issue join kill lead link list load look map mark match mention merge mock mount move name
need notice open order output override overflow pass patch pause poll pop prefix print process profile prompt
push query queue quote range reach read record redirect release reload reply report request reset respect
restart result resume retry return reuse rewrite roll round route run sample scan schedule scope score screen
scroll search segment send shadow share shift show sign signal silence skip sleep slice snapshot sort source
split stack start state stay stop store stream strip stub supply swap switch sync test throw tick tie time
timeout toggle touch trace track transfer transform trigger trim trust turn update upgrade upload use view visit
wait walk warm work wrap write yield zip shutdown repeat reserve rebuild repair
""")

#: verbs that take no object, so that none is looked for
INTRANSITIVE = listed("""
prompt expire arrive appear behave belong come consist crash depend differ disappear exist fail fall finish go
happen interact listen look navigate occur operate persist proceed rely remain respond scroll sleep succeed
survive wait work
""")

#: bases that may open a name as a verb
VERBS = _MAINLY_VERBS | NOUNS_TOO | INTRANSITIVE

#: of NOUNS_TOO, those that open a name as verbs when something follows that they can act on
MOSTLY_VERBS = listed("""
fall raise handle select need call change build catch close copy display download edit exit fetch fix flush get
insert install join kill load mark merge move notice open override pass pop print push reach read release reload reset
restart resume return reuse rewrite run scan send set show skip sort split start stop store submit support swap
switch throw toggle transfer transform trim turn update upgrade upload use wait walk work wrap write yield
search
""")

#: of NOUNS_TOO, those that open a row of nouns as easily: `request body`, `cache key`
NOUNS_FIRST = listed("""
fallback lookup limit transition exec help debug
error duplicate import export retry sort build merge search upgrade update access block cache class default
display file function group hash highlight input issue key link list log login logout loop mock name order
output patch process profile query queue request result range reply schedule score screen segment session share
signal snapshot source stack state store stream time timeout trace type upload user view download
""")

#: verbs whose object is new: `throws an error`
INDEFINITE = listed("""
accept allow contain create declare define emit expect generate need obtain produce raise receive reraise
require return support throw yield use take build instantiate
""")

#: bases that open a function's name as well as an adjective, a noun or the name of another function
UNSURE = listed("""
eval read write jsonify run start stop mark release clean complete separate lower free fit live double advance
repeat reverse duplicate assert refute expect own mean empty slow correct present
""")

DOUBLED = listed("""
get set put run stop begin split drop trim skip strip map wrap submit commit permit emit omit refer transfer log
plug tag flag swap ship snap step stub scan plan pin quit hit let cut shut win forget reset unset format pop zip
unzip unwrap forbid prefer occur debug sum rededup unplug unship
""")

#: parts of a page or a program, which verbs name: `retry button`, `append method`
PARTS = listed("""
hook hooks function functions plugin plugins error errors callback callbacks handler handlers class classes type
types name names test tests badge badges banner bar box button buttons control controls count counts date dialog
dialogs field form icon icons indicator input item items label link links list menu message messages modal
options page panel picker popup prompt prompts screen section sections method argument option property attribute
flag mode event operation call action key value settings tab time toggle tooltip
""")
