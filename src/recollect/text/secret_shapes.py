"""The shapes of secrets: tokens known by a vendor's prefix, and values known by the name, URL or header beside them.

Nothing here is a secret; prefixes, lengths and alphabets are publicly known. Patterns are RE2 over the bytes of a text
and see ASCII. The part to hide is the first group that took part in the match, or the whole match. A class that takes
in non-ASCII bytes has no upper length, else a match could end inside a character; nor has a token that its vendor says
may grow. Whether a value is only a placeholder is decided in `text/secret_guards`.
"""

from collections.abc import Callable

from recollect.core.records import record
from recollect.text.secret_guards import (
    encodes_a_login,
    holds_a_key,
    holds_a_private_key,
    like_bare_password,
    like_codes,
    like_key,
    like_long_key,
    like_password,
    like_prefixed_token,
    like_quoted_key,
    like_random_run,
    like_strong_password,
    like_token,
    not_a_placeholder,
)


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


def shape(
    kind: str,
    hints: str,
    pattern: str,
    guard: Callable[[str], bool] = not_a_placeholder,
    named: bool = False,
) -> Shape:
    """A row; `hints` are separated by spaces."""
    return Shape(kind=kind, pattern=pattern, hints=tuple(hints.encode().split()), guard=guard, named=named)


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


