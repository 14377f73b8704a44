"""The shapes of secrets: tokens known by a vendor's prefix, and values known by the name, URL or header beside them.

Nothing here is a secret; prefixes, lengths and alphabets are publicly known. Patterns are RE2 over the bytes of a text
and see ASCII. The part to hide is the first group that took part in the match, or the whole match. A class that takes
in non-ASCII bytes has no upper length, else a match could end inside a character; nor has a token that its vendor says
may grow. Whether a value is only a placeholder is decided in `text/secret_guards`.
"""

from collections.abc import Callable, Iterator

from recollect.core.records import record
from recollect.text import secret_guards


@record
class Shape:
    kind: str
    pattern: str
    hints: tuple[bytes, ...]
    """In any case; a text without any of them is not searched for this shape."""

    guard: Callable[[str], bool]
    """Rejects a match that is not a secret."""

    named: bool
    """Known by the name before it. What looks like its value may be the next name: `password = token = …`."""


# Where a token without a telling prefix may begin: at a word's edge, after an escaped line break, after %3D.
EDGE = r"(?:\b|\\[nrt]|%[0-9A-Fa-f]{2})"
# The same for tokens that a long base64 text may hold by chance.
APART = r"(?:(?m:^)[+-]?|[^A-Za-z0-9+/_-]|\\[nrt]|%[0-9A-Fa-f]{2})"

# Characters as they are, as JSON escapes them and as a URL does.
SLASH = r"(?:\\{0,4}/|%2[Ff])"
COLON = r"(?::|%3[Aa])"
DOLLAR = r"(?:\$|%24)"
TILDE = r"(?:~|%7[Ee])"
AT = r"(?:@|%40)"
BASE64 = r"(?:[A-Za-z0-9+/]|\\{1,4}/|%2[BbFf])"
PADDING = r"(?:=|%3[Dd]){0,2}"

UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


_SECRET_BLOCK = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1"
_PEM_BEGIN = rf"-----BEGIN (?:{_SECRET_BLOCK})-----"
_PEM_END = rf"-----END (?:{_SECRET_BLOCK})-----"
_PEM_BREAK = r"(?:\s|\\{1,8}[nrt]|[\"'+,|>]){1,16}"
_PEM_HEADER = r"[A-Za-z-]{3,20}: [A-Za-z0-9,. -]{1,100}"

_BREAK = r"(?:[\s+>|]|\\{1,4}[nrt]){1,16}"
_SPACE = r"(?:[ \t]|%20|\+){1,4}"
_QUOTE = r"(?:\\{0,7}[\"'`]|&quot;|&#3[49];|%2[27])"
_OPTIONAL_QUOTE = _QUOTE + "?"

# The characters between a name and its value, in JSON, YAML, TOML, shell, URLs and (typed) code.
_ASSIGN = (
    _OPTIONAL_QUOTE
    + r"\]?[ \t]{0,8}(?::=|=>|[=:]|%3[Dd]|:[ \t]?[A-Za-z_][\w.\[\] |]{0,30}=)[ \t]{0,8}(?:[|>]-?\n\s{1,12})?"
)


def _quoted(least: int) -> str:
    """A value in quotes, which a string inside a string escapes."""
    return (
        rf"[bruf]{{0,2}}(?:\\{{0,7}}\"((?:[^\"\\\r\n]|\\[^\"\\nrtu]){{{least},}})"
        rf"|\\{{0,7}}'((?:[^'\\\r\n]|\\[^'\\nrtu]){{{least},}})"
        rf"|`([^`\\\r\n]{{{least},}}))"
    )


def _bare(least: int) -> str:
    return rf"(?:&quot;|&#3[49];|%2[27])?([^\s\"'`,;&<>\\]{{{least},}})"


