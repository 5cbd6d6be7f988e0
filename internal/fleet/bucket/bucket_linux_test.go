package bucket_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/fleet/bucket"
	"github.com/readthru/readthru/internal/fleet/fleettest"
)

func TestAnObjectStoreThatCannotBeUsedSaysWhy(t *testing.T) {
	t.Parallel()
	contents := fleettest.StartBucket(t)
	answer := func(status int, code string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
		}))
		t.Cleanup(s.Close)
		return "s3://k:s@contents?endpoint=" + s.URL
	}
	for _, c := range []struct{ name, url, reason, remedy string }{
		{
			"no such bucket", strings.Replace(contents.URL, "@contents", "@nothing", 1), "404 NoSuchBucket",
			"create the bucket",
		},
		{
			"unknown key", strings.Replace(contents.URL, "reader:", "stranger:", 1), "404 XAdminUserNotFound",
			"correct the access key",
		},
		{
			"wrong secret", strings.Replace(contents.URL, ":secret", ":other", 1), "403 SignatureDoesNotMatch",
			"correct the access key",
		},
		{"wrong region", contents.URL + "&region=eu-west-1", "AuthorizationHeaderMalformed", "correct the region"},
		{
			"denied", answer(403, "AccessDenied"), "403 AccessDenied",
			"allow the access key s3:GetObject and s3:PutObject on contents/*",
		},
		{"clock", answer(403, "RequestTimeTooSkewed"), "403 RequestTimeTooSkewed", "NTP"},
		{"moved", answer(301, "PermanentRedirect"), "301 PermanentRedirect", "correct the region"},
		{
			"no path style", answer(403, "SecondLevelDomainForbidden"), "403 SecondLevelDomainForbidden",
			"endpoint=https://contents.…",
		},
		{"busy", answer(503, "SlowDown"), "503 SlowDown", "tries again"},
		{"old", answer(501, "NotImplemented"), "501 NotImplemented", "If-None-Match"},
		{"no S3", answer(404, ""), "404 Not Found", "correct the endpoint"},
		{"nobody there", "s3://k:s@contents?endpoint=http://127.0.0.1:1", "connection refused", "start it"},
		{
			"no such host", "s3://k:s@contents?endpoint=http://no.such.host.invalid", "no.such.host.invalid has no address",
			"correct",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, err := bucket.New(c.url)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			reason, remedy := b.Explain(b.Try(t.Context()))
			if !strings.Contains(reason, c.reason) || !strings.Contains(remedy, c.remedy) {
				t.Errorf("reason %q, remedy %q; want %q and %q", reason, remedy, c.reason, c.remedy)
			}
		})
	}
}

func TestNew(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	for _, c := range []struct{ url, want string }{
		{"s3://key:secret@bucket", ""},
		{"s3://key:secret@bucket/a/b-c/?endpoint=https://host:9000/&region=eu-west-1", ""},
		{"https://bucket.test", "no URL like s3://"},
		{"s3://key:secret@b", "no name of a bucket"},
		{"s3://key:secret@bucket/a%20b", "no prefix"},
		{"s3://key:secret@bucket/../b", "no prefix"},
		{"s3://key:secret@bucket?endpoint=ftp://host", "endpoint is no URL"},
		{"s3://key:secret@bucket?end=x", `it has "end"`},
		{"s3://bucket", "there is no access key"},
		{"s3://key@bucket", "there is no access key"},
	} {
		_, err := bucket.New(c.url)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.url, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("%v has the secret", err)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	if _, err := bucket.New("s3://bucket"); err != nil {
		t.Errorf("with a key of the environment: %v", err)
	}
}

// A content comes back as it was put, once; what is missing, cut or another is lost.
func TestWhatWasPutIsGot(t *testing.T) {
	t.Parallel()
	contents := fleettest.StartBucket(t)
	b, err := bucket.New(contents.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	content := bytes.Repeat([]byte("a content "), 1000)
	hash := sha256.Sum256(content)
	if _, err := b.Get(t.Context(), hash, len(content)); !errors.Is(err, bucket.ErrLost) {
		t.Errorf("what was never put: %v", err)
	}
	for range 2 {
		if err := b.Put(t.Context(), hash, bucket.Pack(content), false); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := b.Get(t.Context(), hash, len(content)); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for name, packed := range map[string][]byte{
		"another": bucket.Pack([]byte("another")), "cut": bucket.Pack(content)[:20], "empty": {},
	} {
		if err := b.Put(t.Context(), hash, packed, true); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Get(t.Context(), hash, len(content)); !errors.Is(err, bucket.ErrLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzUnpack takes only what is the content of its hash.
func FuzzUnpack(f *testing.F) {
	content := bytes.Repeat([]byte("a body "), 100)
	sum := sha256.Sum256(content)
	f.Add(bucket.Pack(content), len(content), sum[:])
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd}, 1<<40, []byte(nil))
	f.Fuzz(func(t *testing.T, packed []byte, length int, hash []byte) {
		got, err := bucket.Unpack(packed, length, hash)
		if sum := sha256.Sum256(got); err == nil && (len(got) != length || !bytes.Equal(sum[:], hash)) {
			t.Errorf("%d bytes that are not those that were told of", len(got))
		}
	})
}
