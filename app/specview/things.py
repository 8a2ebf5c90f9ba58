"""Nouns that test names are about; a row of words that ends in none of them is not taken for a noun phrase."""

from __future__ import annotations

from functools import lru_cache

from app.specview.listed import listed

NOUNS = listed("""
age sep iri src ctx cb seq tz sig basics removal arrival proposal renewal approval retrieval withdrawal disposal
obj desc kilobyte megabyte nanosecond gigabyte end self init str err char len iter doc repr help info msg debug
dump hex ref cert point system uint environ exec peek space cwd ext unix passthrough buf proto cap git dev gid
stat dep conn recovery encoding val envvar fmt noop reloader carriage uppercase lowercase vcs postfix pathinfo
ptr regexp sibling helper leak interop localhost rune java vec cmd conf redis timelimit bash specifier multidict
jdk shorthand builtin trailer overflow errback mongodb hashbang lint kwarg subcommand inet underscore exponent
hijack timedelta health coroutine power delim watchdog enhancer worktree greenlet cronspec fanout trail
eventloop alpha local macro dataclass allocator adversary net goroutine surrogate stringer escaper normalizer
synopsis diamond gradient img stylesheet media polyfill monorepo pragma netmask divider epilogue overlap salt
responder invariant roundtrip euro util spliterator accumulator forgery realm callsite biscuit hyphen horizon
garbage culprit barrier death bench stacktrace backquote vue initgroup linker backtracking autorun teardown
specifics basename dirname cookiejar opt globset charset iterable tokenizer lexer closure completion man search
display refresh replay run request support load restart rerun avatar popover homepage checkmark plane
abbreviation account ack acknowledgement action adapter address admin agent alarm album alert algorithm alias
allocation alphabet amount analysis ancestor anchor animation annotation answer app application argument arity
array arrow article artifact assertion asset attachment attempt attribute author axis backend background
backslash backtick backtrace badge balance bar base batch battery beat bit bitmap blob block blueprint board
body book bookmark bool boolean border bottom boundary box brace bracket branch broker browser bucket budget
buffer bug build builder bundle bundler button byte cache calendar call callable callback caller camera canvas
capacity card caret cart case category cell certificate chain change channel chapter character chart chat chord
checkbox checkpoint checksum child choice chunk city claim class clause client clipboard clock cluster coercion
codec collation collection collector color colour column combination comma command comment commit committer
community company comparator comparison compiler component composition computer concept condition config
conflict connection connector console constant constraint constructor consumer contact container content context
contract controller conversion converter cookie coordinate copy core corner count counter country coupon course
creation credential currency cursor curve customer cutoff cycle daemon dashboard dash database date datetime day
deadline deadlock decimal declaration decoder decorator definition delay delegate delimiter delivery delta demo
department dependency depth descendant description descriptor deserializer destination destructuring detail
detection developer device diagram dialog dialect dict dictionary diff difference digest digit dimension
direction directive directory discount disk dispatcher distance distribution docstring document domain dot
download draft driver dropdown dumper duplicate duration edge editor effect element email emitter employee
encoder endpoint engine enum entity entry environment epoch epsilon error escape estimate estimator evaluator
event example exception exchange exclusion exit expectation export exporter expression extension factory
fallback feature feedback feed field figure file filename filesystem filter fixture flag float fold folder font
footer fork form format formatter formula fraction fragment frame framework frequency friend function future
gallery game gap gateway generator gesture getter glob graph grammar grid group guard guest guide handle handler
handshake hash head header heading heap heartbeat height hint history home hook host hostname hour hub icon
identifier identity image implementation import importer inclusion increment indent index indicator initializer
injection input inspector installation instance instruction int integer interceptor interface interval
invitation invocation invoice island issue item iteration iterator job journal key keyboard keyword kind label
lambda lane language layer layout leader leaf lease length letter level lib library licence license lifecycle
limit line link list listener literal loader locale location lock logger login logo lookahead lookup loop
machine mailbox manager manifest manifold map mapper mapping margin marker market mask matcher match matrix
maximum measure median member memory menu merchant mesh message metaclass meta method metric middleware
migration millisecond minimum minute mismatch mixin mock modal mode model modifier module moment monitor month
mouse movie mutation mutex name namespace network newline node notation note notification number object observer
offset offer operand operation operator option optimizer order organization origin outcome outlet output owner
package packet page pagination pair palette panel panic paper paragraph parameter param parent parenthesis
parser part participant partition partner password patch path pattern payload payment peer percentage period
person phase phone picker picture piece pipe pipeline pixel placeholder plan platform player plugin pointer
policy poller poll pool popup port position post postcode precondition predicate prefix preference preprocessor
presence preset preview price primitive printer priority privilege problem procedure process processor producer
product profile profiler program progress project promise prompt proof prop property protocol provider proxy
publisher purchase purpose quarter query question queue quota quote race range rank rate rating ratio reader
reason receipt receiver recipe recipient record recorder rectangle recursion redefinition reducer redirect
reference refund region registration registry regression relation relationship release renderer repetition
replacement replacer replica reply report reporter repository requirement resampler reset resolution resolver
resource response result resume retriever revision reward right ring role room root rotation round route router
routine row rule runner runtime salary sale sample sanitizer scalar scale scanner scenario schedule scheduler
schema scheme scope score screen screenshot script scroller seat second section sector secret segment selection
selector semaphore semicolon sender sensor sentence separator sequence serializer server service session setter
setting severity shape share shell shift shop shortcut shutter sidebar side sign signal signature simulation
singleton site size skeleton slash slice slider slot slug snapshot snippet socket solution sorter source span
specification spec speed spinner spy stack stage stamp standard star start state statement statistic status step
store story strategy stream string structure struct student style stub subclass subdirectory subdomain
subexpression subfolder subgraph subject submission submodule subnet subscriber subscription subset substring
subsystem subtask subtest subtotal subtree suffix suggestion suite sum summary supplier surface symbol symlink
table tab tag tail target task taxonomy team template tenant term terminal terminator test text theme thread
threshold ticket tier tile timeout timeline timer timestamp timezone title toast token toggle toolbar tool
tooltip topic total trace traceback tracker tradeoff transaction transformer transform transition translation
translator transport traversal tree trend trigger trip tuple tutorial type unit update upgrade uploader usage
user username utility validator value variable variant vector vendor verb verification version vertex video view
viewer viewport violation visitor voice volume vote voucher wallet warning watcher week weekday weight wheel
whitespace widget width wildcard window wizard word worker workflow workspace world wrapper writer year zone
bound callee checker crontab exhaustion election colon accessor sentinel microsecond deduplication alignment
backoff countdown jitter keyring lifetime lookbehind mailer nonce passphrase payee permalink pin ping pong
prefetch quorum rebalance reconnection redelivery retention runbook seed shard sink sitemap spreadsheet
stopwatch subprocess superclass supervisor jar lid bin bag bottle door knob chair desk lamp car truck road
bridge river flower dog cat bird fish house floor wall roof garden kitchen family mother father brother sister
teacher school lesson pen newsletter guardrail breadcrumb carousel accordion chip drawer ribbon stepper banner
hyperlink datum thumbnail caption logout signup checkout wishlist shipment parcel tracking ledger moderator
maintainer contributor reviewer approver pull merge rebase hunk spellcheck tempfile env var fn arg dir func attr
repo pyfile throttle tombstone topology tracer trie typo unmarshaler marshaler upsert webhook workbook xpath
yaml zipfile exc tarball tarfile
""")
_ENDINGS = tuple(
    sorted(
        listed("""
tion sion ment ness ity ance ence ship hood ism ology ography ware name path file code list type time set map
line point error dir size id url key string
""")
    )
)


@lru_cache(16_384)
def is_noun(word: str) -> bool:
    """Whether a lower-case word is known as a noun, by itself or by its end; a plural as its singular."""
    if word in NOUNS or (len(word) > 5 and word.endswith(_ENDINGS)):
        return True
    if word.endswith("ies") and is_noun(word[:-3] + "y"):
        return True
    if word.endswith("es") and (word[:-2] in NOUNS):
        return True
    return word.endswith("s") and not word.endswith("ss") and len(word) > 3 and is_noun(word[:-1])
