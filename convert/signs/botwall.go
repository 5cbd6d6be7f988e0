package signs

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/hidden"
)

// wallWindow is the number of bytes of a body that are searched for the marks of a bot wall. One wall had its mark 128
// KB into the body. The rest is not read.
const wallWindow = 512 << 10

// wallField is a field of responses that challenge, and whose wall has it. by is whose wall it is.
type wallField struct{ name, value, by string }

// mark returns the field as the mark of a wall. It is told as that of the content is.
func (f wallField) mark() string { return strings.ToLower(f.name) + ": " + f.value }

// wallFields are fields of responses that challenge, as their documentation has them. They need no look at the content.
// The search in the content is spared where one is there.
var wallFields = []wallField{
	{"Cf-Mitigated", "challenge", "Cloudflare"},
	{"X-Amzn-Waf-Action", "challenge", "AWS WAF"}, // with status 202
	{"X-Amzn-Waf-Action", "captcha", "AWS WAF"},   // with status 405
	{"X-Vercel-Mitigated", "challenge", "Vercel"},
}

// wallOwners are whose walls have a mark, for marks that name one.
var wallOwners = map[string]string{
	"_cf_chl_opt": "Cloudflare", "/cdn-cgi/challenge-platform/h/": "Cloudflare", "cf-challenge-running": "Cloudflare",
	"cf-browser-verification": "Cloudflare", "__cf_chl_managed_tk__": "Cloudflare", "__cf_chl_f_tk=": "Cloudflare",
	"cf-error-code": "Cloudflare", "Attention Required! | Cloudflare": "Cloudflare", `class="cf-turnstile"`: "Cloudflare",
	"captcha-delivery.com": "DataDome", "window._pxAppId": "HUMAN", "captcha.px-cdn.net": "HUMAN",
	"_Incapsula_Resource": "Imperva", "Incapsula incident ID": "Imperva", "KPSDK.scriptStart": "Kasada",
	"awsWafCookieDomainList": "AWS WAF", "/_sec/cp_challenge/": "Akamai", "Reference #18.": "Akamai",
	"Sucuri WebSite Firewall": "Sucuri", "anubis_challenge": "Anubis", "/.within.website/x/cmd/anubis/": "Anubis",
}

// WallOwner returns whose bot wall has a mark that [Wall] returned; "" if the mark does not say it. It is told to
// users, who may ask the owner of the site for access.
func WallOwner(mark string) string {
	for _, field := range wallFields {
		if mark == field.mark() {
			return field.by
		}
	}
	return wallOwners[mark]
}

// wallMarks are names in the scripts and tags of challenges. Other pages do not have them there. They must stand in a
// tag or a script.
var wallMarks = []string{
	"anubis_challenge", "/.within.website/x/cmd/anubis/",
	"_cf_chl_opt", "/cdn-cgi/challenge-platform/h/", "cf-challenge-running", "cf-browser-verification",
	"__cf_chl_managed_tk__", "__cf_chl_f_tk=", "cf-error-code",
}

// wallSensors are scripts of bot walls that ordinary pages have too. They are a sign only on a page with few words.
// Sites load them to watch their visitors.
var wallSensors = []string{
	"captcha-delivery.com", "window._pxAppId", "captcha.px-cdn.net", "_Incapsula_Resource", "KPSDK.scriptStart",
	"awsWafCookieDomainList", "/_sec/cp_challenge/",
}

// sensorWords is the number of visible words from which a page is not a wall, whatever sensors it has. The walls of
// these firms have a sentence or two; of 600 real pages with a sensor the shortest has about 200 words.
const sensorWords = 80

// wallSentences are sentences of walls. They count in a body of any size if its text is short. Articles about walls are
// longer.
var wallSentences = []string{"Incapsula incident ID", "Sucuri WebSite Firewall", "Pardon Our Interruption"}

// wallPhrases are phrases of walls. They count only in a body of less than smallWall bytes.
var wallPhrases = []string{
	"Access Denied", "Checking your browser", "Just a moment",
	"Access to This Page Has Been Blocked", "Request unsuccessful", "Attention Required! | Cloudflare",
	"Verify you are human", "Please verify you are a human",
}

