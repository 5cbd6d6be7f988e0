package fetch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/journal"
)

const (
	damagedPDF   = "\x00\x01 no PDF"
	encryptedPDF = "%PDF-1.4\n1 0 obj << /Type /Catalog /Pages << /Kids [<< /Type /Page >>] >> >> endobj\n" +
		"trailer << /Root 1 0 R /Encrypt << /Filter /Other >> >>"
	picture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x02"
)

// scan returns a PDF of one page that shows no text.
func scan() string {
	file, places := "%PDF-1.4\n", ""
	for i, object := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
		"<< /Length 18 >>\nstream\nq BI /W 1 ID x EI Q\nendstream",
	} {
		places += fmt.Sprintf("%010d 00000 n \n", len(file))
		file += fmt.Sprintf("%d 0 obj %s endobj\n", i+1, object)
	}
	return fmt.Sprintf("%sxref\n0 5\n0000000000 65535 f \n%strailer << /Root 1 0 R /Size 5 >>\nstartxref\n%d\n%%%%EOF\n",
		file, places, len(file))
}

// TestNoThirdPartyIsAskedForAFileOfWhichNothingCanBeRead, even where markdown.new comes first for pages.
func TestNoThirdPartyIsAskedForAFileOfWhichNothingCanBeRead(t *testing.T) {
	for _, content := range []string{damagedPDF, encryptedPDF} {
		c := newChain(t, respond(200, content, "Content-Type: application/pdf"), func(o *fetch.Options) {
			o.MarkdownNew = fetch.MarkdownNew{Mode: "prefer", BaseURL: "http://127.0.0.1:1"}
		})
		_, err := c.Page(t.Context(), fetch.Request{URL: parse(t, "https://site.test/x"), Own: true})
		if list, _, lerr := c.store.Disclosures("", 10); err == nil || lerr != nil || len(list) > 0 {
			t.Errorf("%v; sent %+v, %v", err, list, lerr)
		}
	}
}

func TestAWebArchiveIsReadAsItsPage(t *testing.T) {
	const archive = "MIME-Version: 1.0\r\nContent-Type: multipart/related; type=\"text/html\"; boundary=\"b\"\r\n\r\n" +
		"--b\r\nContent-Type: text/html\r\nContent-Location: https://a.test/\r\n\r\n" +
		"<title>Kept</title><main><h1>Kept</h1><p>The page of the archive.</p></main>\r\n--b--\r\n"
	c := newChain(t, respond(200, archive, `Content-Type: multipart/related; type="text/html"; boundary="b"`))
	ans, err := c.Page(t.Context(), fetch.Request{URL: parse(t, "https://site.test/x.mhtml"), Own: true})
	if err != nil || !strings.Contains(body(t, ans), "The page of the archive.") {
		t.Errorf("%v, %v", ans, err)
	}
	got := c.read(t, "https://site.test/x.mhtml", "Accept: */*")
	if body(t, got) != archive {
		t.Error("a client does not get the archive as it is")
	}
}

// Each is read twice: the second time from the store.
func TestAFileOfWhichNothingCanBeReadIsAnErrorToReaders(t *testing.T) {
	for content, want := range map[string]string{damagedPDF: convert.WarnDamaged, encryptedPDF: convert.WarnEncrypted} {
		log := journal.New(journal.Options{})
		c := newChain(t, respond(200, content, "Content-Type: application/pdf", "Cache-Control: max-age=600"),
			func(o *fetch.Options) { o.Journal = log })
		for _, outcome := range []string{"miss", "hit"} {
			ask := fetch.Request{URL: parse(t, "https://site.test/x"), Own: true}
			_, err := c.Page(t.Context(), ask)
			e, isError := errors.AsType[*fetch.Error](err)
			why, isUnreadable := errors.AsType[*convert.UnreadableError](err)
			if !isError || !isUnreadable || e.Kind != fetch.KindUnsupported || why.Warning != want {
				t.Fatalf("%s: %v, want an error that says %s", outcome, err, want)
			}
			c.Tell(t.Context(), fetch.Reading{Began: time.Now(), Asked: ask, Err: err})
			rows, _, _ := log.List(journal.Filter{}, "", 1)
			if row := rows[0]; row.Outcome != outcome || row.Status != 502 || row.Error != err.Error() ||
				row.Why != err.Error() {
				t.Errorf("log: %s, status %d, error %q", row.Outcome, row.Status, row.Error)
			}
		}
		if c.stored(t, "https://site.test/x") != nil {
			t.Errorf("%s: stored as a page", want)
		}
		if len(c.origin.asked()) != 1 {
			t.Errorf("asked %q", c.origin.asked())
		}
	}
}

func TestAClientGetsAFileOfWhichNothingCanBeReadAsItIs(t *testing.T) {
	for _, tt := range []struct{ name, content, contentType, warning string }{
		{"damaged", damagedPDF, "application/pdf", convert.WarnDamaged},
		{"with a password", encryptedPDF, "application/pdf", convert.WarnEncrypted},
		{"pictures of pages", scan(), "application/pdf", convert.WarnScanned},
		{"a picture as a PDF", picture, "application/pdf", convert.WarnBinary},
		{"a picture as a page", picture, "text/html", convert.WarnBinary},
	} {
		c := newChain(t, respond(200, tt.content, "Content-Type: "+tt.contentType, "Cache-Control: max-age=600"))
		for _, accept := range []string{"*/*", "text/markdown"} {
			ans := c.read(t, "https://site.test/x", "Accept: "+accept)
			if got := body(t, ans); got != tt.content || ans.Header.Get("Content-Type") != tt.contentType ||
				ans.Header.Get("X-Readthru-Warning") != tt.warning {
				t.Errorf("%s, for %s: %q, fields %v", tt.name, accept, got, ans.Header)
			}
		}
	}
}
