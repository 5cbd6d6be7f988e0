// Package keys makes the keys of the records in the store. Every key of the store is made here: a class, a slash, then
// fixed-width big-endian parts. Text ends with a slash (hosts, which hold none) or a zero byte (everything else).
//
//	u/<uri16>                      the stored responses of a URI
//	e/<entry16>                    one stored response, without content
//	b/<sum>/<part u16>             256 KiB of a body
//	d/<sum>                        a body's manifest: length, parts, references
//	w/<hour u32>/<sum>             a body to look at again: it was being written, or nobody refers to it
//	h/<host>/<uri16>               stored responses of a host → URI
//	t/<tag>\0<uri16>               stored responses with a purge tag
//	x/<hour u32>/<uri16>/<entry16> a stored response is useless from this hour on
//	a/<hour u32>/<uri16>           last use of a URI, for eviction
//	r/<sum>/<recipe8>              rendition of an origin's bytes
//	rp/<page>/<recipe8>            rendition kept by page
//	xp/<hour u32>/<page>/<recipe8> a rendition kept by page is useless from this hour on
//	p/<page>                       page
//	pn/<page>                      another name of a page, which has no record of its own → page
//	pv/<page>                      the page's versions
//	s/<page>                       summaries of its versions
//	f/<session>\0<page>            a page in the set of what a session has fetched
//	fs/, fs/<session>\0            the sessions that have such a set; a session's pages
//	pr/<ms u64>/<page>             pages by last visit
//	hp/<host>/<page>               pages of a host
//	vi/<ms u64>/<page>/<n u32>     a visit
//	vp/<page>/<ms u64>/<n u32>     visits of a page
//	c/<class>/<id>                 a counter: p/<page>, h/<host>, n/<class>\0<id>
//	n/<host>/                      what was learnt about a host
//	j/<seq u64>                    change log
//	jc/<consumer>\0                a consumer's cursor
//	jr/<consumer>\0<seq u64>       a job to do again
//	k/…                            records of package knowledge, which makes these keys itself: see [Records]. The
//	                               index's are listed in knowledge/index.go, those of bases, documents and
//	                               their queue in knowledge/base.go, archive.go and consumer.go, those of vectors,
//	                               annotations and notes beside their code
//	l/<ms u64>/<n u32>             disclosure ledger
//	o/<ms u64>/<n u32>             what an administrator did
//	g/<sha256>                     a purge that the fleet is not told of yet
//	q/<m|h|d>/<n u32>              what was counted in a minute, an hour, a day; see series.go
//	y/<name>\0                     a user that was made while the program ran
//	yd/<day u32>/<user>\0          what a user used in a day
//	z/schema, z/totals, z/compact  schema version; running totals; see package kv
//	z/rules                        rules made while the program ran
//	z/recipes                      site recipes that were added
//	z/signin                       there if who is no user is refused
//	z/signedout                    browsers that were signed out
//	z/views                        filters of requests that have a name
//	z/services                     third parties that are switched off
//	z/fleet                        how far the node has taken part in its fleet
//	z/secrets                      which edition of the rules about secrets the records were looked through with
package keys

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"

	"github.com/readthru/readthru/page"
)

// Records of which there is one.
const (
	Rules       = "z/rules"
	SignIn      = "z/signin"
	SignedOut   = "z/signedout"
	SiteRecipes = "z/recipes"
	Services    = "z/services"
	Views       = "z/views"
	Fleet       = "z/fleet"
	Secrets     = "z/secrets"
	Sessions    = "fs/"
)

// HeadClasses are the classes of keys whose records a hit reads beside what it sends.
var HeadClasses = []string{"u", "e", "p", "r", "rp"}

// URI stands for a URI in a key.
type URI [16]byte

// URIOf returns the part of a key that stands for a URI.
func URIOf(uri string) URI {
	sum := sha256.Sum256([]byte(uri))
	return URI(sum[:16])
}

// Variants is the key of the record that lists the stored responses of a URI.
func Variants(u URI) string { return "u/" + string(u[:]) }

