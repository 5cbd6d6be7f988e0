package github

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// refList is what a forge lists of a repository's branches.
type refList struct {
	head     string   // the default branch; empty if it is not known
	branches []string // nil if they are not known
	asked    time.Time
}

// Bounds of git's list of references.
const (
	maxRefs  = 4 << 20 // bytes of the list that are read
	maxPkt   = 65520   // bytes of a line (gitprotocol-common)
	headsDir = "refs/heads/"
)

// listRefs asks a forge for a repository's branches as git does before it clones (gitprotocol-http). No API and no
// token is needed. The list is empty without an answer, which is kept as well.
func (r *read) listRefs(ctx context.Context) refList {
	key := r.t.CloneURL
	if known, ok := r.refs.Get(key); ok && time.Since(known.asked) < projectLifetime {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var list refList
	_, err := r.shown(ctx, r.t, func(c *credential) error {
		fields := http.Header{"Accept": {"application/x-git-upload-pack-advertisement"}}
		if authorization := r.t.forGit(c); authorization != "" {
			fields.Set("Authorization", authorization)
		}
		resp, from, err := r.get(ctx, below(r.t.base, r.t.place()+".git/info/refs", "service=git-upload-pack"), fields)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return statusError(resp, from)
		}
		list, err = readRefs(io.LimitReader(resp.Body, maxRefs))
		return err
	})
	if err != nil {
		r.o.Log.Debug("branches not listed", "host", r.t.host.name, "err", err)
	}
	list.asked = time.Now()
	r.refs.Add(key, list)
	return list
}

// readRefs reads git's advertisement of references, version 0 or 1, up to the last branch, which tags follow. The
// default branch is among the capabilities in the first line. A list that is cut is used as far as it goes.
func readRefs(body io.Reader) (list refList, err error) {
	in := bufio.NewReader(body)
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(in, head); err != nil {
			return list, nil //nolint:nilerr // the list may be cut
		}
		size, err := strconv.ParseUint(string(head), 16, 16)
		if err != nil || size > maxPkt {
			return refList{}, &refusedError{errors.New("the host does not list its branches")}
		}
		if size < 4 { // the end of a section
			continue
		}
		line := make([]byte, size-4)
		if _, err := io.ReadFull(in, line); err != nil {
			return list, nil //nolint:nilerr // the list may be cut
		}
		text, capabilities, _ := strings.Cut(string(line), "\x00")
		for word := range strings.FieldsSeq(capabilities) {
			if head, ok := strings.CutPrefix(word, "symref=HEAD:"+headsDir); ok {
				list.head = head
			}
		}
		_, name, _ := strings.Cut(strings.TrimSpace(text), " ")
		if branch, ok := strings.CutPrefix(name, headsDir); ok {
			list.branches = append(list.branches, branch)
		} else if name > headsDir && strings.HasPrefix(name, "refs/") {
			return list, nil
		}
	}
}

// divide finds out, by the list of refs, where the branch of a target ends and the path begins, and notes it: URLs of
// files do not tell it of branches with slashes. The longest branch that fits is it. Names that cannot go on are not
// asked for.
func (r *read) divide(ctx context.Context) {
	t := r.t
	if t.Path == "" || plainRef(t.Branch) || !t.tree && isVersion(t.Branch) {
		return
	}
	whole, best := t.Branch+"/"+t.Path, ""
	for _, branch := range r.listRefs(ctx).branches {
		if (branch == whole || strings.HasPrefix(whole, branch+"/")) && len(branch) > len(best) {
			best = branch
		}
	}
	if best != "" && (t.tree || best != whole) {
		info := *t.GitHubInfo
		info.Branch, info.Path = best, strings.TrimPrefix(strings.TrimPrefix(whole, best), "/")
		t.GitHubInfo = &info
	}
}

// plainRef reports whether a ref is the name of a commit, or of a branch that most repositories have: it goes no
// further, because git allows no branch main/x beside a branch main.
func plainRef(name string) bool {
	switch name {
	case "main", "master", "HEAD", "trunk", "develop":
		return true
	}
	return commitID(name)
}

// isVersion reports whether a ref, by its name, looks like the tag of a version, which hardly ever has a slash.
func isVersion(name string) bool {
	number := strings.TrimPrefix(name, "v")
	return number != "" && number[0] >= '0' && number[0] <= '9'
}

// Divide finds out, by the list of refs, where the branch of a file's URL ends and the path begins, if that is in
// doubt, for the caller that fetches the file.
func (r *Reader) Divide(ctx context.Context, t *Target, follow func(next *url.URL) error) {
	(&read{Reader: r, t: t, follow: follow}).divide(ctx)
}
