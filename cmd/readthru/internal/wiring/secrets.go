package wiring

import (
	"errors"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/page"
)

// removeSecrets removes, once for each edition of the rules about secrets in URLs, what an older program kept under
// such URLs. It is called before anything else uses the parts. What cannot be removed now is tried again at the next
// start: nothing of it is found by a search or told to others.
func (c *Core) removeSecrets() {
	if c.store.SecretEdition() >= page.SecretEdition {
		return
	}
	if err := fault.Catch("serve: remove secrets", c.removeSecretsNow); err != nil {
		c.log.Warn("secrets of an older program are not all removed", "error", err)
	}
}

// removeSecretsNow removes what an older program kept under URLs with secrets from the store, the index and the
// journal, and notes the edition of the rules only when all of that went well.
func (c *Core) removeSecretsNow() error {
	pages, err := c.store.RemoveSecrets()
	err = errors.Join(err, c.knowledge.RemoveSecrets(), c.journal.Remask())
	if pages > 0 {
		c.log.Warn("pages whose URLs carry what looks like a credential were removed", "pages", pages,
			"remedy", "to have nothing of them left on disk, run \"readthru store compact\"")
	}
	if err == nil {
		err = c.store.SetSecretEdition(page.SecretEdition)
	}
	return err
}