TOKENS: tuple[Shape, ...] = (
    # standards
    shape("jwt", "eyj", r"(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"),
    # clouds and infrastructure
    shape("aws-access-key", "akia asia abia acca", EDGE + r"((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b"),
    shape("aws-bedrock-key", "absk", APART + rf"(ABSK{BASE64}{{100,}}{PADDING})"),
    shape("google-api-key", "aiza", EDGE + r"(AIza[A-Za-z0-9_-]{35})"),
    shape("google-oauth-secret", "gocspx-", r"(GOCSPX-[A-Za-z0-9_-]{28})"),
    shape("google-oauth-token", "ya29.", r"(ya29\.[A-Za-z0-9_-]{30,})"),
    shape("google-refresh-token", "1//0 1%2f%2f0 1\\/\\/0", EDGE + rf"(1{SLASH}{SLASH}0[A-Za-z0-9_-]{{40,}})"),
    shape(
        "azure-client-secret",
        "q~ q%7e",
        EDGE + rf"([A-Za-z0-9_.~-]{{3}}[0-9]Q{TILDE}[A-Za-z0-9_.~-]{{31,34}})",
    ),
    shape(
        "azure-storage-key",
        "accountkey sharedaccesskey",
        rf"(?i)(?:Account|SharedAccess)Key=({BASE64}{{40,100}}{PADDING})",
    ),
    shape("azure-sas", "sig=", rf"[?&;]sig=({BASE64}{{40,70}}{PADDING})"),
    shape("alibaba-key", "ltai", EDGE + r"(LTAI[A-Za-z0-9]{12,24})\b"),
    shape("digitalocean-token", "_v1_", r"(do[opr]_v1_[0-9a-f]{64})"),
    shape("heroku-key", "hrku-", r"(HRKU-[A-Za-z0-9_-]{36,80})"),
    shape("cloudflare-origin-key", "v1.0-", r"(v1\.0-[0-9a-f]{24}-[0-9a-f]{100,160})"),
    shape(
        "fly-token",
        "fm1 fm2_ fo1_",
        EDGE + rf"((?:fm1[ar]|fm2)_{BASE64}{{80,}}{PADDING}|fo1_[A-Za-z0-9_-]{{43}})",
    ),
    shape("vault-token", "hvs. hvb. hvr.", EDGE + r"(hv[sbr]\.[A-Za-z0-9_-]{24,})"),
    shape("terraform-token", ".atlasv1.", r"([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70})"),
    shape(
        "doppler-token",
        "dp.",
        EDGE + r"(dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44})",
    ),
    shape("recollect-token", "rct_", EDGE + r"(rct_[A-Za-z0-9_-]{43})"),
    shape("pulumi-token", "pul-", EDGE + r"(pul-[0-9a-f]{40})\b"),
    shape("planetscale-token", "pscale_", r"(pscale_(?:tkn|pw|oauth|pat)_[A-Za-z0-9_.=-]{32,64})"),
    shape("databricks-token", "dapi dose", EDGE + r"((?:dapi|dose)[0-9a-f]{32}(?:-[0-9])?)\b"),
    shape("supabase-token", "sbp_ sb_secret_", EDGE + r"(sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,60})"),
    shape("netlify-token", "nfp_", EDGE + r"(nfp_[A-Za-z0-9]{36,40})"),
    shape("tailscale-key", "tskey-", r"(tskey-[a-z]{2,12}-[A-Za-z0-9]{6,32}(?:-[A-Za-z0-9]{16,48})?)"),
    shape("onepassword-token", "ops_eyj", r"(ops_eyJ[A-Za-z0-9+/_-]{100,}={0,3})"),
    shape("age-key", "age-secret-key-1", r"(AGE-SECRET-KEY-1[A-Z0-9]{58})"),
    # version control
    shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"(gh[pousr]_[A-Za-z0-9]{36,})"),
    shape("github-token", "github_pat_", r"(github_pat_[A-Za-z0-9_]{36,})"),
    shape(
        "gitlab-token",
        "glpat- gldt- glrt- glft- glptt- glcbt- glimt- glagent- gloas- glsoat- glffct- gr1348941",
        r"((?:gl(?:pat|dt|rt|ft|ptt|cbt|imt|agent|oas|soat|ffct)-|GR1348941)[A-Za-z0-9_-]{20,}(?"
        r":\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?)",
    ),
    shape("atlassian-token", "atatt3 atctt3", rf"(AT[AC]TT3[A-Za-z0-9_-]{{60,}}{PADDING}[A-F0-9]{{0,8}})"),
    shape("bitbucket-password", "atbb", EDGE + r"(ATBB[A-Za-z0-9]{32})\b"),
    # package registries
    shape("npm-token", "npm_", r"(npm_[A-Za-z0-9]{36})"),
    shape("pypi-token", "pypi-ag", r"(pypi-Ag[A-Za-z0-9_-]{60,})"),
    shape("rubygems-key", "rubygems_", r"(rubygems_[0-9a-f]{48})"),
    shape("nuget-key", "oy2", EDGE + r"(oy2[a-z0-9]{43})\b"),
    shape("docker-token", "dckr_", r"(dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,64})"),
    shape("crates-token", "cio", EDGE + r"(cio[A-Za-z0-9]{32})\b", like_token),
    shape("clojars-token", "clojars_", r"(CLOJARS_[a-z0-9]{60})"),
    shape("artifactory-key", "akcp", EDGE + r"(AKCp[A-Za-z0-9]{60,80})\b"),
    # payment and shops
    shape("stripe-key", "k_live_ k_test_ k_prod_", r"([sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,})"),
    shape("webhook-secret", "whsec_", r"(whsec_[A-Za-z0-9+/]{24,128}={0,2})"),
    shape("square-token", "sq0", r"(sq0(?:atp|csp|idb)-[A-Za-z0-9_-]{22,64})"),
    shape("square-token", "eaaa", APART + r"(EAAA[A-Za-z0-9_-]{60})(?:[^A-Za-z0-9_+/=-]|\z)"),
    shape(
        "braintree-token",
        "access_token$ access_token%24",
        rf"(access_token{DOLLAR}(?:production|sandbox){DOLLAR}[0-9a-z]{{16}}{DOLLAR}[0-9a-f]{{32}})",
    ),
    shape("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"(shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32})"),
    shape("flutterwave-key", "flwseck", r"(FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,40}(?:-X)?)"),
    # chat and mail
    shape("slack-token", "xox", r"(xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{20,})"),
    shape("slack-token", "xapp-", r"(xapp-[0-9]-[A-Za-z0-9-]{20,})"),
    shape(
        "slack-webhook",
        "hooks.slack.com",
        rf"hooks\.slack\.com{SLASH}(?:services|workflows|triggers){SLASH}([A-Za-z0-9]{{6,20}}(?"
        rf":{SLASH}[A-Za-z0-9]{{6,64}}){{1,4}})",
    ),
    shape(
        "discord-webhook",
        "api/webhooks api%2fwebhooks api\\/webhooks",
        rf"(?i)api{SLASH}webhooks{SLASH}([0-9]{{17,20}}{SLASH}[A-Za-z0-9_-]{{60,}})",
    ),
    # its first part is a decimal number in base64, so every fourth letter is M, N or O
    shape(
        "discord-bot-token",
        ".",
        EDGE + r"((?:[MNO][A-Za-z0-9]{3}){5}[A-Za-z0-9]{2,8}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})",
    ),
    shape("telegram-bot-token", ":aa %3aaa", EDGE + rf"([0-9]{{8,10}}{COLON}AA[A-Za-z0-9_-]{{32,33}})"),
    shape(
        "teams-webhook",
        "webhook.office.com",
        rf"(?i)webhook\.office\.com{SLASH}webhookb2{SLASH}"
        rf"({UUID}{AT}{UUID}{SLASH}IncomingWebhook{SLASH}[0-9a-z]{{32}}(?:{SLASH}[0-9a-z-]{{36,64}}){{0,2}})",
    ),
    shape("twilio-key", "sk", EDGE + r"(SK[0-9a-f]{32})\b"),
    shape("sendgrid-key", "sg.", r"(SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})"),
    shape("mailgun-key", "key-", EDGE + r"((?:pub)?key-[0-9a-f]{32})\b"),
    shape("mailchimp-key", "-us", EDGE + r"([0-9a-f]{32}-us[0-9]{1,2})\b"),
    shape("brevo-key", "xkeysib- xsmtpsib-", r"(x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16})"),
    # models
    shape("anthropic-key", "sk-ant-", r"(sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{32,})"),
    shape("openrouter-key", "sk-or-", r"(sk-or-v[0-9]-[0-9a-f]{64})"),
    shape(
        "openai-key",
        "sk-",
        EDGE + r"(sk-(?:proj|svcacct|admin|None|service)-[A-Za-z0-9_-]{40,})",
        like_token,
    ),
    shape("openai-key", "sk-", EDGE + r"(sk-[A-Za-z0-9]{32,64})\b", like_token),
    shape("huggingface-token", "hf_ api_org_", EDGE + r"((?:hf|api_org)_[A-Za-z0-9]{34,40})\b"),
    shape("groq-key", "gsk_", EDGE + r"(gsk_[A-Za-z0-9]{48,56})\b"),
    shape("perplexity-key", "pplx-", EDGE + r"(pplx-[A-Za-z0-9]{40,64})\b"),
    shape("replicate-token", "r8_", EDGE + r"(r8_[A-Za-z0-9]{37,40})\b"),
    shape("xai-key", "xai-", EDGE + r"(xai-[A-Za-z0-9]{70,90})\b"),
    shape("langsmith-key", "lsv2_", r"(lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10})"),
    shape("nvidia-key", "nvapi-", r"(nvapi-[A-Za-z0-9_-]{60,72})"),
    # other services
    shape("linear-key", "lin_api_ lin_oauth_", r"(lin_(?:api|oauth)_[A-Za-z0-9]{40,64})"),
    shape(
        "notion-token",
        "ntn_ secret_",
        EDGE + r"(ntn_[0-9]{11}[A-Za-z0-9]{35}|secret_[A-Za-z0-9]{43})\b",
        like_token,
    ),
    shape("airtable-token", "pat", EDGE + r"(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})"),
    shape("postman-key", "pmak-", r"(PMAK-[0-9a-f]{24}-[0-9a-f]{34})"),
    shape("newrelic-key", "nrak- nrjs- nrii- nraa-", r"(NR(?:AK|II|AA|JS)-[A-Za-z0-9_-]{19,36})"),
    shape("sentry-token", "sntry", r"(sntryu_[0-9a-f]{64})"),
    shape("sentry-token", "sntrys_", rf"(sntrys_{BASE64}{{40,}}{PADDING}_{BASE64}{{43}})"),
    shape(
        "grafana-token",
        "glsa_ glc_",
        EDGE + r"(glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/]{32,}={0,3})",
    ),
    shape("dynatrace-token", "dt0", r"(dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64})"),
    shape("figma-token", "figd_ figu_", r"(fig[du]_[A-Za-z0-9_-]{40,64})"),
    shape("dropbox-token", "sl.", EDGE + r"(sl\.(?:u\.)?[A-Za-z0-9_-]{130,})", like_token),
    shape("facebook-token", "eaac eaam eaab eaad", APART + r"(EAA[A-Z][A-Za-z0-9]{90,})\b", like_token),
    shape("hubspot-token", "pat-", EDGE + rf"(pat-(?:na|eu|ap)[0-9]-{UUID})"),
    shape("mapbox-token", "sk.eyj", EDGE + r"(sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,})"),
    shape("resend-key", "re_", EDGE + r"(re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,})\b", like_token),
    shape(
        "onepassword-secret-key",
        "a3-",
        EDGE + r"(A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})",
    ),
    shape("plaid-token", "access-", EDGE + rf"(access-(?:production|development|sandbox)-{UUID})"),
    shape("pubnub-key", "sec-c-", EDGE + rf"(sec-c-{UUID})"),
    shape("launchdarkly-key", "api- sdk-", EDGE + rf"((?:api|sdk)-{UUID})"),
    shape("vault-token", "s.", r"(?:^|[\s\"'=:])(s\.[A-Za-z0-9]{24})(?:[^A-Za-z0-9]|\z)", like_token),
    shape("swarm-token", "swmtkn-1-", r"(SWMTKN-1-[0-9a-z]{40,60}-[0-9a-z]{20,30})"),
    # published prefixes of other services, each before a random run
    shape(
        "service-token",
        "_ - .",
        EDGE
        + r"((?i:sq[apu]|bk(?:ua|aj|ct|nt|pt)|ccipat|cciprj|pcsk|hca(?:ik|lk)|(?:shippo|duffel)_(?:live|test)|pnu|rdme"
        r"|napi|tfp|sg[pd]|slk|jina|fw|tgp_v1|apify_api|phx|e2b|bb_(?:live|test)|xa[ap]t|pylf_v1_[a-z]{2}"
        r"|rzp_(?:live|test)|ez[at]k|rnd|vcp|wandb_v1|cf(?:ut|at|k|pat)|tr_(?:prod|dev)|signkey-(?:prod|test)"
        r"|snyk_[us]at|ddp|dbt[cu]|mlsn|wpl_ap1|csk|tvly|fc|p8e|xau)[_.-][A-Za-z0-9_+/=-]{20,})",
        like_token,
    ),
    shape("service-token", "1/ 0/ 1% 0% 1\\ 0\\", EDGE + rf"([01]{SLASH}[0-9]{{16}}{COLON}[0-9a-f]{{32}})"),
    shape("service-token", "pk_", EDGE + r"(pk_[0-9]{2,10}_[A-Z0-9]{32})\b"),
    shape("service-token", "pat.", EDGE + r"(pat\.[A-Za-z0-9_-]{20,24}\.[0-9a-f]{24}\.[A-Za-z0-9]{20})"),
    shape("service-token", "aio_ cu_", EDGE + r"(aio_[A-Za-z0-9]{28}|cu_[0-9a-f]{32})\b"),
    shape("service-token", "p.ey", EDGE + r"(p\.ey[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,})"),
    shape("service-token", "hooks.zapier.com", r"(?i)hooks\.zapier\.com/hooks/catch/([0-9]+/[a-z0-9]{6,})"),
    shape("service-token", "{aqaaabaa", r"(\{AQAAABAA[A-Za-z0-9+/]{20,}={0,2}\})"),
    shape("service-token", "sm_pat_ sm_sat_", EDGE + r"(sm_[ps]at_[A-Za-z0-9]{16,})\b", like_token),
    shape("service-token", "pdl_", EDGE + r"(pdl_(?:live|sdbx)_apikey_[A-Za-z0-9_]{40,})"),
    shape("service-token", "amzn.mws.", EDGE + rf"(amzn\.mws\.{UUID})"),
    shape("service-token", "apa91b", r"([A-Za-z0-9_-]{11}:APA91b[A-Za-z0-9_-]{100,})"),
    shape(
        "service-token",
        "aqvn t1.9",
        EDGE + r"(AQVN[A-Za-z0-9_-]{35,38}|t1\.9[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{80,}={0,2})",
    ),
    shape(
        "wallet-key",
        "xprv yprv zprv nsec1",
        EDGE + r"([xyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}|nsec1[02-9ac-hj-np-z]{58})\b",
    ),
    shape("wallet-key", "wif", r"(?i)\bwif\b[^\r\n]{0,20}?((?-i:[5KLc9][1-9A-HJ-NP-Za-km-z]{50,51}))\b", like_token),
    # what no list knows: a short name, perhaps with a stage, glued to a long random run
    shape(
        "prefixed-token",
        "_ -",
        EDGE
        + r"([A-Za-z][A-Za-z0-9]{0,15}(?:[_-][A-Za-z0-9]{1,12}){0,3}[_-][A-Za-z0-9]{30,200})(?:[^A-Za-z0-9_=/+@-]|\z)",
        like_prefixed_token,
    ),
    shape(
        "password-hash",
        "$ %24 {ss *",
        rf"(\*[0-9A-F]{{40}}\b|pbkdf2_sha\d+{DOLLAR}[0-9]+{DOLLAR}[A-Za-z0-9./+=$]{{40,}}|{DOLLAR}(?"
        rf":2[abxy]|5|6|7|y|gy|argon2(?:id|i|d)|scrypt|apr1|1|8|9|14){DOLLAR}[A-Za-z0-9./+=,$%-]{{20,}}"
        r"|\{SS?HA(?:256|512)?\}[A-Za-z0-9+/=]{28,})",
    ),
    shape("fernet-key", "gaaaaa", APART + r"(gAAAAA[A-Za-z0-9_-]{60,}={0,2})"),
    shape(
        "signed-url", "signature=", r"(?i)[?&;](?:X-(?:Amz|Goog)-)?Signature=([A-Za-z0-9%/+_~-]{27,}={0,2})", like_token
    ),
    shape("signed-url", "security-token=", r"(?i)X-(?:Amz|Goog)-Security-Token=([A-Za-z0-9%/+_-]{60,}={0,2})"),
)


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


