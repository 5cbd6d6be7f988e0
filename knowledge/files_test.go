package knowledge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/knowledge"
)

// folder writes files into a new folder: names and contents in turn.
func folder(tb testing.TB, files ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatalf("%v", err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o600); err != nil {
			tb.Fatalf("%v", err)
		}
	}
	return dir
}

// upper stands for a converter: it makes the content its title.
func upper(_ context.Context, name string, content []byte) (title, markdown string, err error) {
	if strings.Contains(string(content), "broken") {
		return "", "", errors.New("no page can be read")
	}
	return "Converted " + name, "---\ntitle: x\n---\n\n" + strings.ToUpper(string(content)), nil
}

// parcel packs files.
func parcel(t *testing.T, paths ...string) io.Reader {
	t.Helper()
	var b bytes.Buffer
	if err := knowledge.PackFiles(t.Context(), &b, paths, ""); err != nil {
		t.Fatalf("PackFiles: %v", err)
	}
	return &b
}

// filed adds paths to a new base and returns the report and the documents: "title: first line".
func filed(t *testing.T, k *opened, paths ...string) (*knowledge.FileReport, []string, error) {
	t.Helper()
	k.newBase(t, "files", knowledge.SourceFile)
	b := k.build(t, "files")
	r, err := b.AddFiles(t.Context(), parcel(t, paths...), nil)
	if err != nil {
		return r, nil, err
	}
	if _, err := b.Commit(t.Context()); err != nil {
		t.Fatalf("Commit: %v", err)
	}
	list, _, err := k.Documents("files", "", 1000)
	if err != nil {
		t.Fatalf("Documents: %v", err)
	}
	var documents []string
	for _, e := range list {
		d, err := k.Document(e.Key)
		if err != nil {
			t.Fatalf("Document: %v", err)
		}
		first, _, _ := strings.Cut(string(d.Markdown), "\n")
		documents = append(documents, filepath.Base(d.URL)+" | "+d.Title+" | "+first)
	}
	slices.Sort(documents)
	return r, documents, nil
}

func TestFilesOfAFolder(t *testing.T) {
	dir := folder(t,
		"a.md", "---\ntitle: \"From the front\"\n---\n\n# Heading\n\ntext",
		"b.markdown", "\n\n# A *heading*\n\ntext",
		"sub/c.txt", "plain # text",
		"sub/d.html", "<p>hello</p>",
		"sub/e.pdf", "%PDF-1.7 broken",
		"sub/f.png", "\x89PNG",
		"sub/g.md", "\x00\x01\x02 binary",
		"sub/h.md", " \n",
		".git/config.md", "hidden",
		"sub/.hidden.md", "hidden",
		"node_modules/x/README.md", "not ours",
		"latin.txt", "caf\xe9 au lait, with more text than strange bytes",
		"z.jsonl", `{"_id": "id-1", "url": "https://a.test/1", "title": "T", "text": "one"}`+"\n"+
			`{"_id": 12345678901234567890, "text": "two"}`+"\n\n"+
			`not json`+"\n"+
			`{"url": "https://A.test:443/3#x", "title": "Only a title", "text": " "}`+"\n"+
			`{"title": "no id", "text": "x"}`+"\n"+
			`{"_id": "x", "text": 5}`+"\n"+
			`{"_id": "", "url": "https://u:p@a.test/", "text": "secret"}`+"\n"+
			`{"_id": "last", "text": "no line break at the end"}`,
	)
	if err := os.Symlink(filepath.Join(dir, "a.md"), filepath.Join(dir, "link.md")); err != nil {
		t.Logf("no links here: %v", err)
	}
	k := open(t, "", knowledge.Options{Convert: upper})
	r, documents, err := filed(t, k, dir)
	if err != nil {
		t.Fatalf("AddFiles: %v", err)
	}
	want := []string{
		"12345678901234567890 |  | two",
		"3 | Only a title | Only a title",
		"a.md | From the front | # Heading",
		"b.markdown | A heading | ",
		"c.txt | c.txt | plain # text",
		"d.html | Converted d.html | <P>HELLO</P>",
		"id-1 | T | one",
		"last |  | no line break at the end",
		"latin.txt | latin.txt | caf\uFFFD au lait, with more text than strange bytes",
	}
	if diff := cmp.Diff(want, documents); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	var reasons []string
	for _, s := range r.Reasons {
		reasons = append(reasons, fmt.Sprintf("%s:%d: %s", filepath.Base(s.Path), s.Line,
			strings.SplitN(s.Reason, ":", 2)[0]))
	}
	slices.Sort(reasons)
	wantReasons := []string{
		"e.pdf:0: no page can be read", "g.md:0: binary, not text", "h.md:0: empty",
		"z.jsonl:4: not a JSON object with text fields", `z.jsonl:6: no "_id" or "url"`,
		"z.jsonl:7: not a JSON object with text fields", "z.jsonl:8: its URL carries a credential",
	}
	if diff := cmp.Diff(wantReasons, reasons); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if r.Documents != 9 || r.Skipped != 7 || r.Files != 6 {
		t.Errorf("report %+v, want 9 documents of 6 files, 7 skipped", r)
	}
	if got := k.find(t, "files", `"no line break"`); !slices.Equal(got, []string{"last"}) {
		t.Errorf("found %v, want the record's id in place of a URL", got)
	}
}

