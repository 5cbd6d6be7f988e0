package users

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/lazy"
)

// tokenPrefix begins tokens, so that they are told from other secrets, by programs that look for leaked ones too.
const tokenPrefix = "rt_"

// tokenIterations is enough: a token has 130 random bits, which nobody finds by trying, however fast. A slow hash would
// only have each node's first check of a token take .1 s.
const tokenIterations = 1

var (
	tokenID   = lazy.Pattern(`^[0-9a-f]{12}$`)
	tokenForm = lazy.Pattern(`^rt_([0-9a-f]{12})_[A-Z2-7]{26,64}$`)
)

// NewToken makes a token with some scopes. text is what its user shows; it is nowhere kept.
func NewToken(scopes []string, now time.Time) (t Token, text string, err error) {
	if err := CheckScopes(scopes); err != nil {
		return t, "", err
	}
	id := make([]byte, 6)
	rand.Read(id)
	t = Token{ID: hex.EncodeToString(id), Scopes: scopes, Made: now.UTC().Truncate(time.Second)}
	text = tokenPrefix + t.ID + "_" + rand.Text()
	if t.Hash, err = hashOf(text, tokenIterations); err != nil {
		return t, "", fmt.Errorf("hash a token: %w", err)
	}
	return t, text, nil
}

// IsToken reports whether a text has the form of a user's token.
func IsToken(text string) bool { return tokenForm().MatchString(text) }

// idOf returns the id in a text that has the form of a token; else it is empty.
func idOf(text string) string {
	if !strings.HasPrefix(text, tokenPrefix) {
		return ""
	}
	if m := tokenForm().FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