def _element(names: str, least: int) -> str:
    return rf"(?i)<[\w.:-]{{0,40}}(?:{names})>\s{{0,40}}(?:<Value>)?([^<\s]{{{least},}})</"


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
# {"name": "API_TOKEN", "value": "…"}, and the same in YAML and in attributes
_PAIR = (
    rf"(?i)\b(?:name|key){_OPTIONAL_QUOTE}\s{{0,4}}[:=]\s{{0,4}}{_OPTIONAL_QUOTE}[\w./-]{{0,60}}{_SECRET_WORD}[\w./-]{{0,30}}"
    rf"{_OPTIONAL_QUOTE}(?:[\s,;|-]{{1,40}}|\s?,\s?\"type\"\s?:\s?\"\w+\"\s?,\s?){_OPTIONAL_QUOTE}(?"
    rf":string)?value{_OPTIONAL_QUOTE}\s{{0,4}}[:=]\s{{0,4}}"
)
_PASSWORD_HINTS = (
    "pass pwd pw kennwort contrase senha wachtwoord has\u0142o heslo senord \u043f\u0430\u0440 \u5bc6\u7801"
)
_KEY_HINTS = "key secret token credential _auth psk schl cookie"

CONTEXTS: tuple[Shape, ...] = (
    shape(
        "private-key",
        "private openvpn",
        rf"{_PEM_BEGIN}[^-]*(?:-{{1,4}}[^-]+)*{_PEM_END}",
        holds_a_key,
    ),
    shape(
        # cut off before its end mark: whatever still looks like header lines and base64
        "private-key",
        "private openvpn",
        rf"{_PEM_BEGIN}(?:{_PEM_BREAK}{_PEM_HEADER})*(?:{_PEM_BREAK}[A-Za-z0-9+/]{{16,}}={{0,2}})+"
        rf"(?:{_PEM_BREAK}[A-Za-z0-9+/]{{1,15}}={{1,2}})?",
        holds_a_key,
    ),
    shape(
        "url-password",
        "://  :\\/\\/  :\\\\/\\\\/",
        r"(?i)\b[a-z][a-z0-9+.-]{1,30}:(?:\\{0,4}/){2}[^\s:/@\"'`<>\\]*:([^\s/@\"'`<>\\]{3,})@[a-z0-9\[$]",
        like_password,
    ),
    shape(
        "authorization",
        "authorization",
        rf"(?i)authorization{_OPTIONAL_QUOTE}\s{{0,4}}[:=,]\s{{0,4}}{_OPTIONAL_QUOTE}"
        # any scheme but Basic, whose value is a login in base64
        rf"(?:(?:[ac-z]|b[b-z])[a-z0-9-]{{2,24}}{_SPACE})?([A-Za-z0-9_.~+/=|:%-]{{12,}})",
        like_key,
    ),
    shape("authorization", "bearer", rf"(?i)\bbearer{_SPACE}([A-Za-z0-9_.~+/=-]{{20,}})", like_key),
    shape("authorization", "basic", rf"(?i)\bbasic{_SPACE}([A-Za-z0-9+/]{{8,}}={{0,2}})", encodes_a_login),
    shape(
        "netrc",
        "machine",
        rf"(?i){EDGE}machine{_BREAK}\S+?{_BREAK}login{_BREAK}\S+?{_BREAK}password{_BREAK}([^\s\"'\\`]{{3,}})",
        like_password,
    ),
    shape(
        "command-line",
        "--",
        r"(?i)[ \t]--?(?:[a-z]{1,20}-){0,3}(?:password|passwd|passphrase|pass|pwd|token|secret|credentials?"
        r"|(?:api|access|secret|private)-?key|storepass|keypass)(?:[ \t]{1,4}|=)\\{0,4}[\"']?([^\s\"'`\\<>;|&]{6,})",
        like_bare_password,
    ),
    shape(
        "command-line",
        "--auth --user --basic --login --creds",
        r"(?i)--(?:auth|user|basic|login|creds|proxy-user)(?:[ \t]{1,4}|=)\\{0,4}[\"']?[^\s:\"'\\]+:([^\s\"'`\\]{3,})",
        like_password,
    ),
    shape(
        "command-line",
        "login auth",
        r"(?i)\b(?:login|auth|authtoken)[ \t]{1,4}((?:[0-9a-f]{32,}|[A-Za-z0-9_-]{36,}))\b",
        like_token,
    ),
    shape(
        "command-line",
        "convertto-securestring",
        r"(?i)ConvertTo-SecureString[ \t]+(?:-String[ \t]+)?[\"']([^\"'\r\n]{4,})",
        like_password,
    ),
    shape(
        "command-line",
        "curl wget",
        EDGE + r"(?:curl|wget)\b[^\r\n]*?[ \t](?:-u|--user)[ =]?[ \t]{0,4}\\{0,4}[\"']?"
        r"[^\s:\"'\\]+:([^\s\"'`\\]{3,})",
        like_password,
    ),
    shape(
        "command-line",
        "mysql mariadb sshpass redis-cli docker podman",
        EDGE + r"(?:(?:mysql(?:dump|admin|sh)?|mariadb(?:-dump|-admin)?)\b[^\r\n;|&]*?[ \t]-p"
        r"|(?:sshpass[ \t]+-p|redis-cli\b[^\r\n;|&]*?[ \t]-a|(?:docker|podman)[ \t]+login\b[^\r\n;|&]*?[ \t]-p)[ \t]*)"
        r"\\{0,4}[\"']?([^\s\"'`\\<>;|&]{6,})",
        like_bare_password,
    ),
    shape(
        "password", "identified", r"(?i)identified[ \t]+(?:with[ \t]+\w+[ \t]+)?by[ \t]+" + _quoted(4), like_password
    ),
    shape("secret", "env", r"(?m:^)ENV[ \t]+[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD)[ \t]+([^\s\"']{12,})", like_key),
    shape("dsn-password", "@tcp( @unix(", r"[\w.-]{1,64}:([^\s@/:\"'`]{3,})@(?:tcp|unix)\(", like_password),
    shape("url-password", "://", r"(?i)\b[a-z][a-z0-9+.-]{1,30}://([A-Za-z0-9_-]{20,})@[a-z0-9]", like_token),
    shape(
        "cookie",
        "cookie",
        rf"(?i)cookie{_OPTIONAL_QUOTE}\s{{0,4}}[:=]\s{{0,4}}{_OPTIONAL_QUOTE}(?"
        rf":[\w.-]{{1,40}}=[^\s;,]{{0,60}};\s?){{0,8}}"
        r"[\w.-]{1,40}=([^\s;,\"'`\\]{16,})",
        like_key,
    ),
    shape("private-key", "ls0tls1crudjti", r"(LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,}={0,2})", holds_a_private_key),
    shape("private-key", "private-lines", r"Private-Lines: [0-9]+\s{1,2}((?:[A-Za-z0-9+/=]{16,}\s{1,2}){1,})"),
    shape(
        "seed-phrase",
        "mnemonic phrase seed",
        rf"(?i)(?:mnemonic|(?:seed|recovery|secret|backup)[ _-](?:phrase|words)){_OPTIONAL_QUOTE}\s{{0,4}}(?:[:=]|is)"
        rf"\s{{0,4}}{_OPTIONAL_QUOTE}"
        r"((?:[a-z]{3,8}[ \t]){11,23}[a-z]{3,8})",
    ),
    shape("password", "value", _PAIR + _quoted(6), like_password),
    shape("password", "value", _PAIR + _bare(8), like_bare_password),
    shape(
        "docker-auth",
        "auth",
        r"\\{0,7}\"auth\\{0,7}\"\s{0,4}:\s{0,4}\\{0,7}\"([A-Za-z0-9+/]{8,}={0,2})",
        encodes_a_login,
    ),
    shape(
        "aws-secret-key",
        "secret",
        rf"(?i)secret[_-]?(?:access)?[_-]?key{_ASSIGN}{_OPTIONAL_QUOTE}({BASE64}{{40}})(?:[^A-Za-z0-9+/=]|\z)",
        like_token,
    ),
    shape("password", _PASSWORD_HINTS, _PASSWORD_NAME + _ASSIGN + _quoted(4), like_password, named=True),
    shape("password", _PASSWORD_HINTS, _PASSWORD_NAME + _ASSIGN + _bare(6), like_bare_password, named=True),
    shape("password", _PASSWORD_HINTS, _PASSWORD_NAME + _IS + _quoted(4), like_password, named=True),
    shape("password", _PASSWORD_HINTS, _PASSWORD_NAME + _IS + _bare(6), like_bare_password, named=True),
    shape(
        "password", _PASSWORD_HINTS, _PASSWORD_NAME + r"[ \t]{1,4}" + _OPTIONAL_QUOTE + _bare(8), like_strong_password
    ),
    shape(
        "password",
        _PASSWORD_HINTS,
        _PASSWORD_NAME + r"\b[^\r\n\"'`:=]{1,60}?[ \t](?:it'?s|is|was)(?:[ \t]now)?[ \t:]{1,4}" + _bare(8),
        like_strong_password,
    ),
    # "Use … as the password"
    shape(
        "password",
        _PASSWORD_HINTS,
        rf"(?i)\b(?:use|with|enter|type|try|is|be)[ \t]+{_OPTIONAL_QUOTE}([^\s\"'`<>]{{8,}}?"
        rf"){_OPTIONAL_QUOTE}[ \t]+(?:as|for)[ \t]"
        r"[^\r\n.;]{0,30}?(?:password|passphrase|passcode|\bpw\b)",
        like_strong_password,
    ),
    # a name and a password, as people tell them and as calls take them
    shape(
        "password",
        "cred login log sign",
        r"(?i)\b(?:creds?|credentials|log(?:in|ged)?(?:[ \t]in)?|sign[ \t]?in)\b[^\r\n]{0,40}?"
        r"[ \t(`][\w.@-]{2,40}[ \t]?[:/][ \t]?"
        r"([^\s\"'`/,<>]{8,})",
        like_strong_password,
    ),
    shape(
        "password",
        "auth login cred connect sign",
        rf"(?i)(?:auth|login|credentials?|connect|signin|sign_in)\w{{0,20}}[ \t]?[(=][ \t]?"
        rf"\(?{_QUOTE}[^\s\"'`]{{1,60}}{_QUOTE}[ \t]?,[ \t]?" + _quoted(6),
        like_password,
    ),
    # directives of configuration files: `requirepass …`, `bindpw …`, `snmp-server community …`, `password 7 …`
    shape(
        "password",
        "pass pw community",
        r"(?im)^[ \t]*[\w. -]{0,30}(?:pass|passwd|passphrase|password|pw|pwd|server community)(?:[ \t]*:)?\s{1,8}"
        r"([^\s\"'`,;<>]{8,})(?:[ \t]+R[OW])?[ \t]*$",
        like_bare_password,
    ),
    shape(
        "password",
        "password secret key",
        r"(?i)\b(?:password|secret|key)[ \t]+[0-9][ \t]+([0-9A-Za-z$./]{8,})",
        like_token,
    ),
    # a user's name before, whatever the program is called
    shape(
        "command-line",
        "-u /u: user --user",
        r"(?i)[ \t](?:-u|--user(?:name)?|/u:)[ =]?[\w.@\\\\-]+(?:[ \t]+(?:-p|-w|-pw|--?pass\w*|/p:)[ =]?|"
        r",)([^\s\"'`,;|]{6,})",
        like_bare_password,
    ),
    shape(
        "command-line",
        "sqlplus user alias chpasswd",
        r"(?i)\b(?:(?:sqlplus|rman|expdp|impdp)[ \t]+(?:-\S+[ \t]+)*\w+/|net[ \t]+user[ \t]+\S+[ \t]+|"
        r"mc[ \t]+alias[ \t]+set(?:[ \t]+\S+){3}[ \t]+"
        r"|chpasswd:\s+list:[ \t]*[|>]?-?\s+\w+:)([^\s\"'`@;|&]{6,})",
        like_bare_password,
    ),
    shape(
        "password",
        "cryptsetup passwd sudo",
        r"(?i)echo[ \t]+(?:-[ne]+[ \t]+)?[\"']?([^\s\"']{6,})[\"']?[ \t]*\|[ \t]*(?:sudo|cryptsetup|"
        r"passwd|chpasswd|openssl|gpg|docker login)",
        like_bare_password,
    ),
    shape(
        "password",
        "smbclient mount.cifs net pgpass :5432:",
        r"(?i)\b(?:smbclient\b[^\r\n]*?[ \t]-U[ \t]?[^\s%]+%|net[ \t]+use\b[^\r\n]*?/user:\S+[ \t]+|"
        r"[\w.*-]+:(?:[0-9]{4,5}|\*):[\w*-]+:[\w*-]+:)"
        r"([^\s\"'`;|&]{6,})",
        like_bare_password,
    ),
    shape(
        "backup-codes",
        "code",
        r"(?i)\b(?:backup|recovery|rescue|scratch)[ _-]codes?[^\r\n0-9]{0,20}\s*((?:[0-9a-z]{4,5}[ -]?"
        r"[0-9a-z]{4,5}[\s,;]{0,4}){1,16})",
        like_codes,
    ),
    shape(
        "password",
        "zip 7z rar openssl register",
        r"(?i)\b(?:(?:zip|unzip|7za?|rar)\b[^\r\n;|&]*?[ \t]-P[ \t]?|-pass(?:in|out)[ \t]+pass:|"
        r"register[ \t]*=>[ \t]*[^\s:]+:)"
        r"([^\s\"'`;|&@]{6,})",
        like_bare_password,
    ),
    shape(
        "password",
        "password secret token",
        rf"(?i)(?:variable|parameter|setting)[ \t]+{_QUOTE}[\w.-]*{_SECRET_WORD}[\w.-]*{_QUOTE}\s{{0,4}}"
        rf"\{{[^{{}}]{{0,300}}?default\s{{0,8}}=\s{{0,8}}" + _quoted(6),
        like_password,
    ),
    shape(
        "password", "password", r"(?i)type=[\"']?password[\"']?[^<>]{0,200}?value=[\"']([^\"'<>]{4,})", like_password
    ),
    shape("secret", "define", r"(?i)define\(\s{0,4}[\"']\w*(?:KEY|SALT|SECRET)[\"']\s{0,4},\s{0,8}'([^'\r\n]{20,})'"),
    shape(
        "secret",
        "code= sig= appid= key= auth=",
        r"(?i)[?&;](?:code|sig|app_?id|api_?key|key|auth)=((?:4/0)?[A-Za-z0-9_~.%-]{24,}={0,2})",
        like_token,
    ),
    shape("password", _PASSWORD_HINTS, _element("password|passwd|passphrase", 4), like_password),
    shape("secret", _KEY_HINTS, _KEY_NAME + _ASSIGN + _quoted(12), like_quoted_key, named=True),
    shape("secret", _KEY_HINTS, _KEY_NAME + _ASSIGN + _bare(12), like_key, named=True),
    shape("secret", "key", rf"(?i)\bkey{_ASSIGN}{_OPTIONAL_QUOTE}([A-Za-z0-9_-]{{32,}}){_QUOTE}", like_long_key),
    shape("secret", _KEY_HINTS, _KEY_NAME + _IS + _OPTIONAL_QUOTE + _bare(12), like_key, named=True),
    shape("secret", _KEY_HINTS, _element("secret|token|key", 12), like_key),
    # the word alone before a long value: `set aws_secret_access_key …`, `--with-token <<< …`, "deployer key 0x…"
    shape(
        "secret",
        "key token secret",
        r"(?i)(?:(?:^|[^c\s][ \t_.-]?)key|token|secret)(?:[ \t][0-9]{1,2})?[:=]?[ \t<\r\n]{1,8}((?:0x)?"
        r"[A-Za-z0-9+/_-]{32,}={0,2})(?:[^A-Za-z0-9+/_=@.-]|\z)",
        like_long_key,
    ),
    # an environment variable such as SEARCH_KEY may hold anything, so only an unbroken random run counts
    shape(
        "secret",
        "_key _api _pat _sk",
        rf"[A-Z0-9]_(?:KEY|API|PAT|SK){_ASSIGN}{_OPTIONAL_QUOTE}([A-Za-z0-9]{{24,}})",
        like_token,
    ),
    # no name at all: a long run of capitals, small letters and digits in no order. Not behind a path or a hash's
    # name, nor a line of wrapped base64.
    shape(
        "random-token",
        "0 1 2 3 4 5 6 7 8 9",
        r"(?:\A|(?m:^)[+-]|[^A-Za-z0-9+/_@.:%=\r\n-]|[^0-9A-Fa-f]:|[A-Za-z_]=)"
        r"([A-Za-z0-9][A-Za-z0-9_-]{31,200})(?:[^A-Za-z0-9+/_@%=-]|\z)",
        like_random_run,
    ),
)
