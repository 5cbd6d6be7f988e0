package recipe_test

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/recipe"
)

// signed returns a text signed by the key that a seed makes.
func signed(text []byte, seed byte) (out []byte, key string) {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	return recipe.Sign(text, func(message []byte) (ed25519.PublicKey, []byte) {
		return private.Public().(ed25519.PublicKey), ed25519.Sign(private, message)
	})
}

func TestSignedRecipesAreThoseOfTheKey(t *testing.T) {
	text := []byte("recipe: a\nmatch: {host: a.test}\ncontent: p\n")
	first, key := signed(text, 1)
	second, other := signed(first, 2) // takes the place of the first signature
	if _, err := recipe.Parse(first); err != nil {
		t.Errorf("a signed text is no recipe: %v", err)
	}
	for _, tt := range []struct {
		name, text, key, want string
	}{
		{"without a signature", string(text), "", ""},
		{"the key by name", string(first), strings.ToUpper(key), ""},
		{"signed again", string(second), other, ""},
		{"no key named", string(first), "", "name it with --signer"},
		{"another key", string(first), other, "not by the one that is named"},
		{"a key and no signature", string(text), key, "no signature"},
		{"a changed text", strings.Replace(string(first), "content: p", "content: q", 1), key, "does not match"},
		{"a line more", string(first) + "drop: q\n", key, "does not match"},
		{"another's signature", strings.Replace(string(first), key, other, 1), other, "does not match"},
		{"no signature in the line", "# readthru recipes signed by me\n" + string(text), key, "is no signature"},
		{"no key in the line", "# readthru recipes signed by me x\n" + string(text), key, "64 hex digits"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, signer, err := recipe.Verify([]byte(tt.text), tt.key)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("err = %v, want %s", err, tt.want)
				}
				return
			}
			if err != nil || !bytes.Equal(got, text) || !strings.EqualFold(signer, tt.key) {
				t.Errorf("signer %s, err = %v:\n%s", signer, err, got)
			}
		})
	}
}
