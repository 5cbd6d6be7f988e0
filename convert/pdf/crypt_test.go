package pdf_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/readthru/readthru/convert/pdf"
)

// The files are document("BT /F1 12 Tf (one) Tj ET", "… (two) …") under the empty user password, as qpdf encrypts it.
func TestFilesThatNeedNoPasswordAreDecrypted(t *testing.T) {
	for _, name := range []string{"rc4-40", "rc4-128", "aes-128", "aes-128-metadata", "aes-256-r5", "aes-256"} {
		t.Run(name, func(t *testing.T) {
			got, f := read(t, sample(t, name+".pdf"))
			if got != "one\ntwo" || f.Title != "Of rivers" || f.Author != "Ém" || f.Cut() {
				t.Errorf("got %q, %q by %q, cut %v", got, f.Title, f.Author, f.Cut())
			}
		})
	}
}

func TestFilesThatNeedAPasswordAreRefused(t *testing.T) {
	if _, err := pdf.Open(t.Context(), sample(t, "locked.pdf")); !errors.Is(err, pdf.ErrEncrypted) {
		t.Errorf("got %v, want ErrEncrypted", err)
	}
}

func sample(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
