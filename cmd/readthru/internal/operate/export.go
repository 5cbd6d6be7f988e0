package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/page"
)

// exportCommand is the command export: a markdown file for each stored page. It writes below one folder only, whatever
// a page's URL is.
func (p *program) exportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write every page to a markdown file with front matter, in folders by host and path",
		ArgsUsage: "DIR",
		Flags:     []cli.Flag{&cli.StringFlag{Name: "host", Usage: "write only pages of `HOST`"}, command.JSONFlag()},
		Action: func(c *cli.Context) error {
			dir, err := command.OneArg(c.Args().Slice(), "DIR")
			if err != nil {
				return err
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return fmt.Errorf("export: %w", err)
			}
			root, err := os.OpenRoot(dir) // no file name leads out of it
			if err != nil {
				return fmt.Errorf("export: %w", err)
			}
			defer root.Close() //nolint:errcheck // the errors of its files are returned
			return p.WithClient(c.Context, func(b *api.Client) error {
				bar := terminal.NewBar(p.Err)
				n, denied, err := exportPages(c.Context, b, root, c.String("host"), bar)
				bar.Clear()
				if err == nil && len(denied) > 0 {
					err = exportDenials(root, denied)
					p.Note("the origins of %s deny uses, such as the training of models: preferences.json lists them",
						terminal.Count(len(denied), "page"))
				}
				told := p.Done(c, struct {
					Dir   string `json:"dir"`
					Pages int    `json:"pages"`
				}{dir, n}, "wrote %s to %s", terminal.Count(n, "page"), dir)
				return cmp.Or(err, told)
			})
		},
	}
}

// deniedUses are the uses that the origin of an exported page denies, as it says it.
type deniedUses struct {
	File   string   `json:"file"`
	URL    string   `json:"url"`
	Denies []string `json:"denies"`
}

// exportDenials writes the list of pages whose origins deny uses.
func exportDenials(root *os.Root, list []deniedUses) error {
	text, err := json.MarshalIndent(list, "", "  ")
	if err == nil {
		err = writeInto(root, "preferences.json", append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("export preferences: %w", err)
	}
	return nil
}

// exportPages writes the pages. It returns how many, and those whose origins deny uses.
func exportPages(ctx context.Context, b *api.Client, root *os.Root, host string, bar *terminal.Bar,
) (n int, denied []deniedUses, err error) {
	b = b.By("")               // an export is no read of a page
	taken := map[string]bool{} // in lower case: many file systems ignore case
	q := api.PageQuery{Host: host, Sort: "url", Limit: 500}
	for {
		list, err := b.Pages(ctx, q)
		if err != nil {
			return n, denied, err
		}
		for _, known := range list.Pages {
			bar.Draw(n, 0, known.URL)
			pg, err := b.Page(ctx, known.Doc)
			if api.CodeOf(err) == api.CodeNotFound {
				continue // deleted since it was listed
			}
			if err != nil {
				return n, denied, err
			}
			name := fileName(pg)
			if taken[strings.ToLower(name)] {
				name = strings.TrimSuffix(name, ".md") + "-" + pg.Doc + ".md"
			}
			taken[strings.ToLower(name)] = true
			text := []byte(command.WithFrontMatter(pg))
			err = writeInto(root, name, text)
			if err != nil { // the name may be that of a folder, as with /a and /a.md/b
				name = "unnamed/" + pg.Doc + ".md"
				err = writeInto(root, name, text)
			}
			if err != nil {
				return n, denied, fmt.Errorf("export %s: %w", pg.URL, err)
			}
			if says := pg.Preferences.Denials(); len(says) > 0 {
				denied = append(denied, deniedUses{name, pg.NormalizedURL, says})
			}
			n++
		}
		if list.Next == "" {
			return n, denied, nil
		}
		q.Cursor = list.Next
	}
}

// writeInto writes a file and creates its folders, for their owner alone: a private page may be among the pages.
func writeInto(root *os.Root, name string, text []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	return root.WriteFile(name, text, 0o600)
}

// fileName returns the file for a page: host, path, and the page's id if the URL has a query or a name was changed.
func fileName(pg *page.Page) string {
	u, err := url.Parse(pg.NormalizedURL)
	if err != nil || u.Host == "" {
		return "unknown/" + pg.Doc + ".md"
	}
	host, _ := safeName(u.Host)
	parts := []string{host}
	exact := u.RawQuery == ""
	segments := strings.Split(strings.Trim(u.Path, "/"), "/")
	for i, seg := range segments {
		last := i == len(segments)-1
		if last {
			seg = strings.TrimSuffix(seg, ".md")
		}
		if seg == "" || last && strings.HasSuffix(u.Path, "/") && u.Path != "/" {
			if seg != "" {
				name, same := safeName(seg)
				parts, exact = append(parts, name), exact && same
			}
			parts = append(parts, "index")
			continue
		}
		name, same := safeName(seg)
		parts, exact = append(parts, name), exact && same
	}
	name := path.Join(parts...)
	if !exact {
		name += "-" + pg.Doc
	}
	return name + ".md"
}

// maxName is the longest part of a file's name, in bytes; file systems take 255.
const maxName = 120

// safeName returns a part of a path that every file system accepts and that notes can link to, as in Obsidian. same
// reports whether it is s.
func safeName(s string) (name string, same bool) {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsPrint(r) || strings.ContainsRune(`<>:"/\|?*#^[]`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	name = strings.TrimRight(name, ". ")
	if name == "" || strings.HasPrefix(name, ".") || reserved(name) {
		name = "_" + name
	}
	return name, name == s
}

// reserved reports whether a name is that of a device on Windows.
func reserved(name string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch base {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "COM") || strings.HasPrefix(base, "LPT")) && base[3] >= '1' &&
		base[3] <= '9'
}
