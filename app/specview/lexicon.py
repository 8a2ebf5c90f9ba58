"""The words that a sentence is recognised by: function words, adjectives, and nouns that take no article."""

from __future__ import annotations

from app.specview.listed import listed

PREPOSITIONS = listed("""
about with without for from in into on onto at by of to as via after before during between within outside inside
under over through across against per than like until since upon behind beyond using excluding including
alongside around among above below near toward towards except besides despite
""")
CONJUNCTIONS = listed("and or but nor")
SUBORDINATORS = listed("""
how what which who when if unless while whenever once because whether where until after before since though
""")
DETERMINERS = listed("""
the a an this that these those its their his her our your my all any each every some both no another either
neither multiple many several one two three four five six seven eight nine ten
""")
PRONOUNS = listed("it itself them they he she you we i something nothing everything anything none")
MODALS = listed("can could should must will would may might cannot shall")
BE = listed("is are was were")
AUXILIARIES = listed("has have had does do did")
#: how names without an apostrophe write their negations
NEGATIONS = {
    "doesnt": "does not",
    "dont": "do not",
    "didnt": "did not",
    "isnt": "is not",
    "arent": "are not",
    "wasnt": "was not",
    "werent": "were not",
    "cant": "cannot",
    "wont": "will not",
    "shouldnt": "should not",
    "mustnt": "must not",
    "hasnt": "has not",
    "havent": "have not",
    "couldnt": "could not",
    "wouldnt": "would not",
}
ADVERBS = listed("""
not only also always never still just already again even too now then first last once twice immediately
everywhere anyway together instead correctly properly otherwise here there back away
""")
PARTICLES = listed("up away back over")

ADJECTIVES = listed("""
longer illegal lenient auto exact present compact current quiet independent backward exclusive numeric parallel
inner legacy soft arbitrary pure alive runnable greater pretty supplementary comparable exponential nonzero
premature indirect classic high unbound live best general applicable friendly feasible unreachable noisy larger
multidimensional inaccessible atomic exhaustive hot invisible nonstreaming assignable hierarchical existent
retryable busy fast uncaught cyclic graphic forbidden smart dead suspicious periodic concrete reusable abstract
dummy fractional intermediate scientific greedy unhashable symbolic alternating adhoc appropriate nonunique
contiguous deterministic excessive huge lone overlapping continuous experimental acceptable reentrant
serializable bigger underlying lossy inconsistent nonexisting nonexistent graceful infectious loose singular
isomorphic bare lowest crazy fake impossible durable incomplete helpful transitive instant accessible automatic
meaningful absent unnecessary legitimate middle deeper plural alternate actual default light dark bright
read-only read-write concurrent frequent recent consecutive subsequent adjacent persistent transparent redundant
equivalent ancient significant relevant dominant constant distant distinct strange odd even prime ordinary
official chronological alphabetical numerical optimal ideal typical critical vital essential unavailable
unauthorized unauthenticated authenticated verified unverified anonymous monthly yearly weekly daily hourly
quarterly annual aware naive duplicate multi non sub pre post anti linear simultaneous harmless useless absolute
active additional available bad basic big binary blank bogus broken case-sensitive caseless circular compatible
complete complex conditional consistent correct corrupt custom deep different direct dirty double due dynamic
eager early empty equal existing expensive explicit external extra falsy fatal few final flat foreign fresh full
generic global good hard idempotent identical immutable implicit incorrect infinite initial insecure insensitive
internal invalid large late lazy legal local long low lower malformed many manual max maximum min minimal
minimum missing mixed multiple mutable native negative new nested normal old optional original other partial
permanent plain positive possible previous private proper public random raw readable ready real recursive
regular relative remote safe same secure sensitive separate short silent similar simple single slow small
special specific stable stale standalone standard static strict strong successful synchronous temporary top
trailing transient true truthy unchanged unexpected unique unknown unsafe unstable untouched unused upper useful
valid various verbose virtual visible weak weird whole wide wild wrong asynchronous async sync callable iterable
pickleable hashable configurable deprecated writable executable
""")
#: nouns that are written in -ed or -ing or -s and are none of these forms
NOT_PARTICIPLES = listed("need seed feed embed speed red id shed bed breed weed indeed fed")
IRREGULAR_PARTICIPLES = listed("""
used tied died owed given taken sent found lost written thrown shown hidden broken built made kept left held
seen known drawn chosen frozen caught bound born begun done gone grown meant met sold told thought understood
undefined overridden rewritten set unset reset split read put cut hit
""")
#: singular in spite of their -s
NOT_PLURALS = listed("""
address alias analysis atlas axis basis bias bus bypass canvas chaos class compress consensus cors cross css
diagnosis dns express focus gas glass https kubernetes less loss mass pass previous process progress regress
regex radius redis rails series status stress success synopsis syntax this tls toss various virus does is was
has its as us ms js os always across access news numeric pos ops args kwargs plus sms aws
""")
PLURALS = listed("""
args kwargs ops children people data criteria media nulls indices vertices params opts props deps
""")
#: these take no article
UNCOUNTED = listed("""
silence patience access backlog auth inclusion accounting activity advice authentication authorization
autoloading availability backoff behavior behaviour bandwidth caching chaining cleanup code collation
compatibility compilation compression concurrency configuration consistency content control coverage css data
debugging decoding decompression deletion deprecation deserialization discovery documentation efficiency
encoding encryption equality escaping evaluation execution existence expiration expiry feedback filtering
formatting functionality generation growth handling hardware hashing html html5 http https hydration idempotency
indentation info information inheritance initialization input inspection instrumentation integration interpolation
invalidation isolation iteration javascript json latency logging markdown matching memory metadata minification
mutability mutation navigation nesting normalization notation ordering output overflow ownership padding parity
parsing performance persistence polling precedence precision privacy processing progress propagation punctuation
python quality recursion redirection registration rendering replication resolution rotation routing ruby rust
safety scheduling security serialization shutdown software sorting space spacing stability storage streaming
subclassing substitution success support syntax synchronization text throughput time tracking traffic
transformation truncation typescript unicode usage utf validation versioning visibility whitespace work xml yaml
toml csv jsx tsx sql none null nil true false undefined zero nan infinity failure mobile desktop production
development runtime startup teardown setup grpc tls ssl dns tcp udp ipv4 ipv6 utf8 ascii base64 gzip brotli zlib
stdin stdout stderr korean english anonymous everything nothing something latin greek arithmetic sensitivity
localhost health middleware inlining hoisting truth tree-shaking evidence context-copying indexing backtracking
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
september october november december midnight noon
""")
#: what follows a noun and says more of it: `a folder containing files`
TRAILING = listed("""
approaching reaching exceeding entering leaving belonging requiring needing providing following containing
having returning raising representing pointing starting ending being
""")
