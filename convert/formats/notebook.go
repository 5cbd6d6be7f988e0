package formats

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/readthru/readthru/convert/mdwrite"
	"github.com/readthru/readthru/internal/lazy"
)

// NotebookType is the media type of a Jupyter notebook.
const NotebookType = "application/x-ipynb+json"

// notebook is a Jupyter notebook (nbformat 4, and 3 with its worksheets). Other members of the file are not read.
type notebook struct {
	Format   int `json:"nbformat"`
	Metadata struct {
		Title    string `json:"title"`
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
		Kernel struct {
			Language string `json:"language"`
			Name     string `json:"name"`
		} `json:"kernelspec"`
	} `json:"metadata"`
	Cells      []notebookCell `json:"cells"`
	Worksheets []struct {
		Cells []notebookCell `json:"cells"`
	} `json:"worksheets"`
}

// notebookCell is a cell of a notebook: text in markdown, a heading, code with its outputs, or raw.
type notebookCell struct {
	Type    string           `json:"cell_type"`
	Source  lines            `json:"source"`
	Input   lines            `json:"input"` // in nbformat 3
	Level   int              `json:"level"` // the same, of a heading
	Outputs []notebookOutput `json:"outputs"`
}

// notebookOutput is what a cell has printed or shown: text, data by media type, or an error.
type notebookOutput struct {
	Type      string                     `json:"output_type"`
	Text      lines                      `json:"text"`
	Data      map[string]json.RawMessage `json:"data"`
	Name      string                     `json:"ename"`
	Value     string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

// lines is a text that is written as a string or as a list of its lines.
type lines string

// UnmarshalJSON reads either form. Any other value is an empty text, and never an error: one odd cell must not lose the
// notebook.
func (l *lines) UnmarshalJSON(raw []byte) error {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		*l = lines(strings.Join(list, ""))
		return nil
	}
	var text string
	_ = json.Unmarshal(raw, &text) // other values are no text
	*l = lines(text)
	return nil
}

// IsNotebook reports whether a text in JSON is a notebook by its members. It costs less than to parse it.
func IsNotebook(text string) bool {
	return strings.Contains(text, `"nbformat"`) && strings.Contains(text, `"cell_type"`)
}

// Notebook returns the markdown of a notebook: its texts as they are, its code and what it printed between fences; and
// the title that it states. ok is false for a text that is no notebook. Hidden text is still in the markdown.
func Notebook(text string) (md, title string, ok bool) {
	var n notebook
	if json.Unmarshal([]byte(text), &n) != nil || n.Format == 0 {
		return "", "", false
	}
	cells := n.Cells
	for _, w := range n.Worksheets {
		cells = append(cells, w.Cells...)
	}
	if len(cells) == 0 {
		return "", "", false
	}
	lang := strings.ToLower(n.Metadata.Language.Name)
	if lang == "" {
		lang = strings.ToLower(n.Metadata.Kernel.Language)
	}
	if strings.ContainsFunc(lang, func(r rune) bool { return r <= ' ' || r == '`' || r == '~' }) {
		lang = ""
	}
	var blocks []string
	for i := range cells {
		c := &cells[i]
		source := strings.TrimRight(string(c.Source), " \t\r\n")
		switch c.Type {
		case "markdown":
			blocks = append(blocks, source)
		case "heading":
			blocks = append(blocks, strings.Repeat("#", min(max(c.Level, 1), 6))+" "+source)
		case "code":
			if source == "" {
				source = strings.TrimRight(string(c.Input), " \t\r\n")
			}
			if source != "" {
				blocks = append(blocks, mdwrite.Fence(source, lang))
			}
			for j := range c.Outputs {
				blocks = append(blocks, c.Outputs[j].markdown())
			}
		default: // raw, for another program
			if source != "" {
				blocks = append(blocks, mdwrite.Fence(source, ""))
			}
		}
	}
	blocks = slices.DeleteFunc(blocks, func(b string) bool { return strings.TrimSpace(b) == "" })
	return strings.Join(blocks, "\n\n"), n.Metadata.Title, true
}

// markdown returns what an output shows: its markdown, else its text. A picture is named. Colours of terminals are
// taken out. It is "" for an output without either.
func (o *notebookOutput) markdown() string {
	value := func(key string) string {
		var l lines
		if raw, ok := o.Data[key]; ok {
			_ = l.UnmarshalJSON(raw) // which never fails
		}
		return strings.TrimRight(string(l), " \t\r\n")
	}
	// An error has its traceback as text, markdown goes before plain text, and of pictures only their being there is told.
	text := strings.TrimRight(string(o.Text), " \t\r\n")
	if o.Type == "error" || o.Type == "pyerr" {
		if text = strings.Join(o.Traceback, "\n"); text == "" {
			text = o.Name + ": " + o.Value
		}
	}
	if shown := value("text/markdown"); shown != "" {
		return shown
	}
	var picture string
	for key := range o.Data {
		if strings.HasPrefix(key, "image/") {
			picture = "*Output: a picture.*"
		}
	}
	if text == "" {
		text = value("text/plain")
	}
	if text = terminalCodes().ReplaceAllString(text, ""); strings.TrimSpace(text) == "" {
		return picture
	}
	if picture != "" {
		return picture + "\n\n" + mdwrite.Fence(text, "")
	}
	return mdwrite.Fence(text, "")
}

// terminalCodes are the sequences by which a traceback is coloured (ECMA-48).
var terminalCodes = lazy.Pattern("\x1b\\[[0-9;]*[A-Za-z]")