_STAGE = r"(?:[_.-]?(?:value|prod|dev|test|live|[0-9]{1,2}))?"
_PASSWORD_NAME = (
    r"(?i)(?:password|passwd|passphrase|passcode|passwort|kennwort|mot de passe|contrase\xc3\xb1a|senha|"
    r"wachtwoord|has\xc5\x82o|heslo|l\xc3\xb6senord|\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c|"
    r"\xe5\xaf\x86\xe7\xa0\x81"
    r"|[_-]pwd|\bpwd|\bpw|[_-]pass|\bpass|(?:store|key)pass)" + _STAGE
)
_KEY_NAME = (
    r"(?i)(?:(?:api|access|private|auth|signing|encryption|account|shared|master|service|app|application|functions?"
    r"|subscription|consumer|client|admin|integration|ingest(?:ion)?|write|storage|hmac|jwt|webhook|"
    r"deploy|bot|server|sdk"
    r"|rest|preshared|pre-shared|license|partner|merchant|instrumentation)[_. -]?key(?:[_-]data)?"
    r"|token|secret(?:[_.-]?(?:key|base|string)){0,2}|credentials?|\bpsk|schl\xc3\xbcssel|(?-i:\b_auth|"
    r"[A-Z]_AUTH|KEY_PRIVATE|_COOKIE))" + _STAGE
)
# "the password for the lab is …", and so in the languages of its neighbours; "I set the password to …"
_IS = (
    r"(?:[ \t]{1,4}(?:for|of|to|on|at|in|from|do|de|du|des|del|della|der|do|da|f\xc3\xbcr|vom|zum|we|you|"
    r"i)[ \t][^\r\n\"'`:=]{1,60}?)?"
    r"[ \t]{1,4}(?:is|was|to|now|=|:|->|\xe2\x86\x92|ist|lautet|est|es|\xc3\xa8|\xc3\xa9)[ \t:]{1,4}(?:now[ \t])?"
)
_SECRET_WORD = r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|[_-]key|credentials?|private)"
_PASSWORD_HINTS = (
    "pass pwd pw kennwort contrase senha wachtwoord has\u0142o heslo senord \u043f\u0430\u0440 \u5bc6\u7801"
)
_KEY_HINTS = "key secret token credential _auth psk schl cookie"

