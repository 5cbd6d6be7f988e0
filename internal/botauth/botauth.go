// Package botauth signs requests, so that an origin knows which program sent them: Web Bot Auth
// (draft-ietf-webbotauth-httpsig-protocol-01 of October 2026), a profile of HTTP Message Signatures (RFC 9421).
//
// A [Signer] has an Ed25519 key and says in the field Signature-Agent where the key is published. A signature is for
// one method, host and path, and ends after a few minutes. The field is the URL of the key set, or, as in the drafts
// before that one, which verifiers of the day implement, the origin that has it at
// /.well-known/http-message-signatures-directory.
package botauth

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/wholefile"
)

const (
	// DirectoryPath is where an origin publishes its keys.
	DirectoryPath = "/.well-known/http-message-signatures-directory"
	// DirectoryType is the media type of the document there.
	DirectoryType = "application/http-message-signatures-directory+json"

	tag      = "web-bot-auth"
	label    = "sig1"
	lifetime = 5 * time.Minute // of a signature; the draft recommends a day at most

	directoryTag      = "http-message-signatures-directory"
	directoryLifetime = 7 * 24 * time.Hour // of a directory's own signature, which caches and lists pass on
)

// Fields are the fields that a signature adds to a request.
var Fields = []string{"Signature-Agent", "Signature-Input", "Signature"}

// A Signer signs requests with one key. It is safe for concurrent use.
type Signer struct {
	key   ed25519.PrivateKey
	keyID string // thumbprint of the key (RFC 7638, RFC 8037 appendix A.3)
	agent string // an origin, as https://bot.example, or the URL of the key set
}

// New returns a signer with the key in file, which it makes if there is none. directory is where the key is published,
// as [CheckDirectory] takes it.
func New(file, directory string) (*Signer, error) {
	agent, err := CheckDirectory(directory)
	if err != nil {
		return nil, err
	}
	key, err := readKey(file)
	if errors.Is(err, fs.ErrNotExist) {
		key, err = makeKey(file)
	}
	if err != nil {
		return nil, fmt.Errorf("key that signs requests: %w", err)
	}
	return &Signer{key: key, keyID: thumbprint(key), agent: agent}, nil
}

// CheckDirectory returns what Signature-Agent says of a directory: the URL of a key set, or an origin, serialised as in
// RFC 6454 §6.2. It returns an error if directory is neither.
func CheckDirectory(directory string) (string, error) {
	u, err := url.Parse(directory)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		strings.ContainsFunc(directory, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", fmt.Errorf("%q is neither an https URL of a host alone, as https://bot.example, "+
			"nor that of a key set there", directory)
	}
	origin := "https://" + strings.TrimSuffix(strings.ToLower(u.Host), ":443")
	if path := u.EscapedPath(); path != "/" {
		origin += path
	}
	return origin, nil
}

// readKey reads the private key that signs requests, in PKCS #8, PEM. It rejects a file that other users can read.
func readKey(file string) (ed25519.PrivateKey, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by other users (mode %04o): chmod 600 it", file, info.Mode().Perm())
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(content)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, fmt.Errorf("%s has no private key in PEM", file)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s has a key that is not Ed25519", file)
	}
	return key, nil
}

