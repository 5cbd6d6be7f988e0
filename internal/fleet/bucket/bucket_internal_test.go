package bucket

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Where objects are, in the styles of Amazon and of other servers.
func TestBase(t *testing.T) {
	for url, want := range map[string]string{
		"s3://k:s@contents/a?region=eu-west-1":                        "https://contents.s3.eu-west-1.amazonaws.com/a/",
		"s3://k:s@contents.test?region=eu-west-1":                     "https://s3.eu-west-1.amazonaws.com/contents.test/",
		"s3://k:s@contents?region=cn-north-1":                         "https://contents.s3.cn-north-1.amazonaws.com.cn/",
		"s3://k:s@contents/a?endpoint=https://host:9000":              "https://host:9000/contents/a/",
		"s3://k:s@contents/a?endpoint=https://host/s3/":               "https://host/s3/contents/a/",
		"s3://k:s@contents/a?endpoint=https://contents.oss.test":      "https://contents.oss.test/a/",
		"s3://k:s@contents?endpoint=https://contents-1.oss.test:443/": "https://contents-1.oss.test:443/contents/",
	} {
		b, err := New(url)
		if err != nil || b.base != want {
			t.Errorf("%s: %q, %v, want %q", url, b.base, err, want)
		}
	}
}

// A bucket with object lock takes no object without a checksum, and X-Amz-Content-Sha256 is none in this sense.
func TestAnObjectComesWithItsChecksum(t *testing.T) {
	var sum string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sum = r.Header.Get("Content-MD5")
	}))
	defer s.Close()
	b, err := New("s3://k:s@contents?endpoint=" + s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	// of RFC 1321's third example, "abc"
	if err := b.Put(t.Context(), [32]byte{}, []byte("abc"), false); err != nil ||
		sum != "kAFQmDzST7DWlj99KOF/cg==" {
		t.Errorf("%v, %q", err, sum)
	}
}