# Each shape: kind, hints, pattern, and its guard where that is not `not_a_placeholder`, two spaces between them. An
# indented line goes on with the line before. Of two shapes that begin at the same place the earlier names the marker.
_TABLE = r"""
jwt  eyj  (eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})
aws-access-key  akia asia abia acca  <edge>((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b
aws-bedrock-key  absk  <apart>(ABSK<base64>{100,}<pad>)
google-api-key  aiza  <edge>(AIza[A-Za-z0-9_-]{35})
google-oauth-secret  gocspx-  (GOCSPX-[A-Za-z0-9_-]{28})
google-oauth-token  ya29.  (ya29\.[A-Za-z0-9_-]{30,})
google-refresh-token  1//0 1%2f%2f0 1\/\/0  <edge>(1<slash><slash>0[A-Za-z0-9_-]{40,})
azure-client-secret  q~ q%7e  <edge>([A-Za-z0-9_.~-]{3}[0-9]Q<tilde>[A-Za-z0-9_.~-]{31,34})
azure-storage-key  accountkey sharedaccesskey  (?i)(?:Account|SharedAccess)Key=(<base64>{40,100}<pad>)
azure-sas  sig=  [?&;]sig=(<base64>{40,70}<pad>)
alibaba-key  ltai  <edge>(LTAI[A-Za-z0-9]{12,24})\b
digitalocean-token  _v1_  (do[opr]_v1_[0-9a-f]{64})
heroku-key  hrku-  (HRKU-[A-Za-z0-9_-]{36,80})
cloudflare-origin-key  v1.0-  (v1\.0-[0-9a-f]{24}-[0-9a-f]{100,160})
fly-token  fm1 fm2_ fo1_  <edge>((?:fm1[ar]|fm2)_<base64>{80,}<pad>|fo1_[A-Za-z0-9_-]{43})
vault-token  hvs. hvb. hvr.  <edge>(hv[sbr]\.[A-Za-z0-9_-]{24,})
terraform-token  .atlasv1.  ([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70})
doppler-token  dp.  <edge>(dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44})
recollect-token  rct_  <edge>(rct_[A-Za-z0-9_-]{43})
pulumi-token  pul-  <edge>(pul-[0-9a-f]{40})\b
planetscale-token  pscale_  (pscale_(?:tkn|pw|oauth|pat)_[A-Za-z0-9_.=-]{32,64})
databricks-token  dapi dose  <edge>((?:dapi|dose)[0-9a-f]{32}(?:-[0-9])?)\b
supabase-token  sbp_ sb_secret_  <edge>(sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,60})
netlify-token  nfp_  <edge>(nfp_[A-Za-z0-9]{36,40})
tailscale-key  tskey-  (tskey-[a-z]{2,12}-[A-Za-z0-9]{6,32}(?:-[A-Za-z0-9]{16,48})?)
onepassword-token  ops_eyj  (ops_eyJ[A-Za-z0-9+/_-]{100,}={0,3})
age-key  age-secret-key-1  (AGE-SECRET-KEY-1[A-Z0-9]{58})
github-token  ghp_ gho_ ghu_ ghs_ ghr_  (gh[pousr]_[A-Za-z0-9]{36,})
github-token  github_pat_  (github_pat_[A-Za-z0-9_]{36,})
atlassian-token  atatt3 atctt3  (AT[AC]TT3[A-Za-z0-9_-]{60,}<pad>[A-F0-9]{0,8})
bitbucket-password  atbb  <edge>(ATBB[A-Za-z0-9]{32})\b
npm-token  npm_  (npm_[A-Za-z0-9]{36})
pypi-token  pypi-ag  (pypi-Ag[A-Za-z0-9_-]{60,})
rubygems-key  rubygems_  (rubygems_[0-9a-f]{48})
nuget-key  oy2  <edge>(oy2[a-z0-9]{43})\b
docker-token  dckr_  (dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,64})
crates-token  cio  <edge>(cio[A-Za-z0-9]{32})\b  like_token
clojars-token  clojars_  (CLOJARS_[a-z0-9]{60})
artifactory-key  akcp  <edge>(AKCp[A-Za-z0-9]{60,80})\b
stripe-key  k_live_ k_test_ k_prod_  ([sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,})
webhook-secret  whsec_  (whsec_[A-Za-z0-9+/]{24,128}={0,2})
square-token  sq0  (sq0(?:atp|csp|idb)-[A-Za-z0-9_-]{22,64})
square-token  eaaa  <apart>(EAAA[A-Za-z0-9_-]{60})(?:[^A-Za-z0-9_+/=-]|\z)
shopify-token  shpat_ shpca_ shppa_ shpss_ shptka_  (shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32})
flutterwave-key  flwseck  (FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,40}(?:-X)?)
slack-token  xox  (xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{20,})
slack-token  xapp-  (xapp-[0-9]-[A-Za-z0-9-]{20,})
discord-bot-token  .  <edge>((?:[MNO][A-Za-z0-9]{3}){5}[A-Za-z0-9]{2,8}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})
telegram-bot-token  :aa %3aaa  <edge>([0-9]{8,10}<colon>AA[A-Za-z0-9_-]{32,33})
twilio-key  sk  <edge>(SK[0-9a-f]{32})\b
sendgrid-key  sg.  (SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})
mailgun-key  key-  <edge>((?:pub)?key-[0-9a-f]{32})\b
mailchimp-key  -us  <edge>([0-9a-f]{32}-us[0-9]{1,2})\b
brevo-key  xkeysib- xsmtpsib-  (x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16})
anthropic-key  sk-ant-  (sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{32,})
openrouter-key  sk-or-  (sk-or-v[0-9]-[0-9a-f]{64})
openai-key  sk-  <edge>(sk-(?:proj|svcacct|admin|None|service)-[A-Za-z0-9_-]{40,})  like_token
openai-key  sk-  <edge>(sk-[A-Za-z0-9]{32,64})\b  like_token
huggingface-token  hf_ api_org_  <edge>((?:hf|api_org)_[A-Za-z0-9]{34,40})\b
groq-key  gsk_  <edge>(gsk_[A-Za-z0-9]{48,56})\b
perplexity-key  pplx-  <edge>(pplx-[A-Za-z0-9]{40,64})\b
replicate-token  r8_  <edge>(r8_[A-Za-z0-9]{37,40})\b
xai-key  xai-  <edge>(xai-[A-Za-z0-9]{70,90})\b
langsmith-key  lsv2_  (lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10})
nvidia-key  nvapi-  (nvapi-[A-Za-z0-9_-]{60,72})
linear-key  lin_api_ lin_oauth_  (lin_(?:api|oauth)_[A-Za-z0-9]{40,64})
notion-token  ntn_ secret_  <edge>(ntn_[0-9]{11}[A-Za-z0-9]{35}|secret_[A-Za-z0-9]{43})\b  like_token
airtable-token  pat  <edge>(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})
postman-key  pmak-  (PMAK-[0-9a-f]{24}-[0-9a-f]{34})
newrelic-key  nrak- nrjs- nrii- nraa-  (NR(?:AK|II|AA|JS)-[A-Za-z0-9_-]{19,36})
sentry-token  sntry  (sntryu_[0-9a-f]{64})
sentry-token  sntrys_  (sntrys_<base64>{40,}<pad>_<base64>{43})
grafana-token  glsa_ glc_  <edge>(glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/]{32,}={0,3})
dynatrace-token  dt0  (dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64})
figma-token  figd_ figu_  (fig[du]_[A-Za-z0-9_-]{40,64})
dropbox-token  sl.  <edge>(sl\.(?:u\.)?[A-Za-z0-9_-]{130,})  like_token
facebook-token  eaac eaam eaab eaad  <apart>(EAA[A-Z][A-Za-z0-9]{90,})\b  like_token
hubspot-token  pat-  <edge>(pat-(?:na|eu|ap)[0-9]-<uuid>)
mapbox-token  sk.eyj  <edge>(sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,})
resend-key  re_  <edge>(re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,})\b  like_token
onepassword-secret-key  a3-  <edge>(A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})
plaid-token  access-  <edge>(access-(?:production|development|sandbox)-<uuid>)
pubnub-key  sec-c-  <edge>(sec-c-<uuid>)
launchdarkly-key  api- sdk-  <edge>((?:api|sdk)-<uuid>)
vault-token  s.  (?:^|[\s\"'=:])(s\.[A-Za-z0-9]{24})(?:[^A-Za-z0-9]|\z)  like_token
swarm-token  swmtkn-1-  (SWMTKN-1-[0-9a-z]{40,60}-[0-9a-z]{20,30})
service-token  1/ 0/ 1% 0% 1\ 0\  <edge>([01]<slash>[0-9]{16}<colon>[0-9a-f]{32})
service-token  pk_  <edge>(pk_[0-9]{2,10}_[A-Z0-9]{32})\b
service-token  pat. sat.  <edge>([ps]at\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20})
service-token  aio_ cu_  <edge>(aio_[A-Za-z0-9]{28}|cu_[0-9a-f]{32})\b
service-token  p.ey  <edge>(p\.ey[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,})
service-token  hooks.zapier.com  (?i)hooks\.zapier\.com/hooks/catch/([0-9]+/[a-z0-9]{6,})
service-token  {aqaaabaa  (\{AQAAABAA[A-Za-z0-9+/]{20,}={0,2}\})
service-token  sm_pat_ sm_sat_ sm_aat_  <edge>(sm_[psa]at_[A-Za-z0-9]{16,})\b  like_token
service-token  pdl_  <edge>(pdl_(?:live|sdbx)_apikey_[A-Za-z0-9_]{40,})
service-token  amzn.mws.  <edge>(amzn\.mws\.<uuid>)
service-token  apa91b  ([A-Za-z0-9_-]{11}:APA91b[A-Za-z0-9_-]{100,})
service-token  aqvn t1.9  <edge>(AQVN[A-Za-z0-9_-]{35,38}|t1\.9[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{80,}={0,2})
wallet-key  xprv yprv zprv nsec1  <edge>([xyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}|nsec1[02-9ac-hj-np-z]{58})\b
wallet-key  wif  (?i)\bwif\b[^\r\n]{0,20}?((?-i:[5KLc9][1-9A-HJ-NP-Za-km-z]{50,51}))\b  like_token
fernet-key  gaaaaa  <apart>(gAAAAA[A-Za-z0-9_-]{60,}={0,2})
signed-url  signature=  (?i)[?&;](?:X-(?:Amz|Goog)-)?Signature=([A-Za-z0-9%/+_~-]{27,}={0,2})  like_token
signed-url  security-token=  (?i)X-(?:Amz|Goog)-Security-Token=([A-Za-z0-9%/+_-]{60,}={0,2})
artifactory-key  cmvmd  <edge>(cmVmd[A-Za-z0-9]{59})\b
aws-access-key  a3t  <edge>(A3T[A-Z0-9][A-Z2-7]{16})\b  like_token
aws-bedrock-key  bedrock-api-key-  (bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=]*)
facebook-token  | %7c  <edge>([0-9]{15,16}(?:\||%7[Cc])[A-Za-z0-9_-]{27,40})\b  like_token
jwt  zxlk  (ZXlK[A-Za-z0-9+/]{60,}={0,2})
grafana-token  eyjrijoi  (eyJrIjoi[A-Za-z0-9]{70,}={0,3})
newrelic-key  nral  <edge>([0-9a-z]{36}NRAL)\b  like_token
service-token  .acc  <edge>((?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][\w.+/=-]{40,})
service-token  4b1d  <edge>(4b1d[A-Za-z0-9]{38})\b  like_token
service-token  sha256~  <edge>(sha256~[A-Za-z0-9_-]{43})
service-token  ico- tk-us- fio-u- dnkey-  <edge>((?:ico|tk-us|fio-u|dnkey)-[A-Za-z0-9_=-]{32,})  like_token
service-token  s-s4t2  <edge>(s-s4t2(?:ud|af)-[0-9a-f]{64})
service-token  _mmk  <edge>([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)\b
service-token  api-  <edge>(API-[A-Z0-9]{26,36})\b  like_token
service-token  vf.  <edge>(VF\.(?:DM|WS)\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{16})\b  like_token
service-token  1000.  <edge>(1000\.[0-9a-f]{32}\.[0-9a-f]{32})\b
gitlab-token  glpat- gldt- glrt- glft- glptt- glcbt- glimt- glagent- gloas- glsoat- glffct- gr1348941
    ((?:gl(?:pat|dt|rt|ft|ptt|cbt|imt|agent|oas|soat|ffct)-|GR1348941)[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2}\.?
    [0-9a-z]{7,9})?)
braintree-token  access_token$ access_token%24
    (access_token<dollar>(?:production|sandbox)<dollar>[0-9a-z]{16}<dollar>[0-9a-f]{32})
slack-webhook  hooks.slack.com
    hooks\.slack\.com<slash>(?:services|workflows|triggers)<slash>([A-Za-z0-9]{6,20}(?:<slash>
    [A-Za-z0-9]{6,64}){1,4})
discord-webhook  api/webhooks api%2fwebhooks api\/webhooks
    (?i)api<slash>webhooks<slash>([0-9]{17,20}<slash>[A-Za-z0-9_-]{60,})
teams-webhook  webhook.office.com
    (?i)webhook\.office\.com<slash>webhookb2<slash>(<uuid><at><uuid><slash>IncomingWebhook<slash>[0-9a-z]{32}(?:
    <slash>[0-9a-z-]{36,64}){0,2})
service-token  _ - .
    <edge>((?i:sq[apu]|bk(?:ua|aj|ct|nt|pt)|ccipat|cciprj|pcsk|hca(?:ik|lk)|(?:shippo|duffel)_(?:live|test)|pnu
    |rdme|napi|tfp|sg[pd]|slk|jina|fw|tgp_v1|apify_api|phx|e2b|bb_(?:live|test)|xa[ap]t|pylf_v1_[a-z]{2}|rzp_
    (?:live|test)|ez[at]k|rnd|vcp|wandb_v1|cf(?:ut|at|k|pat)|tr_(?:prod|dev)|signkey-(?:prod|test)|snyk_[us]at|ddp
    |dbt[cu]|mlsn|wpl_ap1|csk|tvly|fc|p8e|xau)[_.-][A-Za-z0-9_+/=-]{20,})  like_token
prefixed-token  _ -
    <edge>([A-Za-z][A-Za-z0-9]{0,15}(?:[_-][A-Za-z0-9]{1,12}){0,3}[_-][A-Za-z0-9]{30,200})(?:[^A-Za-z0-9_=/+@-]|\z)
      like_prefixed_token
password-hash  $ %24 {ss *
    (\*[0-9A-F]{40}\b|pbkdf2_sha\d+<dollar>[0-9]+<dollar>[A-Za-z0-9./+=$]{40,}|<dollar>(?:2[abxy]|5|6|7|y|gy|argon2
    (?:id|i|d)|scrypt|apr1|1|8|9|14)<dollar>[A-Za-z0-9./+=,$%-]{20,}|\{SS?HA(?:256|512)?\}[A-Za-z0-9+/=]{28,})
private-key  private openvpn  <pem begin>[^-]*(?:-{1,4}[^-]+)*<pem end>  holds_a_key
private-key  private openvpn
    <pem begin>(?:<pem break><pem header>)*(?:<pem break>[A-Za-z0-9+/]{16,}={0,2})+(?:<pem break>
    [A-Za-z0-9+/]{1,15}={1,2})?  holds_a_key
url-password  :// :\/\/ :\\/\\/
    (?i)\b[a-z][a-z0-9+.-]{1,30}:(?:\\{0,4}/){2}[^\s:/@\"'`<>\\]*:([^\s/@\"'`<>\\]{3,})@[a-z0-9\[$]  like_password
authorization  authorization
    (?i)authorization<quote>?\s{0,4}[:=,]\s{0,4}<quote>?(?:(?:[ac-z]|b[b-z])[a-z0-9-]{2,24}<space>)?(
    [A-Za-z0-9_.~+/=|:%-]{12,})  like_key
authorization  bearer  (?i)\bbearer<space>([A-Za-z0-9_.~+/=-]{20,})  like_key
authorization  basic  (?i)\bbasic<space>([A-Za-z0-9+/]{8,}={0,2})  encodes_a_login
netrc  machine
    (?i)<edge>machine<break>\S+?<break>login<break>\S+?<break>password<break>([^\s\"'\\`]{3,})  like_password
command-line  -
    (?i)[ \t]--?(?:[a-z]{1,20}-){0,3}(?:password|passwd|passphrase|pass|pwd|token|secret|credentials?|(?:api|access
    |secret|private)-?key|storepass|keypass)(?:[ \t]{1,4}|=)\\{0,4}[\"']?([^\s\"'`\\<>;|&]{6,})  like_bare_password
command-line  --auth --user --basic --login --creds
    (?i)--(?:auth|user|basic|login|creds|proxy-user)(?:[ \t]{1,4}|=)\\{0,4}[\"']?[^\s:\"'\\]+:([^\s\"'`\\]{3,})
      like_password
command-line  login auth  (?i)\b(?:login|auth|authtoken)[ \t]{1,4}((?:[0-9a-f]{32,}|[A-Za-z0-9_-]{36,}))\b  like_token
command-line  convertto-securestring
    (?i)ConvertTo-SecureString[ \t]+(?:-String[ \t]+)?[\"']([^\"'\r\n]{4,})  like_password
command-line  curl wget
    <edge>(?:curl|wget)\b[^\r\n]*?[ \t](?:-u|--user)[ =]?[ \t]{0,4}\\{0,4}[\"']?[^\s:\"'\\]+:([^\s\"'`\\]{3,})
      like_password
command-line  mysql mariadb sshpass redis-cli docker podman
    <edge>(?:(?:mysql(?:dump|admin|sh)?|mariadb(?:-dump|-admin)?)\b[^\r\n;|&]*?[ \t]-p|(?:sshpass[ \t]+-p
    |redis-cli\b[^\r\n;|&]*?[ \t]-a|(?:docker|podman)[ \t]+login\b[^\r\n;|&]*?[ \t]-p)[ \t]*)\\{0,4}[\"']?(
    [^\s\"'`\\<>;|&]{6,})  like_bare_password
password  identified  (?i)identified[ \t]+(?:with[ \t]+\w+[ \t]+)?by[ \t]+<quoted 4>  like_password
dsn-password  @tcp( @unix(  [\w.-]{1,64}:([^\s@/:\"'`]{3,})@(?:tcp|unix)\(  like_password
url-password  ://  (?i)\b[a-z][a-z0-9+.-]{1,30}://([A-Za-z0-9_-]{20,})@[a-z0-9]  like_token
private-key  ls0tls1crudjti  (LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,}={0,2})  holds_a_private_key
private-key  private-lines  Private-Lines: [0-9]+\s{1,2}((?:[A-Za-z0-9+/=]{16,}\s{1,2}){1,})
seed-phrase  mnemonic phrase seed
    (?i)(?:mnemonic|(?:seed|recovery|secret|backup)[ _-](?:phrase|words))<quote>?\s{0,4}(?:[:=]|is)\s{0,4}<quote>?(
    (?:[a-z]{3,8}[ \t]){11,23}[a-z]{3,8})
docker-auth  auth  \\{0,7}\"auth\\{0,7}\"\s{0,4}:\s{0,4}\\{0,7}\"([A-Za-z0-9+/]{8,}={0,2})  encodes_a_login
aws-secret-key  secret
    (?i)secret[_-]?(?:access)?[_-]?key<assign><quote>?(<base64>{40})(?:[^A-Za-z0-9+/=]|\z)  like_token
password  <password>  <password><assign><quoted 4>  like_password named
password  <password>  <password><assign><bare 6>  like_bare_password named
password  <password>  <password><is><quoted 4>  like_password named
password  <password>  <password><is><bare 6>  like_bare_password named
password  <password>
    <password>\b[^\r\n\"'`:=]{1,60}?[ \t](?:it'?s|is|was)(?:[ \t]now)?[ \t:]{1,4}<bare 8>  like_strong_password
password  <password>
    (?i)\b(?:use|with|enter|type|try|is|be)[ \t]+<quote>?([^\s\"'`<>]{8,}?)<quote>?[ \t]+(?:as|for)[ \t]
    [^\r\n.;]{0,30}?(?:password|passphrase|passcode|\bpw\b)  like_strong_password
password  cred login log sign
    (?i)\b(?:creds?|credentials|log(?:in|ged)?(?:[ \t]in)?|sign[ \t]?in)\b[^\r\n]{0,40}?[ \t(`][\w.@-]{2,40}[ \t]?
    [:/][ \t]?([^\s\"'`/,<>]{8,})  like_strong_password
password  auth login cred connect sign
    (?i)(?:auth|login|credentials?|connect|signin|sign_in)\w{0,20}[ \t]?[(=][ \t]?\(?<quote>[^\s\"'`]{1,60}<quote>
    [ \t]?,[ \t]?<quoted 6>  like_password
password  pass pw community
    (?im)^[ \t]*[\w. -]{0,30}(?:pass|passwd|passphrase|password|pw|pwd|server community)(?:[ \t]*:)?\s{1,8}(
    [^\s\"'`,;<>]{8,})(?:[ \t]+R[OW])?[ \t]*$  like_bare_password
command-line  -u /u: user --user
    (?i)[ \t](?:-u|--user(?:name)?|/u:)[ =]?[\w.@\\\\-]+(?:[ \t]+(?:-p|-w|-pw|--?pass\w*|/p:)[ =]?|,)(
    [^\s\"'`,;|]{6,})  like_strong_password
command-line  sqlplus user alias chpasswd
    (?i)\b(?:(?:sqlplus|rman|expdp|impdp)[ \t]+(?:-\S+[ \t]+)*\w+/|net[ \t]+user[ \t]+\S+[ \t]+|mc[ \t]+alias
    [ \t]+set(?:[ \t]+\S+){3}[ \t]+|chpasswd:\s+list:[ \t]*[|>]?-?\s+\w+:)([^\s\"'`@;|&]{6,})  like_bare_password
password  cryptsetup passwd sudo
    (?i)echo[ \t]+(?:-[ne]+[ \t]+)?[\"']?([^\s\"']{6,})[\"']?[ \t]*\|[ \t]*(?:sudo|cryptsetup|passwd|chpasswd
    |openssl|gpg|docker login)  like_bare_password
password  smbclient mount.cifs net pgpass :5432:
    (?i)\b(?:smbclient\b[^\r\n]*?[ \t]-U[ \t]?[^\s%]+%|net[ \t]+use\b[^\r\n]*?/user:\S+[ \t]+|[\w.*-]+:(?:
    [0-9]{4,5}|\*):[\w*-]+:[\w*-]+:)([^\s\"'`;|&]{6,})  like_bare_password
backup-codes  code
    (?i)\b(?:backup|recovery|rescue|scratch)[ _-]codes?[^\r\n0-9]{0,20}\s*((?:[0-9a-z]{4,5}[ -]?[0-9a-z]{4,5}
    [\s,;]{0,4}){1,16})  like_codes
password  zip 7z rar openssl register
    (?i)\b(?:(?:zip|unzip|7za?|rar)\b[^\r\n;|&]*?[ \t]-P[ \t]?|-pass(?:in|out)[ \t]+pass:|register[ \t]*=>[ \t]*
    [^\s:]+:)([^\s\"'`;|&@]{6,})  like_bare_password
password  password secret token
    (?i)(?:variable|parameter|setting)[ \t]+<quote>[\w.-]*<word>[\w.-]*<quote>\s{0,4}\{
    [^{}]{0,300}?default\s{0,8}=\s{0,8}<quoted 6>  like_password
secret  define  (?i)define\(\s{0,4}[\"']\w*(?:KEY|SALT|SECRET)[\"']\s{0,4},\s{0,8}'([^'\r\n]{20,})'
secret  code= sig= appid= key= auth=
    (?i)[?&;](?:code|sig|app_?id|api_?key|key|auth)=((?:4/0)?[A-Za-z0-9_~.%-]{24,}={0,2})  like_token
password  <password>
    (?i)<[\w.:-]{0,40}(?:password|passwd|passphrase)>\s{0,40}(?:<Value>)?([^<\s]{4,})</  like_password
secret  <key>  <key><assign><quoted 12>  like_quoted_key named
secret  <key>  <key><assign><bare 12>  like_key named
secret  <key>  <key><is><quote>?<bare 12>  like_key named
secret  <key>  (?i)<[\w.:-]{0,40}(?:secret|token|key)>\s{0,40}(?:<Value>)?([^<\s]{12,})</  like_key
random-token  0 1 2 3 4 5 6 7 8 9
    (?:\A|(?m:^)[+-]|[^A-Za-z0-9+/_@.:%=\r\n-]|[^0-9A-Fa-f]:|[A-Za-z_]=)([A-Za-z0-9][A-Za-z0-9_-]{31,200})(?:
    [^A-Za-z0-9+/_@%=-]|\z)  like_random_run
"""
_PARTS = {
    "<quoted 4>": _quoted(4),
    "<quoted 6>": _quoted(6),
    "<quoted 12>": _quoted(12),
    "<bare 6>": _bare(6),
    "<bare 8>": _bare(8),
    "<bare 12>": _bare(12),
    "<pem begin>": _PEM_BEGIN,
    "<pem end>": _PEM_END,
    "<pem break>": _PEM_BREAK,
    "<pem header>": _PEM_HEADER,
    "<password>": _PASSWORD_NAME,
    "<key>": _KEY_NAME,
    "<assign>": _ASSIGN,
    "<is>": _IS,
    "<edge>": EDGE,
    "<apart>": APART,
    "<uuid>": UUID,
    "<base64>": BASE64,
    "<pad>": PADDING,
    "<slash>": SLASH,
    "<colon>": COLON,
    "<dollar>": DOLLAR,
    "<tilde>": TILDE,
    "<at>": AT,
    "<break>": _BREAK,
    "<space>": _SPACE,
    "<quote>": _QUOTE,
    "<word>": _SECRET_WORD,
}
_HINTS = {"<password>": _PASSWORD_HINTS, "<key>": _KEY_HINTS}


def _shape(row: str) -> Shape:
    kind, hints, pattern, *more = row.split("  ")
    guard, _, named = more[0].partition(" ") if more else ("not_a_placeholder", "", "")
    for name, part in _PARTS.items():
        pattern = pattern.replace(name, part)
    return Shape(
        kind=kind,
        pattern=pattern,
        hints=tuple(_HINTS.get(hints, hints).encode().split()),
        guard=getattr(secret_guards, guard),
        named=bool(named),
    )


def _rows() -> Iterator[str]:
    row = ""
    for line in _TABLE.strip().split("\n"):
        if line.startswith("    "):
            row += ("  " if row.count("  ") == 1 else "") + line[4:]
            continue
        if row:
            yield row
        row = line
    yield row


SHAPES: tuple[Shape, ...] = tuple(map(_shape, _rows()))
