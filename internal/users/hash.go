package users

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
	hashIterations = 600_000    // OWASP recommends it for PBKDF2 with SHA-256; takes about 0.1 s
	maxIterations  = 10_000_000 // a hash with more is a mistake or an attack
	hashSize       = 32
	saltSize       = 16
)

// How long a password is that a user of the store may have, in bytes.
const (
	minPassword = 10
	maxPassword = 1 << 10
)

// CheckPassword returns why a user of the store may not have a password, or nil.
func CheckPassword(password string) error {
	if len(password) < minPassword || len(password) > maxPassword {
		return fmt.Errorf("a password has %d to %d characters", minPassword, maxPassword)
	}
	return nil
}

// HashPassword returns the hash of a password, as it is kept: pbkdf2-sha256$iterations$salt$hash, with salt and hash in
// unpadded base64.
func HashPassword(password string) (string, error) {
	if password == "" {
		return "", errors.New("hash password: the password is empty")
	}
	return hashOf(password, hashIterations)
}

// hashOf returns the hash of a secret with a random salt.
func hashOf(secret string, iterations int) (string, error) {
	salt := make([]byte, saltSize)
	rand.Read(salt)
	return encodeHash(secret, salt, iterations)
}

// encodeHash returns the hash of a password in the form of the configuration: name, iterations, salt and PBKDF2 sum.
func encodeHash(password string, salt []byte, iterations int) (string, error) {
	sum, err := pbkdf2.Key(sha256.New, password, salt, iterations, hashSize)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	b64 := base64.RawStdEncoding
	return strings.Join([]string{hashName, strconv.Itoa(iterations), b64.EncodeToString(salt), b64.EncodeToString(sum)},
		"$"), nil
}

// passwordHash is a parsed result of HashPassword.
type passwordHash struct {
	iterations int
	salt, sum  []byte
}

// parseHash reads what encodeHash returned. The error is for people, and has no part of the hash that could be used.
func parseHash(s string) (passwordHash, error) {
	parts := strings.Split(s, "$")
	if len(parts) != 4 || parts[0] != hashName {
		return passwordHash{}, fmt.Errorf("a password hash must have the form %s$iterations$salt$hash", hashName)
	}
	iterations, err := strconv.Atoi(parts[1])
	if err != nil || iterations < 1 || iterations > maxIterations {
		return passwordHash{}, fmt.Errorf("password hash: iterations must be a number from 1 to %d, not %.40q", maxIterations,
			parts[1])
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[2])
	sum, err2 := base64.RawStdEncoding.DecodeString(parts[3])
	if err1 != nil || err2 != nil || len(sum) != hashSize {
		return passwordHash{}, errors.New("password hash: salt or hash is not unpadded base64 of the right length")
	}
	return passwordHash{iterations, salt, sum}, nil
}

// tooDear reports whether a text is no hash, or one that takes longer to check than those of [HashPassword]: a record
// of another machine must not make checks dear.
func tooDear(text string) bool {
	h, err := parseHash(text)
	return err != nil || h.iterations > hashIterations
}

// matches reports whether h is the hash of a password. Nothing matches the zero hash, which takes no time.
func (h passwordHash) matches(password string) bool {
	if h.iterations < 1 {
		return false
	}
	sum, err := pbkdf2.Key(sha256.New, password, h.salt, h.iterations, hashSize)
	return err == nil && subtle.ConstantTimeCompare(sum, h.sum) == 1
}
