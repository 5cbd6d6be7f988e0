package botauth

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
)

// published is the key of RFC 9421 appendix B.1.4, with which the draft's examples are signed.
func published(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	seed, err := base64.RawURLEncoding.DecodeString("n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU")
	if err != nil {
		t.Fatal(err)
	}
	return ed25519.NewKeyFromSeed(seed)
}

// verify checks the signature of a request as an origin does: it knows the key and nothing else (RFC 9421 §3.2).
func verify(t *testing.T, r *http.Request, name string, public ed25519.PublicKey) (params *httpsfv.Params, ok bool) {
	t.Helper()
	dictionary := func(field string) *httpsfv.Dictionary {
		d, err := httpsfv.UnmarshalDictionary(r.Header.Values(field))
		if err != nil {
			t.Fatalf("%s: %v", field, err)
		}
		return d
	}
	member, found := dictionary("Signature-Input").Get(name)
	input, isList := member.(httpsfv.InnerList)
	if !found || !isList {
		t.Fatalf("no member %s in %q", name, r.Header["Signature-Input"])
	}
	signature, _ := dictionary("Signature").Get(name)
	var agent *httpsfv.Dictionary
	if len(r.Header["Signature-Agent"]) > 0 {
		agent = dictionary("Signature-Agent")
	}
	text, err := base(r, agent, input)
	if err != nil {
		t.Fatal(err)
	}
	return input.Params, ed25519.Verify(public, []byte(text), signature.(httpsfv.Item).Value.([]byte))
}

// The examples of the drafts (of -01 of the working group, and of those before it) verify byte for byte, and their key
// has the name that they give it.
func TestPublishedSignaturesVerify(t *testing.T) {
	key := published(t)
	if got := thumbprint(key); got != "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U" {
		t.Errorf("thumbprint %s", got)
	}
	for _, tt := range []struct{ label, input, signature, agent string }{
		{
			"sig1",
			`sig1=("@authority");created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600;nonce="zIW8+cdmA3vdYagbxojpONwa/l0EKJ/O3/wD486VvsQjO/RxPaSt6ZxvQaMcQzNnqKN/mQ6hpGiFro2L2qkz5A==";tag="web-bot-auth"`,
			`sig1=:QKN4fTdIYfh82fvoZCQiQA1weuozfCS/Led2zTMbewMMqH8PI2Wsy/5c4ao6B6D09nraNQdBNOADg8aM1MqfCg==:`, "",
		},
		{
			"sig2",
			`sig2=("@authority" "signature-agent";key="agent2");created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600;nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==";tag="web-bot-auth"`,
			`sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:`,
			`agent2="https://signature-agent.test"`,
		},
		{
			"sig2",
			`sig2=("@authority" "signature-agent";key="sig2");created=1735689600;` +
				`keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600;` +
				`nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==";` +
				`tag="web-bot-auth"`,
			`sig2=:CGokAoY/FrPpyuzTe1Fb2kLTAH9Idw6qSFd1+D77r1firsMRCxeuLu5e6O+ek3zQgDMAzjiXtLVfqE00xnABCQ==:`,
			`sig2="https://signature-agent.test"`,
		},
	} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/path/to/resource", nil)
		r.Header.Set("Signature-Input", tt.input)
		r.Header.Set("Signature", tt.signature)
		if tt.agent != "" {
			r.Header.Set("Signature-Agent", tt.agent)
		}
		if _, ok := verify(t, r, tt.label, key.Public().(ed25519.PublicKey)); !ok {
			t.Errorf("%s does not verify", tt.label)
		}
		r.URL.Host = "other.example"
		r.Host = r.URL.Host
		if _, ok := verify(t, r, tt.label, key.Public().(ed25519.PublicKey)); ok {
			t.Errorf("%s verifies for another host", tt.label)
		}
	}
}

