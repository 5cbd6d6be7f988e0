package judge

import (
	"slices"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// A forum's posts come with more than their text: the author and the time, which a reader needs, and facts about the
// author, which the forum repeats at every post.

// extras are the names that forum programs (XenForo, phpBB, vBulletin, FluxBB, SMF, MyBB, Invision) give to boxes
// around a post: ranks, counts, signatures, reactions and controls.
var extras = dom.Names(`signature sig-text post-signature extra-user-info userinfo-extra user-rank user-stats
	author-statistics member-group post-group post-count profile-rank profile-posts profile-joined profile-location
	profile-custom-field profile-contact reaction-summary reactions-bar likes-summary expand-link quote-expand
	post-foot-left post-foot-right post-links flat-list message-attribution-opposite`)

// dropExtras drops the blocks in boxes that are no part of a forum's posts. They are in every post, so that the model
// takes them for content.
func (t *outline) dropExtras(keep []bool) {
	for i := range t.boxes {
		if x := &t.boxes[i]; dom.Named(x.node, extras) {
			for j := x.begin; j < x.end; j++ {
				keep[j] = false
			}
		}
	}
}

// keepNames keeps, in a forum, the author and the time of each post that is kept: a short block that begins the post or
// has such a name, or a short block with a time, which may lie deeper. Without them nobody could tell who says what in
// a thread. A post that is marked as the answer to another keeps its first block, and the line of a quotation stays
// with what is quoted.
func (t *outline) keepNames(keep []bool) {
	const near, deep = 4, 8
	posts := newPosts(t, keep)
	for i := range t.blocks {
		if i+1 < len(keep) && dom.HasAttr(t.boxes[t.blocks[i].box].node, dom.SaidAttr) {
			keep[i] = keep[i+1] // who is quoted stands with the quotation
			continue
		}
		if keep[i] || t.blocks[i].words > 8 {
			continue
		}
		timed, said := t.blocks[i].signs&signTime != 0, false
		for level, x := 0, t.blocks[i].box; level < deep && x >= 0; level, x = level+1, t.boxes[x].parent {
			b := &t.boxes[x]
			if b.begin == int32(i) && dom.HasAttr(b.node, dom.DepthAttr) && slices.Contains(keep[b.begin:b.end], true) {
				keep[i] = true
				break
			}
			said = said || dom.Attr(b.node, "rel") == "author" || dom.Named(b.node, postNames)
			if (timed || level < near && (said || b.begin == int32(i))) && posts.kept(b) {
				keep[i] = true
				break
			}
		}
	}
}

// postNames are the names of elements that hold the author or the time of a post.
var postNames = dom.Names(`author username user-name post-author post-date post-time poster posted date time-stamp
	author-name p-author topic-author comment-author comment-date`)

// posts tells which boxes are posts that are kept. keepNames asks it of the boxes around a short block.
type posts struct {
	*outline
	keep  []bool
	lists map[postList]bool // do most boxes of a list hold prose that is kept?
}

// postList names boxes that are alike, side by side. shape is that of [dom.Shape].
type postList struct {
	parent int32
	shape  uint32
}

// newPosts counts, to find the posts of a forum, for each list of boxes alike on the page, those that hold prose that
// is kept.
func newPosts(t *outline, keep []bool) *posts {
	p := &posts{t, keep, map[postList]bool{}}
	prose := map[postList]int32{}
	for i := range t.boxes {
		guard.Check(t.ctx)
		if x := &t.boxes[i]; x.alike > 1 && p.says(x, 9) {
			list := postList{x.parent, x.shape}
			prose[list]++
			p.lists[list] = prose[list]*2 > x.alike
		}
	}
	return p
}

// kept reports whether a box is a post of a forum that is kept: it holds prose, or a few words where most of its kind
// hold prose. A post must have others of its kind beside it.
func (p *posts) kept(x *box) bool {
	return x.alike > 1 && (p.says(x, 9) || p.lists[postList{x.parent, x.shape}] && p.says(x, 1))
}

// says reports whether a box that is no longer than a post of a forum holds a kept block of so many words. A box of
// more than 60 blocks is a whole thread.
func (p *posts) says(x *box, words int32) bool {
	if x.end-x.begin > 60 {
		return false
	}
	for i := x.begin; i < x.end; i++ {
		if p.keep[i] && p.blocks[i].words >= words {
			return true
		}
	}
	return false
}
