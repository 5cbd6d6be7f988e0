package store

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"

	"github.com/readthru/readthru/page"
)

// Every key of the store is made here: a class, a slash, then fixed-width big-endian parts. Text ends with a slash
// (hosts, which hold none) or a zero byte (everything else).
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
//	g/<sha256>                     a purge that the fleet is not told of yet
//	q/<m|h|d>/<n u32>              what was counted in a minute, an hour, a day; see series.go
//	y/<name>\0                     a user that was made while the program ran
//	yd/<day u32>/<user>\0          what a user used in a day
//	z/schema, z/totals, z/compact  schema version; running totals; see package kv
//	z/rules                        rules made while the program ran
//	z/recipes                      site recipes that were added
//	z/signin                       there if who is no user is refused
//	z/services                     third parties that are switched off
//	z/fleet                        how far the node has taken part in its fleet
//	z/secrets                      which edition of the rules about secrets the records were looked through with
const (
	rulesKey  = "z/rules"
	signinKey = "z/signin"

	siteRecipesKey = "z/recipes"

	servicesKey = "z/services"
	fleetKey    = "z/fleet"
	secretsKey  = "z/secrets"

	sessionsKey = "fs/"
)

// headClasses are the classes of keys whose records a hit reads beside what it sends.
var headClasses = []string{"u", "e", "p", "r", "rp"}

type uriKey [16]byte

func uriKeyOf(uri string) uriKey {
	sum := sha256.Sum256([]byte(uri))
	return uriKey(sum[:16])
}

func variantsKey(u uriKey) string   { return "u/" + string(u[:]) }
func entryKey(id EntryID) string    { return "e/" + string(id[:]) }
func manifestKey(sum Sum) string    { return "d/" + string(sum[:]) }
func partsPrefix(sum Sum) string    { return "b/" + string(sum[:]) + "/" }
func partKey(sum Sum, i int) string { return partsPrefix(sum) + u16(i) }

func watchKey(hour uint32, sum Sum) string { return "w/" + u32(hour) + "/" + string(sum[:]) }

func hostPrefix(host string) string        { return "h/" + host + "/" }
func hostKey(host string, u uriKey) string { return hostPrefix(host) + string(u[:]) }
func tagPrefix(tag string) string          { return "t/" + tag + "\x00" }
func tagKey(tag string, u uriKey) string   { return tagPrefix(tag) + string(u[:]) }
func useKey(hour uint32, u uriKey) string  { return "a/" + u32(hour) + "/" + string(u[:]) }
func expiryKey(hour uint32, u uriKey, id EntryID) string {
	return "x/" + u32(hour) + "/" + string(u[:]) + "/" + string(id[:])
}

// recipeLength is the length of a recipe in a key.
const recipeLength = 8

func recipeID(recipe string) string {
	sum := sha256.Sum256([]byte(recipe))
	return string(sum[:recipeLength])
}

func renditionPrefix(source Sum) string { return "r/" + string(source[:]) + "/" }
func renditionKey(source Sum, recipe string) string {
	return renditionPrefix(source) + recipeID(recipe)
}
func pageRenditionPrefix(k page.Key) string { return "rp/" + string(k[:]) + "/" }
func pageRenditionKey(k page.Key, recipe string) string {
	return pageRenditionPrefix(k) + recipeID(recipe)
}

func isRendition(key string) bool {
	return strings.HasPrefix(key, "r/") || strings.HasPrefix(key, "rp/")
}

func pageRenditionExpiryKey(hour uint32, renditionKey string) string {
	return "xp/" + u32(hour) + renditionKey[len("rp"):]
}

func pageKey(k page.Key) string      { return "p/" + string(k[:]) }
func nameKey(k page.Key) string      { return "pn/" + string(k[:]) }
func versionsKey(k page.Key) string  { return "pv/" + string(k[:]) }
func summariesKey(k page.Key) string { return "s/" + string(k[:]) }

func fetchedKey(session string, k page.Key) string { return "f/" + session + "\x00" + string(k[:]) }
func fetchedListKey(session string) string         { return "fs/" + session + "\x00" }

func recentKey(ms int64, k page.Key) string      { return "pr/" + u64(uint64(ms)) + "/" + string(k[:]) }
func hostPagesPrefix(host string) string         { return "hp/" + host + "/" }
func hostPageKey(host string, k page.Key) string { return hostPagesPrefix(host) + string(k[:]) }
func visitKey(ms int64, k page.Key, n uint32) string {
	return "vi/" + u64(uint64(ms)) + "/" + string(k[:]) + "/" + u32(n)
}
func pageVisitsPrefix(k page.Key) string { return "vp/" + string(k[:]) + "/" }
func pageVisitKey(k page.Key, ms int64, n uint32) string {
	return pageVisitsPrefix(k) + u64(uint64(ms)) + "/" + u32(n)
}

func pageTallyKey(k page.Key) string        { return "c/p/" + string(k[:]) }
func hostTallyKey(host string) string       { return "c/h/" + host }
func namedTallyKey(class, id string) string { return "c/n/" + class + "\x00" + id }

func learntKey(host string) string                { return "n/" + host + "/" }
func jobKey(seq uint64) string                    { return "j/" + u64(seq) }
func cursorKey(consumer string) string            { return "jc/" + consumer + "\x00" }
func retryPrefix(consumer string) string          { return "jr/" + consumer + "\x00" }
func retryKey(consumer string, seq uint64) string { return retryPrefix(consumer) + u64(seq) }
func seriesPrefix(class string) string            { return "q/" + class + "/" }
func ledgerKey(ms int64, n uint32) string         { return "l/" + u64(uint64(ms)) + "/" + u32(n) }

// usesPrefix begins the keys of what users used.
const usesPrefix = "yd/"

// usersPrefix begins the keys of users.
const usersPrefix = "y/"

func userKey(name string) string { return usersPrefix + name + "\x00" }

func useOfKey(day int64, user string) string {
	return usesPrefix + u32(uint32(day)) + "/" + user + "\x00"
}

// dayAndUser returns what is in a key that useOfKey made.
func dayAndUser(key string) (day int64, user string) {
	rest := key[len(usesPrefix):]
	return int64(binary.BigEndian.Uint32([]byte(rest))), strings.TrimSuffix(rest[5:], "\x00")
}

func purgeKey(id [32]byte) string { return "g/" + string(id[:]) }

func u16(n int) string    { return string(binary.BigEndian.AppendUint16(nil, uint16(n))) }
func u32(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }
func u64(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

// hourOf returns the hour t lies in, counted from 1970; times before are 0.
func hourOf(t time.Time) uint32 {
	return uint32(min(max(t.Unix()/3600, 0), 1<<32-1))
}

// millis returns t in Unix milliseconds, never negative, so that keys sort by time.
func millis(t time.Time) int64 { return max(t.UnixMilli(), 0) }

// maxHost is the longest host that gets an index key, in bytes. DNS allows 253, and a port.
const maxHost = 300

// hostOf returns [page.AuthorityOf] of a URL; empty if it could not stand in a key.
func hostOf(uri string) string { return cleanHost(page.AuthorityOf(uri)) }

// cleanHost returns host as it stands in keys: lower case; empty if it cannot.
func cleanHost(host string) string {
	host = strings.ToLower(host)
	if len(host) > maxHost || strings.ContainsAny(host, "/\x00") {
		return ""
	}
	return host
}