// The example of RFC 9421 appendix B.2.6, which is signed with Ed25519, verifies byte for byte.
func TestTheSignatureOfTheStandardVerifies(t *testing.T) {
	fields := map[any]string{
		"date": "Tue, 20 Apr 2021 02:07:55 GMT", "content-type": "application/json", "content-length": "18",
	}
	inputs, err := httpsfv.UnmarshalDictionary([]string{`sig-b26=("date" "@method" "@path" "@authority" ` +
		`"content-type" "content-length");created=1618884473;keyid="test-key-ed25519"`})
	if err != nil {
		t.Fatal(err)
	}
	signature, err := base64.StdEncoding.DecodeString(
		"wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==")
	if err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string]bool{http.MethodPost: true, http.MethodPut: false} {
		r, _ := http.NewRequestWithContext(t.Context(), method, "https://Example.com/foo?param=Value&Pet=dog", nil)
		input, _ := inputs.Get("sig-b26")
		text, err := baseOf(input.(httpsfv.InnerList), func(component httpsfv.Item) (string, error) {
			if value, ok := fields[component.Value]; ok {
				return value, nil
			}
			return valueOf(r, nil, component)
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := ed25519.Verify(published(t).Public().(ed25519.PublicKey), []byte(text), signature); got != want {
			t.Errorf("%s: verified %v, want %v", method, got, want)
		}
	}
}

// A signature holds for its method, host and path alone, for five minutes, and no two are the same.
func TestASignatureIsForOneRequest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bot.key")
	s, err := New(file, "https://Bot.Example:443/")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_790_000_000, 0)
	sign := func() *http.Request {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://WWW.Example.com:443/a%2Fb?q=1", nil)
		if err := s.Sign(r, now); err != nil {
			t.Fatal(err)
		}
		return r
	}
	public := s.key.Public().(ed25519.PublicKey)
	r := sign()
	params, ok := verify(t, r, "sig1", public)
	if !ok {
		t.Fatalf("it does not verify: %v", r.Header)
	}
	for name, want := range map[string]any{
		"created": now.Unix(), "expires": now.Unix() + 300, "keyid": s.KeyID(), "alg": "ed25519", "tag": "web-bot-auth",
	} {
		if got, _ := params.Get(name); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if got := r.Header.Get("Signature-Agent"); got != `sig1="https://bot.example"` {
		t.Errorf("Signature-Agent: %s", got)
	}
	for name, change := range map[string]func(*http.Request){
		"method": func(r *http.Request) { r.Method = http.MethodPost },
		"host":   func(r *http.Request) { r.Host = "evil.example" },
		"path":   func(r *http.Request) { r.URL.Path, r.URL.RawPath = "/a/b", "" },
		"agent":  func(r *http.Request) { r.Header.Set("Signature-Agent", `sig1="https://evil.example"`) },
		"time": func(r *http.Request) {
			r.Header.Set("Signature-Input", strings.Replace(r.Header.Get("Signature-Input"), "expires=179", "expires=189", 1))
		},
	} {
		r := sign()
		if change(r); r.Header.Get("Signature-Input") == sign().Header.Get("Signature-Input") {
			t.Error("two requests have the same nonce")
		}
		if _, ok := verify(t, r, "sig1", public); ok {
			t.Errorf("it verifies for another %s", name)
		}
	}
}

// The directory has the public key, under its thumbprint, and not the private one.
func TestTheDirectoryHasThePublicKey(t *testing.T) {
	s := &Signer{key: published(t), keyID: thumbprint(published(t)), agent: "https://bot.example"}
	var got struct{ Keys []map[string]string }
	if err := json.Unmarshal(s.Directory(), &got); err != nil || len(got.Keys) != 1 {
		t.Fatalf("%s: %v", s.Directory(), err)
	}
	want := map[string]string{
		"kty": "OKP", "crv": "Ed25519", "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs", "use": "sig",
		"kid": "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
	}
	for name := range want {
		if got.Keys[0][name] != want[name] || len(got.Keys[0]) != len(want) {
			t.Errorf("key %v, want %v", got.Keys[0], want)
		}
	}
}