// makeKey makes the private key that signs requests and writes it to a file.
func makeKey(file string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, wholefile.Write(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

// jwk is the public key as a JSON Web Key (RFC 8037 §2). Its members are those of a thumbprint, in their order.
type jwk struct {
	Crv string `json:"crv"`
	Kty string `json:"kty"`
	X   string `json:"x"`
}

// jwkOf returns the public key of a signer as a JSON Web Key.
func jwkOf(key ed25519.PrivateKey) jwk {
	public := key.Public().(ed25519.PublicKey) //nolint:forcetypeassert // by its documentation
	return jwk{Crv: "Ed25519", Kty: "OKP", X: base64.RawURLEncoding.EncodeToString(public)}
}

// thumbprint returns the thumbprint of a signer's public key (RFC 7638).
func thumbprint(key ed25519.PrivateKey) string {
	text, _ := json.Marshal(jwkOf(key)) // three strings cannot fail
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Agent returns what the field Signature-Agent says: the origin that publishes the key, or the URL where it does.
func (s *Signer) Agent() string { return s.agent }

// KeySet returns the URL that must answer [Signer.Directory].
func (s *Signer) KeySet() string {
	if strings.Count(s.agent, "/") == 2 { // an origin
		return s.agent + DirectoryPath
	}
	return s.agent
}

// KeyID returns the name of the key: the thumbprint of its JSON Web Key.
func (s *Signer) KeyID() string { return s.keyID }

// Directory returns the document that [Signer.KeySet] must answer: the public key, as a JSON Web Key Set.
func (s *Signer) Directory() []byte {
	type named struct {
		jwk
		Kid string `json:"kid"`
		Use string `json:"use"`
	}
	text, _ := json.MarshalIndent(struct {
		Keys []named `json:"keys"`
	}{[]named{{jwkOf(s.key), s.keyID, "sig"}}}, "", "  ") // strings cannot fail
	return append(text, '\n')
}

// PublishedBy returns an error unless a document that was found at [Signer.KeySet] has the key, under no other name.
func (s *Signer) PublishedBy(document []byte) error {
	var set struct {
		Keys []struct {
			jwk
			Kid string `json:"kid"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(document, &set); err != nil {
		return fmt.Errorf("is not a JSON Web Key Set: %w", err)
	}
	err := errors.New("does not have the key")
	for _, key := range set.Keys {
		switch ours := key.jwk == jwkOf(s.key); {
		case ours && (key.Kid == "" || key.Kid == s.keyID):
			return nil
		case ours:
			err = fmt.Errorf("has the key under the name %q", clip.Line(key.Kid, 60))
		case key.Kid == s.keyID:
			err = errors.New("has another key under its name")
		}
	}
	return err
}

// AnswerDirectory returns the document and sets the fields of the response that has it. The key signs the response for
// the host of [Signer.Agent], so that nobody can publish the document as their own. now is the time of the signature.
func (s *Signer) AnswerDirectory(h http.Header, now time.Time) ([]byte, error) {
	document := s.Directory()
	sum := sha256.Sum256(document)
	digest := httpsfv.NewDictionary()
	digest.Add("sha-256", httpsfv.NewItem(sum[:]))
	host, _, _ := strings.Cut(strings.TrimPrefix(s.agent, "https://"), "/")
	content, err := httpsfv.Marshal(digest)
	if err != nil {
		return nil, err
	}
	input := httpsfv.InnerList{
		Items:  []httpsfv.Item{httpsfv.NewItem("@authority"), httpsfv.NewItem("content-digest")},
		Params: httpsfv.NewParams(),
	}
	input.Items[0].Params.Add("req", true)
	input.Params.Add("created", now.Unix())
	input.Params.Add("expires", now.Add(directoryLifetime).Unix())
	input.Params.Add("keyid", s.keyID)
	input.Params.Add("alg", "ed25519")
	input.Params.Add("tag", directoryTag)
	text, err := baseOf(input, directoryValues(host, content))
	if err != nil {
		return nil, err
	}
	inputs, signature, err := s.fields(input, text)
	if err != nil {
		return nil, err
	}
	h.Set("Content-Type", DirectoryType)
	h.Set("Content-Digest", content)
	h.Set("Signature-Input", inputs)
	h.Set("Signature", signature)
	return document, nil
}

// directoryValues returns the values of the components of a directory's signature: the host that was asked for it, and
// the digest of its content.
func directoryValues(host, digest string) func(httpsfv.Item) (string, error) {
	return func(component httpsfv.Item) (string, error) {
		switch component.Value {
		case "@authority":
			return host, nil
		case "content-digest":
			return digest, nil
		}
		return "", fmt.Errorf("component %v is unknown", component.Value)
	}
}

// fields returns the values of Signature-Input and Signature for what is signed.
func (s *Signer) fields(input httpsfv.InnerList, text string) (inputs, signature string, err error) {
	what, how := httpsfv.NewDictionary(), httpsfv.NewDictionary()
	what.Add(label, input)
	how.Add(label, httpsfv.NewItem(ed25519.Sign(s.key, []byte(text))))
	if inputs, err = httpsfv.Marshal(what); err != nil {
		return "", "", err
	}
	signature, err = httpsfv.Marshal(how)
	return inputs, signature, err
}

// Sign adds a signature of a client's request to its header. now is the time of the signature.
func (s *Signer) Sign(r *http.Request, now time.Time) error {
	var nonce [32]byte
	rand.Read(nonce[:]) // never fails
	input := httpsfv.InnerList{
		Items: []httpsfv.Item{
			httpsfv.NewItem("@method"), httpsfv.NewItem("@authority"), httpsfv.NewItem("@path"),
			httpsfv.NewItem("signature-agent"),
		},
		Params: httpsfv.NewParams(),
	}
	input.Items[3].Params.Add("key", label)
	input.Params.Add("created", now.Unix())
	input.Params.Add("keyid", s.keyID)
	input.Params.Add("alg", "ed25519")
	input.Params.Add("expires", now.Add(lifetime).Unix())
	input.Params.Add("nonce", base64.StdEncoding.EncodeToString(nonce[:]))
	input.Params.Add("tag", tag)
	agent := httpsfv.NewDictionary()
	agent.Add(label, httpsfv.NewItem(s.agent))
	text, err := base(r, agent, input)
	if err != nil {
		return fmt.Errorf("sign a request: %w", err)
	}
	inputs, signature, err := s.fields(input, text)
	if err != nil {
		return fmt.Errorf("sign a request: %w", err)
	}
	named, err := httpsfv.Marshal(agent)
	if err != nil {
		return fmt.Errorf("sign a request: %w", err)
	}
	for i, value := range []string{named, inputs, signature} {
		r.Header.Set(Fields[i], value)
	}
	return nil
}

// base returns what is signed of a client's request: see [baseOf]. agent is the request's Signature-Agent; it may be
// nil if no component needs it.
func base(r *http.Request, agent *httpsfv.Dictionary, input httpsfv.InnerList) (string, error) {
	return baseOf(input, func(component httpsfv.Item) (string, error) { return valueOf(r, agent, component) })
}

// baseOf returns what is signed (RFC 9421 §2.5): the covered components, then the parameters.
func baseOf(input httpsfv.InnerList, valueOf func(httpsfv.Item) (string, error)) (string, error) {
	var b strings.Builder
	for _, component := range input.Items {
		value, err := valueOf(component)
		if err != nil {
			return "", err
		}
		name, err := httpsfv.Marshal(component)
		if err != nil {
			return "", err
		}
		b.WriteString(name + ": " + value + "\n")
	}
	params, err := httpsfv.Marshal(httpsfv.List{input})
	if err != nil {
		return "", err
	}
	b.WriteString(`"@signature-params": ` + params)
	return b.String(), nil
}

// valueOf returns the value of a component that is signed (RFC 9421 §2.1, §2.2).
func valueOf(r *http.Request, agent *httpsfv.Dictionary, component httpsfv.Item) (string, error) {
	switch component.Value {
	case "@method":
		return r.Method, nil
	case "@authority":
		return authority(r), nil
	case "@path":
		if path := r.URL.EscapedPath(); path != "" {
			return path, nil
		}
		return "/", nil
	case "signature-agent":
		if key, _ := component.Params.Get("key"); agent != nil {
			if name, ok := key.(string); ok {
				if member, ok := agent.Get(name); ok {
					return httpsfv.Marshal(member)
				}
			}
		}
	}
	return "", fmt.Errorf("component %v is unknown", component.Value)
}

// authority returns, as a component that is signed, the host of a request in lower case, with its port unless it is the
// scheme's (RFC 9421 §2.2.3).
func authority(r *http.Request) string {
	host := cmp.Or(r.Host, r.URL.Host)
	port := ":443"
	if r.URL.Scheme == "http" {
		port = ":80"
	}
	return strings.TrimSuffix(strings.ToLower(host), port)
}
