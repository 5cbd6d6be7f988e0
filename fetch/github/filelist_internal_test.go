package github

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestListOfFilesKeepsToItsLength(t *testing.T) {
	var files []string
	for i := range 30_000 {
		files = append(files, fmt.Sprintf("src/package%03d/part%02d/file%05d.go", i%700, i%13, i))
	}
	files = append(files, "README.md", "go.mod")
	rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	list := fileList(files)
	if len(list) > listBudget+4<<10 || !strings.HasPrefix(list, "README.md\ngo.mod\nsrc/ (30000 files)\n") {
		t.Errorf("%d bytes:\n%.500s", len(list), list)
	}
	list = fileList([]string{"b/c/d.go", "a.go", "b/x.go", "b/a.go"})
	if want := "a.go\nb/: a.go x.go\nb/c/: d.go\n"; list != want {
		t.Errorf("fileList = %q, want %q", list, want)
	}
}