// Entry is the key of the head of a stored response.
func Entry(id [16]byte) string { return "e/" + string(id[:]) }

// Manifest is the key of a body's manifest.
func Manifest(sum [32]byte) string { return "d/" + string(sum[:]) }

// Parts begins the keys of a body's parts.
func Parts(sum [32]byte) string { return "b/" + string(sum[:]) + "/" }

// Part is the key of a part of a body.
func Part(sum [32]byte, i int) string { return Parts(sum) + u16(i) }

// Watch is the key by which a body is looked at again from an hour on.
func Watch(hour uint32, sum [32]byte) string { return "w/" + U32(hour) + "/" + string(sum[:]) }

// OfHostPrefix begins the keys of the URIs of a host.
func OfHostPrefix(host string) string { return "h/" + host + "/" }

// OfHost is the key of a URI with stored responses among those of a host.
func OfHost(host string, u URI) string { return OfHostPrefix(host) + string(u[:]) }

// Tagged begins the keys of the URIs with a purge tag.
func Tagged(tag string) string { return "t/" + tag + "\x00" }

// Tag is the key of a URI among those with a purge tag.
func Tag(tag string, u URI) string { return Tagged(tag) + string(u[:]) }

// LastUse is the key of the last use of a URI, by its hour.
func LastUse(hour uint32, u URI) string { return "a/" + U32(hour) + "/" + string(u[:]) }

// Expiry is the key of the first hour in which a stored response is useless.
func Expiry(hour uint32, u URI, id [16]byte) string {
	return "x/" + U32(hour) + "/" + string(u[:]) + "/" + string(id[:])
}

// RecipeLength is the length of a recipe in a key.
const RecipeLength = 8

// recipeID returns what stands for a recipe of renditions in a key.
func recipeID(recipe string) string {
	sum := sha256.Sum256([]byte(recipe))
	return string(sum[:RecipeLength])
}

// Renditions begins the keys of the renditions of a body.
func Renditions(source [32]byte) string { return "r/" + string(source[:]) + "/" }

// Rendition is the key of a rendition of a body.
func Rendition(source [32]byte, recipe string) string {
	return Renditions(source) + recipeID(recipe)
}

// PageRenditions begins the keys of the renditions that a page keeps.
func PageRenditions(k page.Key) string { return "rp/" + string(k[:]) + "/" }

// PageRendition is the key of a rendition that a page keeps.
func PageRendition(k page.Key, recipe string) string {
	return PageRenditions(k) + recipeID(recipe)
}

// IsRendition reports whether a key is of a rendition.
func IsRendition(key string) bool {
	return strings.HasPrefix(key, "r/") || strings.HasPrefix(key, "rp/")
}

// PageRenditionExpiry is the key of the first hour in which a rendition is useless, given its key.
func PageRenditionExpiry(hour uint32, renditionKey string) string {
	return "xp/" + U32(hour) + renditionKey[len("rp"):]
}

// Page is the key of the record of a page.
func Page(k page.Key) string { return "p/" + string(k[:]) }

// Name is the key of another name of a page.
func Name(k page.Key) string { return "pn/" + string(k[:]) }

// Versions is the key of the list of a page's versions.
func Versions(k page.Key) string { return "pv/" + string(k[:]) }

// Summaries is the key of the list of a page's summaries.
func Summaries(k page.Key) string { return "s/" + string(k[:]) }

// Fetched is the key of a page of what a session has fetched.
func Fetched(session string, k page.Key) string { return "f/" + session + "\x00" + string(k[:]) }

// FetchedList is the key of the list of what a session has fetched.
func FetchedList(session string) string { return "fs/" + session + "\x00" }

// Recent is the key of a page among all, by their last visit.
func Recent(ms int64, k page.Key) string { return "pr/" + U64(uint64(ms)) + "/" + string(k[:]) }

// PagesOfHost begins the keys of the pages of a host.
func PagesOfHost(host string) string { return "hp/" + host + "/" }

