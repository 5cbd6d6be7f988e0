package recipe

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// A signed file of recipes begins with a line of its own, a comment in YAML: signatureMark, the public key in hex and
// the signature in base64, of signatureContext and all bytes after that line.
const (
	signatureMark    = "# readthru recipes signed by "
	signatureContext = "readthru recipes 1: "
)

// Sign returns a text of recipes with a signature, in the place of one that it has, and the public key. sign signs for
// a context.
func Sign(text []byte, sign func(message []byte) (public ed25519.PublicKey, signature []byte)) (signed []byte,
	key string,
) {
	if bytes.HasPrefix(text, []byte(signatureMark)) {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	public, signature := sign(append([]byte(signatureContext), text...))
	key = hex.EncodeToString(public)
	line := signatureMark + key + " " + base64.StdEncoding.EncodeToString(signature) + "\n"
	return append([]byte(line), text...), key
}

// Verify returns a text of recipes without its signature, and the public key that signed it. A text that is signed
// needs the key by name, and a key that is named needs a text that it signed; a text without either is returned as it
// is, with an empty signer.
func Verify(text []byte, key string) (recipes []byte, signer string, err error) {
	rest, signed := bytes.CutPrefix(text, []byte(signatureMark))
	if !signed {
		if key != "" {
			return nil, "", errors.New("the recipes have no signature, and one of the named key is asked for")
		}
		return text, "", nil
	}
	line, recipes, _ := bytes.Cut(rest, []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) != 2 {
		return nil, "", errors.New("line 1 is no signature: it has a key and a signature")
	}
	public, err := hex.DecodeString(words[0])
	if err != nil || len(public) != ed25519.PublicKeySize {
		return nil, "", fmt.Errorf("line 1 names a key that is not of %d hex digits", 2*ed25519.PublicKeySize)
	}
	signature, err := base64.StdEncoding.DecodeString(words[1])
	if err != nil || !ed25519.Verify(public, append([]byte(signatureContext), recipes...), signature) {
		return nil, "", errors.New("the signature does not match: the recipes were changed after they were signed")
	}
	signer = hex.EncodeToString(public)
	switch {
	case key == "":
		return nil, "", fmt.Errorf("the recipes are signed by the key %s: name it with --signer if you trust it", signer)
	case !strings.EqualFold(key, signer):
		return nil, "", fmt.Errorf("the recipes are signed by the key %s, not by the one that is named", signer)
	}
	return recipes, signer, nil
}