func TestNamedFileOfAnyNameIsTakenWhenItIsText(t *testing.T) {
	dir := folder(t, "LICENSE", "# Licence\n\nYou may.", "image", "\x89PNG\x00", "paper", "%PDF-1.7 good")
	k := open(t, "", knowledge.Options{Convert: upper})
	r, documents, err := filed(t, k, filepath.Join(dir, "LICENSE"), filepath.Join(dir, "image"),
		filepath.Join(dir, "paper"), dir+"/./LICENSE")
	if err != nil {
		t.Fatalf("AddFiles: %v", err)
	}
	want := []string{"LICENSE | Licence | # Licence", "paper | Converted paper | %PDF-1.7 GOOD"}
	if diff := cmp.Diff(want, documents); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if len(r.Reasons) != 1 || r.Reasons[0].Reason != "binary, not text" {
		t.Errorf("skipped %v, want the image", r.Reasons)
	}
}

func TestNothingToTakeIsAnError(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.newBase(t, "files", knowledge.SourceFile)
	b := k.build(t, "files")
	for name, path := range map[string]string{
		"missing":         filepath.Join(t.TempDir(), "nope"),
		"empty folder":    t.TempDir(),
		"only binary":     folder(t, "a.md", "\x00\x00"),
		"no converter":    folder(t, "a.pdf", "%PDF"),
		"only bad lines":  folder(t, "a.jsonl", "{}\n{}\n"),
		"device":          os.DevNull,
		"one empty file":  filepath.Join(folder(t, "a.md", ""), "a.md"),
		"broken JSON end": folder(t, "a.jsonl", `{"_id": "x", "text"`),
	} {
		var parcel bytes.Buffer
		err := knowledge.PackFiles(t.Context(), &parcel, []string{path}, "")
		var r *knowledge.FileReport
		if err == nil {
			r, err = b.AddFiles(t.Context(), &parcel, nil)
		}
		if err == nil {
			t.Errorf("%s: no error, report %+v", name, r)
		}
	}
}

func TestFilesOfTheDataDirectoryAreNotPacked(t *testing.T) {
	dir := folder(t, "a.md", "# A", "data/ca/ca.key", "secret", "data/b.md", "# Secret")
	private := filepath.Join(dir, "data")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(private, "ca"), link); err != nil {
		t.Fatal(err)
	}
	var parcel bytes.Buffer
	if err := knowledge.PackFiles(t.Context(), &parcel, []string{dir}, private); err != nil {
		t.Fatal(err)
	}
	if text := parcel.String(); !strings.Contains(text, "# A") || strings.Contains(text, "ecret") {
		t.Errorf("the parcel of the folder above is %q", text)
	}
	for _, path := range []string{
		private, filepath.Join(private, "ca"), filepath.Join(private, "ca", "ca.key"), filepath.Join(link, "ca.key"), link,
	} {
		if err := knowledge.PackFiles(t.Context(), io.Discard, []string{path}, private); err == nil {
			t.Errorf("%s is packed", path)
		}
	}
}

func TestWhatIsNoParcelIsAnError(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.newBase(t, "files", knowledge.SourceFile)
	b := k.build(t, "files")
	whole, err := io.ReadAll(parcel(t, folder(t, "a.md", "# A\n\nText.")))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"nothing": "", "text": strings.Repeat("text ", 1000), "cut in the content": string(whole[:3*512+600]),
		"cut in a header": string(whole[:700]),
	} {
		if r, err := b.AddFiles(t.Context(), strings.NewReader(content), nil); err == nil {
			t.Errorf("%s: no error, report %+v", name, r)
		}
	}
}

func TestProgressCountsEveryDocument(t *testing.T) {
	dir := folder(t, "a.md", "one", "b.jsonl", "{\"_id\": \"x\", \"text\": \"1\"}\n{\"_id\": \"y\", \"text\": \"2\"}\n",
		"c.md", "three")
	k := open(t, "", knowledge.Options{})
	k.newBase(t, "files", knowledge.SourceFile)
	var got []string
	_, err := k.build(t, "files").AddFiles(t.Context(), parcel(t, dir), func(i, total int, url string) {
		got = append(got, fmt.Sprintf("%d/%d %s", i, total, filepath.Base(url)))
	})
	if err != nil {
		t.Fatalf("AddFiles: %v", err)
	}
	want := []string{"1/3 a.md", "2/4 x", "3/4 y", "4/4 c.md"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func TestASavedPageIsThePageThatItNames(t *testing.T) {
	k := open(t, "", knowledge.Options{Convert: upper})
	_, got, err := filed(t, k, folder(t,
		"saved.html", "<!--\n Page saved with SingleFile \n url: https://saved.test/river \n--><p>hello</p>",
		"secret.html", "<!--\n Page saved with SingleFile \n url: https://saved.test/x?token=secret \n--><p>hi</p>"))
	if err != nil || len(got) != 2 || !strings.HasPrefix(got[0], "river | ") ||
		!strings.HasPrefix(got[1], "secret.html | ") {
		t.Errorf("%v, %q", err, got)
	}
}