// A key is made once, for its owner alone, and found again; a file that is no such key is rejected and stays.
func TestKeysAreKept(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "bot.key")
	first, err := New(file, "https://bot.example")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v, want mode 0600", info, err)
	}
	if again, err := New(file, "https://bot.example"); err != nil || again.KeyID() != first.KeyID() {
		t.Errorf("%v, want the same key", err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := New(file, "https://bot.example"); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("%v, want an error for a key that others can read", err)
	}
	rsa := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes.Repeat([]byte{1}, 40)})
	for name, content := range map[string][]byte{"empty": nil, "no PEM": []byte("secret"), "no key": rsa} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := New(file, "https://bot.example")
		kept, _ := os.ReadFile(file)
		if err == nil || strings.Contains(err.Error(), "secret") || !bytes.Equal(kept, content) {
			t.Errorf("%s: %v, want an error without the content, and the file as it was", name, err)
		}
	}
}

// The draft's example of a directory whose response is signed verifies byte for byte, and ours verifies as it does: for
// its host and its content alone.
func TestDirectoriesAreSigned(t *testing.T) {
	key := published(t)
	public := key.Public().(ed25519.PublicKey)
	check := func(h http.Header, label, host string, document []byte) bool {
		sum := sha256.Sum256(document)
		digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
		inputs, err := httpsfv.UnmarshalDictionary(h.Values("Signature-Input"))
		if err != nil {
			t.Fatal(err)
		}
		member, _ := inputs.Get(label)
		text, err := baseOf(member.(httpsfv.InnerList), directoryValues(host, digest))
		if err != nil {
			t.Fatal(err)
		}
		signatures, err := httpsfv.UnmarshalDictionary(h.Values("Signature"))
		if err != nil {
			t.Fatal(err)
		}
		signature, _ := signatures.Get(label)
		return h.Get("Content-Digest") == digest &&
			ed25519.Verify(public, []byte(text), signature.(httpsfv.Item).Value.([]byte))
	}
	example := http.Header{
		"Content-Digest": {"sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:"},
		"Signature-Input": {`binding=("@authority";req "content-digest");created=1735689600;expires=4889289600;` +
			`keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";tag="http-message-signatures-directory"`},
		"Signature": {
			`binding=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:`,
		},
	}
	document := `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",` +
		`"x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs","use":"sig"}]}`
	if !check(example, "binding", "signature-agent.test", []byte(document)) {
		t.Error("the draft's example does not verify")
	}

	s := &Signer{key: key, keyID: thumbprint(key), agent: "https://bot.example:8443/keys"}
	h := http.Header{}
	ours, err := s.AnswerDirectory(h, time.Unix(1_790_000_000, 0))
	if err != nil || !check(h, "sig1", "bot.example:8443", ours) || h.Get("Content-Type") != DirectoryType {
		t.Errorf("%v: %s does not verify: %v", h, ours, err)
	}
	if check(h, "sig1", "evil.example", ours) || check(h, "sig1", "bot.example:8443", []byte(document)) {
		t.Error("it verifies for another host or content")
	}
	for _, want := range []string{
		`("@authority";req "content-digest");created=1790000000;expires=1790604800;`, `;keyid="` + s.KeyID() + `"`,
		`;tag="http-message-signatures-directory"`,
	} {
		if got := h.Get("Signature-Input"); !strings.Contains(got, want) {
			t.Errorf("Signature-Input: %s, want %s", got, want)
		}
	}
}

// What publishes the key is told from what only seems to.
func TestDirectoriesThatLieAreFound(t *testing.T) {
	s := &Signer{key: published(t), keyID: thumbprint(published(t)), agent: "https://bot.example"}
	const ours, other = `"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"`, `"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"`
	key := func(x, kid string) string { return `{"kty":"OKP","crv":"Ed25519","x":` + x + `,"kid":"` + kid + `"}` }
	for document, want := range map[string]string{
		string(s.Directory()): "",
		`{"keys":[` + key(other, "a") + `,` + key(ours, s.keyID) + `]}`: "",
		`{"keys":[{"kty":"OKP","crv":"Ed25519","x":` + ours + `}]}`:     "",
		`{"keys":[` + key(other, s.keyID) + `]}`:                        "has another key under its name",
		`{"keys":[` + key(ours, "mine\\u001b[31m") + `]}`:               `has the key under the name "mine[31m"`,
		`{"keys":[{"kty":"EC","crv":"Ed25519","x":` + ours + `}]}`:      "does not have the key",
		`{"keys":[]}`:       "does not have the key",
		`"` + s.keyID + `"`: "is not a JSON Web Key Set",
		"<html>" + s.keyID:  "is not a JSON Web Key Set",
	} {
		err := s.PublishedBy([]byte(document))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", document, err, want)
		}
	}
}

