package bucket

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// answering returns a bucket whose object store answers by f.
func answering(t *testing.T, f http.HandlerFunc) *Bucket {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	b, err := New("s3://contents?endpoint=" + s.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// withoutKeys clears what names an access key in the environment.
func withoutKeys(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "SHARED_CREDENTIALS_FILE",
		"PROFILE", "CONTAINER_CREDENTIALS_FULL_URI", "CONTAINER_CREDENTIALS_RELATIVE_URI",
		"CONTAINER_AUTHORIZATION_TOKEN", "CONTAINER_AUTHORIZATION_TOKEN_FILE",
	} {
		t.Setenv("AWS_"+name, "")
	}
}

// signedBy returns the access key and the token of a request, if the token is signed.
func signedBy(r *http.Request) string {
	field := r.Header.Get("Authorization")
	_, after, _ := strings.Cut(field, "Credential=")
	key, _, _ := strings.Cut(after, "/")
	if token := r.Header.Get("X-Amz-Security-Token"); token != "" && strings.Contains(field, "x-amz-security-token") {
		key += " " + token
	}
	return key
}

func TestATemporaryKeyOfTheEnvironmentIsUsed(t *testing.T) {
	withoutKeys(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "token")
	got := ""
	b := answering(t, func(_ http.ResponseWriter, r *http.Request) { got = signedBy(r) })
	if err := b.Put(t.Context(), [32]byte{}, nil, false); err != nil || got != "key token" {
		t.Errorf("signed by %q, %v", got, err)
	}
}

// The object store says that the key has expired, and the next request has the one that the file has by then.
func TestAKeyInAFileIsReadAgainAfterItExpired(t *testing.T) {
	withoutKeys(t)
	file := filepath.Join(t.TempDir(), "credentials")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	t.Setenv("AWS_PROFILE", "fleet")
	write := func(key string) {
		t.Helper()
		text := "# keys\n[default]\naws_access_key_id = other\naws_secret_access_key = s\n\n[ fleet ]\n" +
			"aws_access_key_id = " + key + "\naws_secret_access_key=secret+/=\naws_session_token = token==\n" +
			"region = x\n[last]\naws_access_key_id = last\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	b := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if got = append(got, signedBy(r)); len(got) == 2 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, "<Error><Code>ExpiredToken</Code></Error>")
		}
	})
	put := func() error { return b.Put(t.Context(), [32]byte{}, nil, false) }
	write("first")
	if err := put(); err != nil {
		t.Fatal(err)
	}
	write("second")
	if err := put(); !RefusedWith(err, http.StatusBadRequest) {
		t.Errorf("a key that has expired: %v", err)
	}
	if err := put(); err != nil {
		t.Fatal(err)
	}
	if want := "first token==, first token==, second token=="; strings.Join(got, ", ") != want {
		t.Errorf("signed by %q, want %s", got, want)
	}
}

func TestAKeyOfAServiceIsAskedForAgainBeforeItExpires(t *testing.T) {
	withoutKeys(t)
	asked := 0
	lives := 30 * time.Second
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Authorization") != "the pod's" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = fmt.Fprintf(w, `{"AccessKeyId":"key%d","SecretAccessKey":"s","Token":"t","Expiration":%q}`, asked,
			time.Now().Add(lives).Format(time.RFC3339))
	}))
	defer service.Close()
	token := filepath.Join(t.TempDir(), "token")
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", service.URL+"/v1/credentials")
	t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token)
	var got []string
	b := answering(t, func(_ http.ResponseWriter, r *http.Request) { got = append(got, signedBy(r)) })
	put := func() error { return b.Put(t.Context(), [32]byte{}, nil, false) }
	for _, c := range []struct{ next, want string }{{"another's", "no such file"}, {"the pod's\n", "403"}} {
		reason, remedy := b.Explain(put())
		if !strings.Contains(reason, c.want) || !strings.Contains(remedy, "AWS_CONTAINER_") {
			t.Errorf("%s; %s; want %s", reason, remedy, c.want)
		}
		if err := os.WriteFile(token, []byte(c.next), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	asked = 0
	for range 2 { // it would expire within a minute
		if err := put(); err != nil {
			t.Fatal(err)
		}
	}
	lives = time.Hour
	for range 2 {
		if err := put(); err != nil {
			t.Fatal(err)
		}
	}
	if want := "key1 t, key2 t, key3 t, key3 t"; strings.Join(got, ", ") != want {
		t.Errorf("signed by %q, want %s", got, want)
	}
}

// Whatever is at the place of a key, the node says which variables to look at.
func TestAKeyThatCannotBeHadSaysWhere(t *testing.T) {
	withoutKeys(t)
	if _, err := New("s3://contents"); err == nil || !strings.Contains(err.Error(), "AWS_SHARED_CREDENTIALS_FILE") {
		t.Errorf("without any: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	for _, c := range []struct{ name, answer, want string }{
		{"AWS_SHARED_CREDENTIALS_FILE", "[x]\naws_access_key_id=k\naws_secret_access_key=s", "has none for the profile"},
		{"AWS_SHARED_CREDENTIALS_FILE", "aws_access_key_id=k", "has none for the profile default"},
		{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "no JSON", "does not answer with one"},
		{"AWS_CONTAINER_CREDENTIALS_FULL_URI", `{"AccessKeyId":"k"}`, "has none"},
	} {
		withoutKeys(t)
		if err := os.WriteFile(file, []byte(c.answer), 0o600); err != nil {
			t.Fatal(err)
		}
		service := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(file))))
		t.Setenv(c.name, map[bool]string{true: file, false: service.URL + "/file"}[strings.HasSuffix(c.name, "FILE")])
		b := answering(t, func(http.ResponseWriter, *http.Request) { t.Error("a request without a key") })
		reason, remedy := b.Explain(b.Try(t.Context()))
		if !strings.Contains(reason, c.want) || !strings.Contains(remedy, "AWS_SHARED_CREDENTIALS_FILE") {
			t.Errorf("%s: %s; %s; want %s", c.answer, reason, remedy, c.want)
		}
		service.Close()
	}
}

// An object store that is busy is asked again, four times in all.
func TestABusyObjectStoreIsAskedAgain(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	for busy, want := range map[int]int{0: 1, 3: 4, 9: 4} {
		asked := 0
		b := answering(t, func(w http.ResponseWriter, r *http.Request) {
			if text := make([]byte, 4); r.ContentLength != 4 {
				t.Errorf("request %d has %d bytes", asked, r.ContentLength)
			} else if n, _ := r.Body.Read(text); string(text[:n]) != "body" {
				t.Errorf("request %d has %q", asked, text[:n])
			}
			if asked++; asked <= busy {
				w.WriteHeader(http.StatusServiceUnavailable)
				_, _ = fmt.Fprint(w, "<Error><Code>SlowDown</Code></Error>")
			}
		})
		err := b.Put(t.Context(), [32]byte{}, []byte("body"), false)
		if asked != want || (err == nil) != (busy < want) || err != nil && !IsBusy(err) {
			t.Errorf("busy for %d requests: %d were made, %v", busy, asked, err)
		}
	}
}
