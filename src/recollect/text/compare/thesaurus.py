"""Words that say the same in an engineer's rule, and the base forms of irregular verbs.

Deliberately small: a pair belongs here when the one can stand for the other in nearly every rule, not in one. Names of
things to choose between ("main", "master") never do. Knows nothing about stems or sentences.
"""

_GROUPS = """
admin administrator | allow permit | app application | approve permission consent authorize | ask request prompt |
async asynchronous | attempt try | auth authentication | beside next near | big large huge |
body payload | bug defect | call invoke | change edit modify alter update | check verify confirm look validate |
choose pick select | combine join | concurrent parallel simultaneous | config configuration |
contain include comprise | crash panic | dangerous unsafe destructive | db database |
decrease reduce lower decrement | delete remove erase drop purge cleanup | dir directory folder |
doc document note | email mail e-mail | embed embedding | empty blank | endpoint route |
engineer programmer | env environment | expiry expire | expose reachable accessible | fetch retrieve obtain load |
field attribute property | finish complete done end | fix repair resolve | flag toggle | free release |
function method | hide mask conceal | id identifier | image picture | immediate instant | incident outage |
increase raise bump increment | info information | keep retain retention preserve | last latest newest recent |
latency delay | lib library | limit cap restrict | list array |
longer above exceed larger bigger greater min minimum least | manual hand | map dict dictionary | memory ram |
missing absent | notify alert tell | often frequent | old stale outdated obsolete | param parameter argument |
password passphrase | path location | perf performance | person human somebody someone | prod production |
protect guard | publish emit | quick fast rapid | refresh reload | reply answer respond | repo repository |
require mandatory necessary compulsory obligatory | restart reboot | rollback revert undo | row record |
run execute | same identical equal | secret credential | see view | separate split divide |
several multiple many multi | ship deploy rollout |
short shorter under below less fewer smaller max maximum most | show display | small tiny little |
spec specification | start begin launch boot | stop halt abort | store save put | straight direct | suite test |
sync synchronous | temp temporary | treat consider regard | var variable | watch monitor | wrong incorrect
"""
_VERBS = """
begin began begun | break broke broken | bring brought | build built | buy bought | catch caught |
choose chose chosen | come came | draw drew drawn | drive drove driven | fall fell fallen | find found |
forget forgot forgotten | freeze froze frozen | get got gotten | give gave given | go went gone |
grow grew grown | hide hid hidden | hold held | keep kept | know knew known | lead led | leave left | lose lost |
make made | mean meant | meet met | pay paid | ride rode ridden | rise rose risen | run ran | say said |
see saw seen | seek sought | sell sold | send sent | shake shook shaken | show shown | sleep slept |
speak spoke spoken | spend spent | stand stood | steal stole stolen | take took taken | teach taught | tell told |
think thought | throw threw thrown | understand understood | wake woke woken | write wrote written
"""


def _split(groups: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(group.split()) for group in groups.split("|"))


SYNONYMS = _split(_GROUPS)
IRREGULAR = {form: base for base, *forms in _split(_VERBS) for form in forms}
