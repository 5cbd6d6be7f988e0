package settings

import (
	"cmp"
	"path/filepath"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/botauth"
)

// SigningKey returns the file of the key that signs own requests. Without fetch.sign.key it is in the data directory.
func (s *Settings) SigningKey(dir string) string {
	return cmp.Or(s.Fetch.Sign.Key, filepath.Join(dir, "bot.key"))
}

// Signer returns what signs own requests, or nil if nothing does.
func (s *Settings) Signer(dir string) (*botauth.Signer, error) {
	if s.Fetch.Sign.Directory == "" {
		return nil, nil
	}
	signer, err := botauth.New(s.SigningKey(dir), s.Fetch.Sign.Directory)
	if err != nil {
		return nil, terminal.WithHint(err,
			"fetch.sign.key names the file of an Ed25519 key, which is made if there is none; "+
				"without fetch.sign.directory nothing is signed")
	}
	return signer, nil
}