// PageOfHost is the key of a page among those of a host.
func PageOfHost(host string, k page.Key) string { return PagesOfHost(host) + string(k[:]) }

// Visit is the key of a visit of a page, the nth.
func Visit(ms int64, k page.Key, n uint32) string {
	return "vi/" + U64(uint64(ms)) + "/" + string(k[:]) + "/" + U32(n)
}

// PageVisits begins the keys of the visits of a page.
func PageVisits(k page.Key) string { return "vp/" + string(k[:]) + "/" }

// PageVisit is the key of a visit of a page among those of the page.
func PageVisit(k page.Key, ms int64, n uint32) string {
	return PageVisits(k) + U64(uint64(ms)) + "/" + U32(n)
}

// PageTally is the key of the counter of a page's visits.
func PageTally(k page.Key) string { return "c/p/" + string(k[:]) }

// HostTally is the key of the counter of a host's visits.
func HostTally(host string) string { return "c/h/" + host }

// NamedTally is the key of a counter of something else.
func NamedTally(class, id string) string { return "c/n/" + class + "\x00" + id }

// Learnt is the key of what was learnt about a host.
func Learnt(host string) string { return "n/" + host + "/" }

// Job is the key of a job of the change log.
func Job(seq uint64) string { return "j/" + U64(seq) }

// Cursor is the key of where a consumer of the change log stands.
func Cursor(consumer string) string { return "jc/" + consumer + "\x00" }

// Retries begins the keys of the jobs that a consumer is to do again.
func Retries(consumer string) string { return "jr/" + consumer + "\x00" }

// Retry is the key of a job that a consumer is to do again.
func Retry(consumer string, seq uint64) string { return Retries(consumer) + U64(seq) }

// Series begins the keys of what was counted in steps of time.
func Series(class string) string { return "q/" + class + "/" }

// Ledger is the key of a disclosure.
func Ledger(ms int64, n uint32) string { return "l/" + U64(uint64(ms)) + "/" + U32(n) }

// Acts begins the keys of what administrators did.
const Acts = "o/"

// Act is what an administrator did.
func Act(ms int64, n uint32) string { return Acts + U64(uint64(ms)) + "/" + U32(n) }

// Uses begins the keys of what users used.
const Uses = "yd/"

// Users begins the keys of users.
const Users = "y/"

// User is the key of a user.
func User(name string) string { return Users + name + "\x00" }

// Use is the key of what a user used in a day.
func Use(day int64, user string) string {
	return Uses + U32(uint32(day)) + "/" + user + "\x00"
}

// DayAndUser returns what is in a key that Use made.
func DayAndUser(key string) (day int64, user string) {
	rest := key[len(Uses):]
	return int64(binary.BigEndian.Uint32([]byte(rest))), strings.TrimSuffix(rest[5:], "\x00")
}

// Purge is the key of a purge that the fleet is not told of.
func Purge(id [32]byte) string { return "g/" + string(id[:]) }

// u16 is a number of 16 bits in a key.
func u16(n int) string { return string(binary.BigEndian.AppendUint16(nil, uint16(n))) }

// U32 is a number in a key.
func U32(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }

// U64 is a number in a key.
func U64(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

// Hour returns the hour t lies in as keys have it, counted from 1970; times before are 0.
func Hour(t time.Time) uint32 {
	return uint32(min(max(t.Unix()/3600, 0), 1<<32-1))
}

// Millis returns t in Unix milliseconds, never negative, so that keys sort by time.
func Millis(t time.Time) int64 { return max(t.UnixMilli(), 0) }

// maxHost is the longest host that gets an index key, in bytes. DNS allows 253, and a port.
const maxHost = 300

// HostOf returns [page.AuthorityOf] of a URL; empty if it could not stand in a key.
func HostOf(uri string) string { return Host(page.AuthorityOf(uri)) }

// Host returns host as it stands in keys: lower case; empty if it cannot.
func Host(host string) string {
	host = strings.ToLower(host)
	if len(host) > maxHost || strings.ContainsAny(host, "/\x00") {
		return ""
	}
	return host
}