// smallWall is the size of a body, in bytes, under which phrases and boxes that other pages have too are signs of a
// wall.
const smallWall = 10 << 10

// wallClasses are the boxes of challenges. They count only in a body of less than smallWall bytes.
var wallClasses = []string{`class="g-recaptcha"`, `class="h-captcha"`, `class="cf-turnstile"`}

// Wall looks for the marks of a bot wall in a response, in the first 512 KiB of its content. It returns the mark that
// matched, or "". The status does not decide, because many bot walls have status 200. Marks count in tags and scripts
// only, and phrases only where the text is short, so that a page about bot walls does not match.
func Wall(status int, header map[string][]string, content []byte) string {
	for _, field := range wallFields {
		if strings.EqualFold(http.Header(header).Get(field.name), field.value) {
			return field.mark()
		}
	}
	content = content[:min(len(content), wallWindow)]
	sentences := wallSentences
	if len(content) < smallWall {
		sentences = append(append(append([]string{}, sentences...), wallPhrases...), "Reference #18.")
		for _, box := range wallClasses {
			if bytes.Contains(content, []byte(box)) && (status >= 400 || chars.Words(textWithoutTags(content)) < ThinWords) {
				return box
			}
		}
	}
	found := among(content, wallMarks, wallSensors, sentences)
	suspects, sensors, said := found[0], found[1], found[2]
	if mark := inMachinery(content, suspects); mark != "" {
		return mark
	}
	if len(sensors)+len(said) == 0 {
		return ""
	}
	seen := chars.Words(textWithoutTags(content))
	if seen < sensorWords {
		if mark := inMachinery(content, sensors); mark != "" {
			return mark
		}
	}
	if len(said) > 0 && seen < ShellWords {
		return said[0]
	}
	return ""
}

// among returns, for each list of marks of bot walls, those that content contains, in the order of the list. It reads
// content once: bytes.Contains for each of twenty texts took a fifteenth of a conversion. Texts must have two bytes or
// more.
func among(content []byte, lists ...[]string) [][]string {
	var pairs [1 << 16 / 8]byte // bits: whether a text begins with these two bytes
	var begins [256][]string    // the texts by their first byte
	for _, text := range slices.Concat(lists...) {
		begins[text[0]] = append(begins[text[0]], text)
		pair := int(text[0])<<8 | int(text[1])
		pairs[pair/8] |= 1 << (pair % 8)
	}
	contained := map[string]bool{}
	pair := 0
	for i, c := range content {
		pair = pair<<8&0xffff | int(c)
		if pairs[pair/8]>>(pair%8)&1 == 0 || i == 0 {
			continue
		}
		for _, text := range begins[content[i-1]] {
			if bytes.HasPrefix(content[i-1:], []byte(text)) {
				contained[text] = true
			}
		}
	}
	found := make([][]string, len(lists))
	for i, list := range lists {
		for _, text := range list {
			if contained[text] {
				found[i] = append(found[i], text)
			}
		}
	}
	return found
}

// inMachinery returns the first mark that is in a tag or a script, not in text or a comment. A page that writes about
// walls shows their marks as text.
func inMachinery(content []byte, marks []string) string {
	if len(marks) == 0 {
		return ""
	}
	z := html.NewTokenizer(bytes.NewReader(content))
	script := false
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken, html.TextToken:
			raw := z.Raw()
			if kind != html.TextToken || script {
				for _, mark := range marks {
					if bytes.Contains(raw, []byte(mark)) {
						return mark
					}
				}
			}
			if kind != html.TextToken {
				script = kind == html.StartTagToken && (bytes.HasPrefix(raw, []byte("<script")) ||
					bytes.HasPrefix(raw, []byte("<style")))
			}
		}
	}
}

// textWithoutTags returns the text of a response, which may be a bot wall, that its reader sees, as far as tags and
// inline styles say.
func textWithoutTags(content []byte) string {
	var b strings.Builder
	hidden.WriteText(&b, html.NewTokenizer(bytes.NewReader(content)))
	return b.String()
}
