package pdf

// layers reads which groups of optional content a viewer does not show (§8.11). The default configuration counts, as
// viewers open the file with it. f.off stays nil for files without layers.
func (f *File) layers() {
	r := f.r
	properties := r.dict(r.dict(r.trailer["Root"])["OCProperties"])
	if properties == nil {
		return
	}
	f.off = map[ref]bool{}
	set := func(v any, off bool) {
		list, _ := r.resolve(v).([]any)
		for _, item := range list {
			r.step()
			if to, ok := item.(ref); ok {
				f.off[to] = off
			}
		}
	}
	shown := r.dict(properties["D"])
	if r.name(shown["BaseState"]) == "OFF" {
		set(properties["OCGs"], true)
	}
	set(shown["ON"], false)
	set(shown["OFF"], true)
}

// hidden reports whether content of a layer, or of several, is not shown: of a group of optional content, or of a set
// of groups. v is the entry OC of a picture or form, or the property list of marked content: a group, or an OCMD with a
// policy for several (§8.11.2.2).
func (f *File) hidden(v any) bool {
	if len(f.off) == 0 || v == nil {
		return false
	}
	if to, ok := v.(ref); ok && f.off[to] {
		return true
	}
	d := f.r.dict(v)
	if f.r.name(d["Type"]) != "OCMD" {
		return false
	}
	groups, isList := f.r.resolve(d["OCGs"]).([]any)
	if !isList {
		groups = []any{d["OCGs"]}
	}
	on, off := 0, 0
	for _, g := range groups {
		if to, ok := g.(ref); ok {
			if f.off[to] {
				off++
			} else {
				on++
			}
		}
	}
	switch f.r.name(d["P"]) {
	case "AllOn":
		return off > 0
	case "AnyOff":
		return on > 0 && off == 0
	case "AllOff":
		return on > 0
	}
	return off > 0 && on == 0
}
