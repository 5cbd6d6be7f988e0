package proxy

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	hashName       = "pbkdf2-sha256"
	hashIterations = 600_000    // OWASP's figure for PBKDF2 with SHA-256; some 0.1 s
	hashMost       = 10_000_000 // above it a hash is a mistake or a trap
	hashSize       = 32
	saltSize       = 16
)

// HashPassword returns what proxy.users holds for a password: pbkdf2-sha256$iterations$salt$hash, salt and hash in
// unpadded base64.
func HashPassword(password string) (string, error) {
	if password == "" {
		return "", errors.New("hash password: it is empty")
	}
	salt := make([]byte, saltSize)
	rand.Read(salt)
	return encodeHash(password, salt, hashIterations)
}

func encodeHash(password string, salt []byte, iterations int) (string, error) {
	sum, err := pbkdf2.Key(sha256.New, password, salt, iterations, hashSize)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	b64 := base64.RawStdEncoding
	return strings.Join([]string{hashName, strconv.Itoa(iterations), b64.EncodeToString(salt), b64.EncodeToString(sum)},
		"$"), nil
}

// passwordHash is a hash as HashPassword writes it, read.
type passwordHash struct {
	iterations int
	salt, sum  []byte
}

func parseHash(s string) (passwordHash, error) {
	parts := strings.Split(s, "$")
	if len(parts) != 4 || parts[0] != hashName {
		return passwordHash{}, fmt.Errorf("a password hash has the form %s$iterations$salt$hash", hashName)
	}
	iterations, err := strconv.Atoi(parts[1])
	if err != nil || iterations < 1 || iterations > hashMost {
		return passwordHash{}, fmt.Errorf("iterations of a password hash are a number from 1 to %d, not %q", hashMost,
			clip(parts[1]))
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[2])
	sum, err2 := base64.RawStdEncoding.DecodeString(parts[3])
	if err1 != nil || err2 != nil || len(sum) != hashSize {
		return passwordHash{}, errors.New("salt or hash of a password hash is not unpadded base64 of the right length")
	}
	return passwordHash{iterations, salt, sum}, nil
}

func (h passwordHash) matches(password string) bool {
	sum, err := pbkdf2.Key(sha256.New, password, h.salt, h.iterations, hashSize)
	return err == nil && subtle.ConstantTimeCompare(sum, h.sum) == 1
}

func validConfigMode(mode string) bool {
	switch mode {
	case "", "auto", "always", "negotiate", "never":
		return true
	}
	return false
}
