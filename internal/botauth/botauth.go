// Package botauth signs requests, so that an origin knows which program sent them: Web Bot Auth (June 2026,
// draft-meunier-webbotauth-httpsig-protocol-00), which is a profile of HTTP Message Signatures (RFC 9421).
//
// A [Signer] has an Ed25519 key and the origin where the key is published. An origin finds the key by the field
// Signature-Agent, at /.well-known/http-message-signatures-directory there ([Signer.Directory]). A signature is for one
// method, host and path, and ends after a few minutes.
package botauth

import (
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
)

// Fields are the fields that a signature adds to a request.
var Fields = []string{"Signature-Agent", "Signature-Input", "Signature"}

// A Signer signs requests with one key. It is safe for concurrent use.
type Signer struct {
	key   ed25519.PrivateKey
	keyID string // thumbprint of the key (RFC 7638, RFC 8037 appendix A.3)
	agent string // an origin, as https://bot.example
}

// New returns a signer with the key in file, which it makes if there is none. directory is the origin where the key is
// published, an https URL without a path.
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

// CheckDirectory returns the origin of a directory, serialised as in RFC 6454 §6.2, or an error if it is no https URL
// of an origin alone.
func CheckDirectory(directory string) (string, error) {
	u, err := url.Parse(directory)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || strings.TrimSuffix(u.Path, "/") != "" ||
		u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%q is not an https URL of a host alone, as https://bot.example", directory)
	}
	return "https://" + strings.TrimSuffix(strings.ToLower(u.Host), ":443"), nil
}

// readKey reads a private key in PKCS #8, PEM. It rejects a file that other users can read.
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

func jwkOf(key ed25519.PrivateKey) jwk {
	public := key.Public().(ed25519.PublicKey) //nolint:forcetypeassert // by its documentation
	return jwk{Crv: "Ed25519", Kty: "OKP", X: base64.RawURLEncoding.EncodeToString(public)}
}

func thumbprint(key ed25519.PrivateKey) string {
	text, _ := json.Marshal(jwkOf(key)) // three strings cannot fail
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Agent returns the origin that publishes the key.
func (s *Signer) Agent() string { return s.agent }

// KeyID returns the name of the key: the thumbprint of its JSON Web Key.
func (s *Signer) KeyID() string { return s.keyID }

// Directory returns the document that the agent's origin must serve at [DirectoryPath] as [DirectoryType].
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
	agent, signatures, inputs := httpsfv.NewDictionary(), httpsfv.NewDictionary(), httpsfv.NewDictionary()
	agent.Add(label, httpsfv.NewItem(s.agent))
	text, err := base(r, agent, input)
	if err != nil {
		return fmt.Errorf("sign a request: %w", err)
	}
	signatures.Add(label, httpsfv.NewItem(ed25519.Sign(s.key, []byte(text))))
	inputs.Add(label, input)
	for i, field := range []*httpsfv.Dictionary{agent, inputs, signatures} {
		value, err := httpsfv.Marshal(field)
		if err != nil {
			return fmt.Errorf("sign a request: %w", err)
		}
		r.Header.Set(Fields[i], value)
	}
	return nil
}

// base returns what is signed (RFC 9421 §2.5): the covered components of a client's request, then the parameters.
// agent is the request's Signature-Agent; it may be nil if no component needs it.
func base(r *http.Request, agent *httpsfv.Dictionary, input httpsfv.InnerList) (string, error) {
	var b strings.Builder
	for _, component := range input.Items {
		value, err := valueOf(r, agent, component)
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

// valueOf returns the value of a component (RFC 9421 §2.1, §2.2).
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

// authority returns the host of a request in lower case, with its port unless it is the scheme's (RFC 9421 §2.2.3).
func authority(r *http.Request) string {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	port := ":443"
	if r.URL.Scheme == "http" {
		port = ":80"
	}
	return strings.TrimSuffix(strings.ToLower(host), port)
}
