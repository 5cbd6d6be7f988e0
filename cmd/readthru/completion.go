package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// completions are scripts that ask this program for the completions.
var completions = map[string]string{
	"bash": `# eval "$(readthru completion bash)"
_readthru() {
  local words IFS=$'\n'
  words=("${COMP_WORDS[@]:0:$COMP_CWORD}")
  COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "${COMP_WORDS[$COMP_CWORD]}"))
}
complete -o default -F _readthru readthru
`,
	"zsh": `#compdef readthru
# eval "$(readthru completion zsh)"
_readthru() {
  local -a found
  found=("${(@f)$(${words[@]:0:$((CURRENT-1))} --generate-bash-completion 2>/dev/null)}")
  if [[ -n "$found" ]]; then _describe 'readthru' found; else _files; fi
}
compdef _readthru readthru
`,
	"fish": `# readthru completion fish | source
function __readthru_complete
  set -l words (commandline -opc)
  $words --generate-bash-completion 2>/dev/null
end
complete -c readthru -a '(__readthru_complete)'
`,
	"powershell": `# readthru completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName readthru -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | ForEach-Object { $_.ToString() })
  if ($wordToComplete -ne '') { $words = $words[0..($words.Count - 2)] }
  $rest = @($words | Select-Object -Skip 1) + '--generate-bash-completion'
  & $words[0] @rest 2>$null | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`,
}

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that completes commands in a shell",
		ArgsUsage: "bash|zsh|fish|powershell",
		Action: func(c *cli.Context) error {
			shell, err := oneArg(c.Args().Slice(), "the shell (bash, zsh, fish or powershell)")
			if err != nil {
				return err
			}
			script, ok := completions[shell]
			if !ok {
				return usagef("%q is not one of bash, zsh, fish, powershell", shell)
			}
			_, err = fmt.Fprint(p.out, script)
			return err
		},
	}
}