// What an origin needs to refuse a signature that is old, of another clock or repeated is in it (RFC 9421 §7.2.2): a
// verifier that keeps nonces until they expire takes each of our signatures once, and within its minutes.
func TestAVerifierRefusesOldAndRepeatedSignatures(t *testing.T) {
	s := &Signer{key: published(t), keyID: thumbprint(published(t)), agent: "https://bot.example"}
	const skew = 30 // seconds by which clocks may differ
	nonces := map[any]bool{}
	accepts := func(r *http.Request, now time.Time) bool {
		params, ok := verify(t, r, "sig1", s.key.Public().(ed25519.PublicKey))
		created, _ := params.Get("created")
		expires, _ := params.Get("expires")
		nonce, _ := params.Get("nonce")
		fresh := created.(int64) <= now.Unix()+skew && now.Unix() < expires.(int64)+skew
		if !ok || !fresh || nonces[nonce] {
			return false
		}
		nonces[nonce] = true
		return true
	}
	now := time.Unix(1_790_000_000, 0)
	for ahead, want := range map[time.Duration]bool{
		0: true, 20 * time.Second: true, time.Minute: false, -4 * time.Minute: true, -6 * time.Minute: false,
	} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://www.example.com/", nil)
		if err := s.Sign(r, now.Add(ahead)); err != nil {
			t.Fatal(err)
		}
		if got := accepts(r, now); got != want {
			t.Errorf("signed by a clock that is %v ahead: accepted %v, want %v", ahead, got, want)
		}
		if accepts(r, now) {
			t.Errorf("signed by a clock that is %v ahead: accepted again", ahead)
		}
	}
}

func TestDirectoriesAreOriginsOrKeySets(t *testing.T) {
	for url, want := range map[string]string{
		"https://bot.example": "https://bot.example", "https://bot.example/": "https://bot.example",
		"https://bot.example:8443": "https://bot.example:8443", "https://BOT.example:443": "https://bot.example",
		"https://bot.example/keys": "https://bot.example/keys", "https://Bot.Example:443/A/%6b": "https://bot.example/A/%6b",
		"http://bot.example": "", "bot.example": "", "https://u:p@bot.example": "",
		"https://bot.example/\"": "https://bot.example/%22",
		"https://bot.example?x":  "", "https://": "", "": "", "https://bot.example/a b": "", "https://bot.example/ä": "",
	} {
		got, err := CheckDirectory(url)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", url, got, err, want)
		}
	}
	for agent, want := range map[string]string{
		"https://bot.example":      "https://bot.example/.well-known/http-message-signatures-directory",
		"https://bot.example/keys": "https://bot.example/keys",
	} {
		if got := (&Signer{agent: agent}).KeySet(); got != want {
			t.Errorf("the keys of %s are at %s, want %s", agent, got, want)
		}
	}
}

func BenchmarkSign(b *testing.B) {
	s, err := New(filepath.Join(b.TempDir(), "bot.key"), "https://bot.example")
	if err != nil {
		b.Fatal(err)
	}
	r, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, "https://www.example.com/path/to/resource?q=1", nil)
	for b.Loop() {
		if err := s.Sign(r, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
}

// x509 is what keys of other programs come as: openssl genpkey -algorithm ed25519 writes PKCS #8.
func TestKeysOfOtherProgramsAreRead(t *testing.T) {
	der, err := x509.MarshalPKCS8PrivateKey(published(t))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := New(file, "https://bot.example"); err != nil || s.KeyID() != thumbprint(published(t)) {
		t.Errorf("%v, want the key of the file", err)
	}
}
