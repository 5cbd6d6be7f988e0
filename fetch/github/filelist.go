package github

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Bounds of the list of files on a repository's page.
const (
	listBudget = 12 << 10 // bytes of a list of files
	listPerDir = 60       // files of a folder that are named
)

// folder is a folder in the list of files of a repository.
type folder struct {
	path  string // empty: the top
	depth int
	files []string // names
	total int      // files in it and in its subfolders
	subs  []*folder
	open  bool // its files are listed
}

// fileList writes the files of a repository by folder, one folder a line. It lists the files at the top first, then
// those of as many folders as listBudget allows, a whole level before the next one: what is near the top tells most. Of
// other folders it writes the number of files.
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
			next = append(next, d.subs...)
		}
		level = next
	}
	var b strings.Builder
	top.write(&b)
	return b.String()
}

// foldersOf returns, for the list of files, the tree of the folders that hold a repository's files.
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
		parent.subs = append(parent.subs, d)
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

// sort orders, for the list, a folder's files and subfolders by name, and sets their totals.
func (d *folder) sort() {
	slices.Sort(d.files)
	slices.SortFunc(d.subs, func(a, b *folder) int { return strings.Compare(a.path, b.path) })
	d.total = len(d.files)
	for _, b := range d.subs {
		b.sort()
		d.total += b.total
	}
}

// cost returns how many bytes the list of files grows when a folder is opened: its files, and a line for each
// subfolder.
func (d *folder) cost() int {
	n := 0
	for i, f := range d.files {
		if i == listPerDir {
			break
		}
		n += len(f) + 1
	}
	for _, b := range d.subs {
		n += len(b.path) + len("/ (100000 files)\n")
	}
	return n
}

// write writes the lines of the list of files of a folder that are open, and of its subfolders. The top has a line for
// each of its files, and up to twice as many files as another folder names.
func (d *folder) write(b *strings.Builder) {
	switch {
	case !d.open:
		fmt.Fprintf(b, "%s/ (%s)\n", d.path, counted(d.total, "file"))
		return
	case len(d.files) == 0 && d.path != "":
		// its subfolders name it
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
	for _, f := range d.subs {
		f.write(b)
	}
}

// counted returns, for the list of files, a number with its noun: "1 file", "2 files".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
