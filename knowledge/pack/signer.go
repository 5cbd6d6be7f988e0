package pack

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// signerFile holds the private key that packs are signed with: 64 hex digits, the seed.
const signerFile = "pack.key"

// Signer signs packs.
type Signer struct {
	key ed25519.PrivateKey
}

// OpenSigner returns the signer in a folder, the data dir, and makes one if the folder has none.
func OpenSigner(dir string) (*Signer, error) {
	s, err := readSigner(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	var seed [ed25519.SeedSize]byte
	rand.Read(seed[:]) // never fails
	path := filepath.Join(dir, signerFile)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return readSigner(dir) // somebody made it at the same time
	}
	if err != nil {
		return nil, fmt.Errorf("create signing key: %w", err)
	}
	_, err = f.WriteString(hex.EncodeToString(seed[:]) + "\n")
	if e := errors.Join(f.Sync(), f.Close()); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(path)
		return nil, fmt.Errorf("create signing key: %w", err)
	}
	return &Signer{ed25519.NewKeyFromSeed(seed[:])}, nil
}

// readSigner reads the signing key of a folder. The error wraps fs.ErrNotExist if there is none.
func readSigner(dir string) (*Signer, error) {
	path := filepath.Join(dir, signerFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read signing key: %w", err)
	}
	seed, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%s does not hold a key of %d hex digits: move it away to create a new key", path,
			2*ed25519.SeedSize)
	}
	return &Signer{ed25519.NewKeyFromSeed(seed)}, nil
}

// Sign signs a message, which begins with what it is, so that no signature is of anything else.
func (s *Signer) Sign(message []byte) (public ed25519.PublicKey, signature []byte) {
	return s.key.Public().(ed25519.PublicKey), ed25519.Sign(s.key, message)
}

// ID names the signer: a hash of its public key, 32 hex digits.
func (s *Signer) ID() string { return signerID(s.key.Public().(ed25519.PublicKey)) }

// signerID returns the id of the signer with a public key.
func signerID(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:16])
}
