package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/recipe"
)

// MaxText is the largest text of one command, in bytes.
const MaxText = 32 << 20

// ReadInput reads a file, or standard input for "" and "-", up to limit bytes.
func (p *Program) ReadInput(name string, limit int64) ([]byte, error) {
	in := p.In
	if name != "" && name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(b)) > limit {
		return nil, terminal.WithHint(errors.New("the input exceeds "+settings.Size(limit).String()), "raise fetch.max_body")
	}
	return b, nil
}

// ReadRecipes reads the recipes of a file, or of standard input for "-".
func (p *Program) ReadRecipes(name string) ([]*recipe.Recipe, error) {
	text, err := p.ReadInput(name, recipe.MaxFile)
	if err != nil {
		return nil, err
	}
	list, err := recipe.Parse(text)
	if mistake, ok := errors.AsType[*recipe.Error](err); ok && mistake.Line > 0 {
		return nil, fmt.Errorf("%s:%d:%d: %w", name, mistake.Line, mistake.Column, mistake.Err)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}
