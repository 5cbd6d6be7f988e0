package fetch

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

const (
	listBudget = 12 << 10 // bytes of a list of files
	listPerDir = 60       // files of a folder that are named
)

// folder is a folder of a list of files.
type folder struct {
	path   string // empty: the top
	depth  int
	files  []string // names
	within int      // files in it and below
	below  []*folder
	open   bool // its files are named
}

// fileList lists files by folder, a folder a line: those at the top first, and of the others as many as there is room
// for, whole levels before what lies deeper. A folder whose files are not named says how many it holds.
func fileList(files []string) string {
	top := foldersOf(files)
	room := listBudget
	level := []*folder{top}
	for len(level) > 0 {
		var next []*folder
		for _, d := range level {
			cost := d.cost()
			if d != top && cost > room {
				continue
			}
			d.open = true
			room -= cost
			next = append(next, d.below...)
		}
		level = next
	}
	var b strings.Builder
	top.write(&b)
	return b.String()
}

// foldersOf makes the tree of folders that files lie in.
func foldersOf(files []string) *folder {
	top := &folder{}
	known := map[string]*folder{"": top}
	var at func(dir string) *folder
	at = func(dir string) *folder {
		if dir == "." {
			dir = ""
		}
		if d := known[dir]; d != nil {
			return d
		}
		parent := at(path.Dir(dir))
		d := &folder{path: dir, depth: parent.depth + 1}
		parent.below = append(parent.below, d)
		known[dir] = d
		return d
	}
	for _, f := range files {
		d := at(path.Dir(f))
		d.files = append(d.files, path.Base(f))
	}
	top.sort()
	return top
}

// sort brings all below d into order and counts.
func (d *folder) sort() {
	slices.Sort(d.files)
	slices.SortFunc(d.below, func(a, b *folder) int { return strings.Compare(a.path, b.path) })
	d.within = len(d.files)
	for _, b := range d.below {
		b.sort()
		d.within += b.within
	}
}

// cost is how many bytes more it takes to open d: its files, and a line for each folder in it.
func (d *folder) cost() int {
	n := 0
	for i, f := range d.files {
		if i == listPerDir {
			break
		}
		n += len(f) + 1
	}
	for _, b := range d.below {
		n += len(b.path) + len("/ (100000 files)\n")
	}
	return n
}

func (d *folder) write(b *strings.Builder) {
	switch {
	case !d.open:
		fmt.Fprintf(b, "%s/ (%s)\n", d.path, counted(d.within, "file"))
		return
	case len(d.files) == 0 && d.path != "":
		// its folders name it
	case d.path == "":
		for i, f := range d.files {
			if i == 2*listPerDir {
				fmt.Fprintf(b, "… and %s more\n", counted(len(d.files)-i, "file"))
				break
			}
			b.WriteString(f + "\n")
		}
	default:
		b.WriteString(d.path + "/: " + strings.Join(d.files[:min(len(d.files), listPerDir)], " "))
		if more := len(d.files) - listPerDir; more > 0 {
			fmt.Fprintf(b, " … and %d more", more)
		}
		b.WriteString("\n")
	}
	for _, f := range d.below {
		f.write(b)
	}
}

// counted returns a number with what it counts.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
