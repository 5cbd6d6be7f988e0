package convert

import (
	"slices"

	"readthru/convert/dom"
)

// A forum's posts come with more than their text: the author and the time, which a reader needs, and facts about the
// author, which the forum repeats at every post.

// extras are the names that forum programs (XenForo, phpBB, vBulletin, FluxBB, SMF, MyBB, Invision) give to boxes
// around a post: ranks, counts, signatures, reactions and controls.
var extras = joined(`signature sig-text post-signature extra-user-info userinfo-extra user-rank user-stats
	author-statistics member-group post-group post-count profile-rank profile-posts profile-joined profile-location
	profile-custom-field profile-contact reaction-summary reactions-bar likes-summary expand-link quote-expand
	post-foot-left post-foot-right post-links flat-list message-attribution-opposite`)

// dropExtras drops the blocks in such boxes.
func (t *outline) dropExtras(keep []bool) {
	for i := range t.boxes {
		if x := &t.boxes[i]; named(x.node, extras) {
			for j := x.begin; j < x.end; j++ {
				keep[j] = false
			}
		}
	}
}

// keepNames keeps the author and the time of each post that is kept: a short block that begins the post or has such a
// name, or a short block with a time, which may lie deeper.
func (t *outline) keepNames(keep []bool) {
	const near, deep = 4, 8
	for i := range t.blocks {
		if keep[i] || t.blocks[i].words > 8 {
			continue
		}
		timed, said := t.blocks[i].signs&signTime != 0, false
		for level, x := 0, t.blocks[i].box; level < deep && x >= 0; level, x = level+1, t.boxes[x].parent {
			b := &t.boxes[x]
			if b.begin == int32(i) && dom.HasAttr(b.node, depthAttr) && slices.Contains(keep[b.begin:b.end], true) {
				keep[i] = true
				break
			}
			said = said || dom.Attr(b.node, "rel") == "author" || named(b.node, postNames)
			if (timed || level < near && (said || b.begin == int32(i))) && b.alike > 1 && t.keptProse(b, keep) {
				keep[i] = true
				break
			}
		}
	}
}

// postNames are the names of elements that hold the author or the time of a post.
var postNames = joined(`author username user-name post-author post-date post-time poster posted date time-stamp
	author-name p-author topic-author comment-author comment-date`)

// keptProse reports whether a box holds prose that is kept.
func (t *outline) keptProse(x *box, keep []bool) bool {
	if x.end-x.begin > 60 {
		return false
	}
	for i := x.begin; i < x.end; i++ {
		if keep[i] && t.blocks[i].words > 8 {
			return true
		}
	}
	return false
}
