package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// completions are scripts that ask this program for the choices and give them to the shell. Each says how it is loaded.
var completions = map[string]string{
	// bash 3.2, which macOS has, knows no mapfile and no associative arrays.
	"bash": `# In ~/.bashrc: eval "$(readthru completion bash)"
_readthru() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(COLUMNS=$COLUMNS COMP_TYPE=$COMP_TYPE COMP_WORDBREAKS=$COMP_WORDBREAKS \
    "${COMP_WORDS[0]/#\~/$HOME}" __complete bash "$COMP_CWORD" "${COMP_WORDS[@]:1}" 2>/dev/null)
}
complete -o default -F _readthru readthru
`,
	"zsh": `#compdef readthru
# In ~/.zshrc, after compinit: eval "$(readthru completion zsh)"
_readthru() {
  local -a found
  found=("${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete zsh $((CURRENT - 1)) "${(@Q)words[2,-1]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then _describe -V readthru found; else _files; fi
}
if [[ "$funcstack[1]" == _readthru ]]; then _readthru; else compdef _readthru readthru; fi
`,
	"fish": `# In ~/.config/fish/config.fish: readthru completion fish | source
function __readthru_complete
  set -l words (commandline -opc)
  set -l found ($words[1] __complete fish (count $words) $words[2..] (commandline -ct) 2>/dev/null)
  if test -n "$found"
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c readthru -f -a '(__readthru_complete)'
`,
	// A native command loses arguments that are empty before PowerShell 7.3: the word is left out where it is.
	"powershell": `# In $PROFILE: readthru completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName readthru -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements |
    Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  $at = $words.Count
  if ($wordToComplete -ne '') { $at-- }
  $rest = @($words | Select-Object -Skip 1)
  & $words[0] __complete powershell $at @rest 2>$null | ForEach-Object {
    $text, $word, $about = $_.Split([char[]]@(9), 3)
    [System.Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $about)
  }
}
`,
}

// shells gives each shell the choices in the form that its script reads. The words are as the shell has them.
var shells = map[string]func(words []string, choose func([]string) []choice) string{
	"bash": bashLines,
	"zsh": func(words []string, choose func([]string) []choice) string {
		escape := strings.NewReplacer(`\`, `\\`, `:`, `\:`)
		return lines(choose(bare(words)), func(c choice) string { return joined(escape.Replace(c.text), ":", c.about) })
	},
	"fish": func(words []string, choose func([]string) []choice) string {
		return lines(choose(bare(words)), func(c choice) string { return joined(c.text, "\t", c.about) })
	},
	"powershell": func(words []string, choose func([]string) []choice) string {
		return lines(choose(bare(words)), func(c choice) string {
			text := c.text
			if strings.Trim(text, harmless) != "" {
				text = "'" + strings.ReplaceAll(text, "'", "''") + "'"
			}
			if c.about == "" {
				c.about = c.text // which may not be empty
			}
			return text + "\t" + c.text + "\t" + c.about
		})
	},
}

// bare takes the quotes off words. The last may have one at its beginning only.
func bare(words []string) []string {
	for i, word := range words {
		words[i] = strings.Trim(word, `'"`)
	}
	return words
}

// lines writes a line for each choice, without control characters, which the web may have put into it.
func lines(found []choice, line func(choice) string) string {
	var b strings.Builder
	for _, c := range found {
		c.text = terminal.Printable(c.text)
		c.about = strings.Join(strings.Fields(terminal.Printable(c.about)), " ")
		b.WriteString(line(c) + "\n")
	}
	return b.String()
}

func joined(text, by, about string) string {
	if about == "" {
		return text
	}
	return text + by + about
}

// harmless are characters that mean nothing to a shell. Characters beyond ASCII mean nothing either.
const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/._-+%=@,"

// bashLines gives bash the choices as they are to be inserted: quoted, and without what stands before the last of its
// word breaks, which bash keeps. Bash knows no descriptions: they are shown behind the choices where bash lists them.
func bashLines(words []string, choose func([]string) []choice) string {
	breaks := os.Getenv("COMP_WORDBREAKS")
	words = glue(words, breaks)
	word := words[len(words)-1]
	open := strings.HasPrefix(word, "'") || strings.HasPrefix(word, `"`)
	kept := 0
	for i := range words {
		words[i] = unquote(words[i])
	}
	if !open {
		for i, r := range word {
			if strings.ContainsRune(":=", r) && strings.ContainsRune(breaks, r) {
				kept = len(unquote(word[:i+1]))
			}
		}
	}
	found := slices.DeleteFunc(choose(words), func(c choice) bool {
		return open && strings.ContainsAny(c.text, "\"'`$!\\")
	})
	listing := len(found) > 1 && slices.Contains([]string{"33", "63", "64"}, os.Getenv("COMP_TYPE"))
	width, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil {
		width = 80
	}
	widest := 0
	for _, c := range found {
		widest = max(widest, terminal.Cells(c.text)-kept)
	}
	return lines(found, func(c choice) string {
		text := c.text[min(kept, len(c.text)):]
		if !open {
			text = escape(text)
		}
		if room := width - widest - len("  ()") - 1; listing && c.about != "" && room > 10 {
			text += strings.Repeat(" ", max(0, widest-terminal.Cells(text))) + "  (" + terminal.Cut(c.about, room) + ")"
		}
		return text
	})
}

// glue puts words together again that bash takes apart at ":" and "=", as its version 3.2 does not.
func glue(parts []string, breaks string) (words []string) {
	apart := false // the last part is of the next one's word
	for _, part := range parts {
		lone := strings.Trim(part, ":=") == "" && part != "" && strings.ContainsAny(part, breaks)
		if len(words) > 0 && (lone || apart) {
			words[len(words)-1] += part
		} else {
			words = append(words, part)
		}
		apart = lone
	}
	return words
}

// unquote returns a word as bash reads it, but for expansions.
func unquote(word string) string {
	var b strings.Builder
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c == '\\' && i+1 < len(word):
			i++
			b.WriteByte(word[i])
		case c != '\'' && c != '"' && c != '\\':
			b.WriteByte(c)
		}
	}
	return b.String()
}

// escape writes a word so that bash reads it as it is: an address from the web must not become a command.
func escape(word string) string {
	var b strings.Builder
	for _, r := range word {
		if r < utf8.RuneSelf && !strings.ContainsRune(harmless, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that completes commands, options and what is stored, in a shell",
		ArgsUsage: "bash|zsh|fish|powershell",
		Description: "The first line of the script says where it is loaded. It completes commands and options, and the " +
			"pages, hosts, bases and agents that they take.",
		Action: func(c *cli.Context) error {
			shell, err := command.OneArg(c.Args().Slice(), "the shell (bash, zsh, fish or powershell)")
			if err != nil {
				return err
			}
			script, ok := completions[shell]
			if !ok {
				return terminal.Usagef("%q is not one of bash, zsh, fish, powershell", shell)
			}
			_, err = fmt.Fprint(p.Out, script)
			return err
		},
	}
}
