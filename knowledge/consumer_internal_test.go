package knowledge

import (
	"testing"

	"github.com/readthru/readthru/knowledge/annotation"
	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/storetest"

	"github.com/readthru/readthru/page"
)

func TestADocumentThatComesBackBeforeItsDeletionIsDoneStaysInItsBase(t *testing.T) {
	k, err := Open(Options{Store: storetest.Open(t)})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer k.Close() //nolint:errcheck // nothing was written since
	if _, err := k.CreateBase(Base{Name: "docs"}); err != nil {
		t.Fatalf("CreateBase: %v", err)
	}
	done, err := k.Ingest(t.Context(), Ingestion{Text: "walrus", KB: "docs"})
	if err != nil {
		t.Fatalf("Ingest: %v", err)
	}
	d, err := k.FindDocument(done.Doc)
	if err != nil {
		t.Fatalf("FindDocument: %v", err)
	}
	// The consumer had looked for the document when it was not there, and now acts on that.
	if err := k.removeDocument(t.Context(), d.Key); err != nil {
		t.Fatalf("vanish: %v", err)
	}
	if err := k.Drain(t.Context()); err != nil {
		t.Fatalf("Drain: %v", err)
	}
	if b, err := k.Base("docs"); err != nil || b.Documents != 1 || b.Passages != 1 {
		t.Errorf("the base has %d documents, %d passages, %v: want one of each", b.Documents, b.Passages, err)
	}
	if _, err := k.records.Get(annotation.QueuePrefix + string(d.Key[:])); err != nil {
		t.Errorf("the document does not wait for its annotation any more: %v", err)
	}
}

func TestARequestMadeWhileItsDocumentIsIndexedIsKept(t *testing.T) {
	k, err := Open(Options{Store: storetest.Open(t)})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer k.Close() //nolint:errcheck // nothing was written since
	key := page.KeyOf("https://a.test/")
	if err := k.records.Apply(archive.Queued(key), archive.Queued(key)); err != nil {
		t.Fatal(err)
	}
	tasks, _, err := k.tasks(true)
	if err != nil || len(tasks) != 1 || len(tasks[0].requests) != 2 {
		t.Fatalf("%d tasks, %v: want one, of two requests", len(tasks), err)
	}
	if err := k.records.Apply(archive.Queued(key)); err != nil {
		t.Fatal(err)
	}
	if err := k.settle(tasks, nil); err != nil {
		t.Fatal(err)
	}
	if again, _, err := k.tasks(true); err != nil || len(again) != 1 || len(again[0].requests) != 1 {
		t.Errorf("%d tasks, %v: want the request that was made meanwhile", len(again), err)
	}
}
