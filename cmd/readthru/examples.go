package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// examples are command lines that do something useful as they stand, by the command that they are of. A command that is
// not here is its own example.
var examples = map[string]string{
	"run":                 "readthru run -- curl -s https://go.dev/doc/",
	"fetch":               "readthru fetch https://go.dev/doc/",
	"convert":             "curl -s https://go.dev/doc/ | readthru convert --url https://go.dev/doc/",
	"mcp":                 "readthru mcp </dev/null",
	"detect":              "readthru detect 'see https://go.dev/doc/ and https://pkg.go.dev/net/http'",
	"hook":                "readthru hook claude </dev/null",
	"completion":          `eval "$(readthru completion bash)"`,
	"search":              "readthru search 'error handling'",
	"pages":               "readthru pages --host go.dev --sort tokens",
	"pages show":          "readthru pages show https://go.dev/doc/",
	"pages versions":      "readthru pages versions https://go.dev/doc/",
	"pages diff":          "readthru pages diff https://go.dev/doc/ 1 0",
	"pages outline":       "readthru pages outline https://go.dev/doc/",
	"pages section":       "readthru pages section https://go.dev/doc/ 'Getting started'",
	"pages verify":        "readthru pages verify https://go.dev/doc/ 'Instructions for downloading and installing Go.'",
	"pages original":      "readthru pages original https://go.dev/doc/",
	"pages convert":       "readthru pages convert https://go.dev/doc/",
	"pages rm":            "readthru pages rm --host go.dev --dry-run",
	"kb":                  "readthru kb new go --crawl https://go.dev/doc/ --limit 50",
	"kb new":              "readthru kb new go --crawl https://go.dev/doc/ --limit 50",
	"kb show":             "readthru kb show go",
	"kb refresh":          "readthru kb refresh go",
	"kb rm":               "readthru kb rm go",
	"kb add":              "echo 'Deploys run on Tuesdays.' | readthru kb add go --title Deploys",
	"kb subjects":         "readthru kb subjects go",
	"kb passages":         "readthru kb passages go --limit 5",
	"kb pack":             "readthru kb pack go go.kb",
	"kb unpack":           "readthru kb unpack go.kb --name go2 --any-signer",
	"kb cancel":           "readthru kb cancel JOB",
	"notes":               "readthru notes add 'go.dev/doc lists the tutorials' --url https://go.dev/doc/",
	"notes add":           "readthru notes add 'go.dev/doc lists the tutorials' --url https://go.dev/doc/",
	"notes rm":            "readthru notes rm NOTE",
	"log":                 "readthru log outcome:miss",
	"log show":            "readthru log show last",
	"log replay":          "readthru log replay last",
	"log visits":          "readthru log visits --url https://go.dev/doc/",
	"log context":         "readthru log context show --max-chars 1000",
	"log context rm":      "readthru log context rm https://go.dev/doc/",
	"log disclosures":     "readthru log disclosures services",
	"log disclosures off": "readthru log disclosures off markdown.new",
	"log disclosures on":  "readthru log disclosures on markdown.new",
	"stats":               "readthru stats --since 7d",
	"site":                "readthru site list",
	"site show":           "readthru site show go.dev",
	"site forget":         "readthru site forget go.dev",
	"site rm":             "readthru site rm go.dev --dry-run",
	"site check":          "readthru site check https://go.dev/doc/",
	"site rule":           "readthru site rule add '*.example.com' --action tunnel",
	"site rule add":       "readthru site rule add '*.example.com' --action tunnel",
	"site rule rm":        "readthru site rule rm ID",
	"site recipe":         "readthru site recipe list",
	"site recipe new":     "readthru site recipe new https://go.dev/doc/",
	"site recipe add":     "readthru site recipe add recipe.yaml --dry-run",
	"site recipe show":    "readthru site recipe show discourse",
	"site recipe rm":      "readthru site recipe rm NAME",
	"site recipe sign":    "readthru site recipe sign recipe.yaml",
	"open":                "readthru open --print",
	"setup":               "readthru setup claude --dry-run",
	"env":                 `eval "$(readthru env)"`,
	"service":             "readthru service status",
	"service install":     "readthru service install --dry-run",
	"service uninstall":   "readthru service uninstall --dry-run",
	"ca":                  "readthru ca path",
	"sign":                "readthru sign init https://bot.example",
	"sign init":           "readthru sign init https://bot.example",
	"uninstall":           "readthru uninstall --dry-run",
	"serve":               "readthru serve --listen 127.0.0.1:7887",
	"pause":               "readthru pause on",
	"offline":             "readthru offline on",
	"store":               "readthru store backup readthru.backup",
	"store jobs":          "readthru store jobs list",
	"store jobs show":     "readthru store jobs show ID",
	"store jobs retry":    "readthru store jobs retry ID",
	"store jobs rm":       "readthru store jobs rm ID",
	"store backup":        "readthru store backup readthru.backup",
	"store restore":       "readthru store restore readthru.backup --data-dir restored",
	"store export":        "readthru store export pages",
	"store cache":         "readthru store cache get --explain https://go.dev/doc/",
	"store cache get":     "readthru store cache get --explain https://go.dev/doc/",
	"store cache rm":      "readthru store cache rm --host go.dev",
	"store index":         "readthru store index rebuild",
	"user":                "readthru user add ann --role write",
	"user add":            "readthru user add ann --role write",
	"user set":            "readthru user set ann --requests-per-minute 60",
	"user link":           "readthru user link ann",
	"user token":          "readthru user token ann",
	"user rm":             "readthru user rm ann",
	"user clear":          "readthru user clear --yes",
	"help":                "readthru help fetch",
}

// whence says where to get what an example has a name for in capitals, by the command.
var whence = map[string]string{
	"kb cancel":        `JOB is in the list of "readthru kb jobs"`,
	"notes rm":         `NOTE is in the list of "readthru notes list"`,
	"site rule rm":     `ID is in the list of "readthru site rule list"`,
	"site recipe rm":   `NAME is in the list of "readthru site recipe list"`,
	"store jobs show":  `ID is in the list of "readthru store jobs list"`,
	"store jobs retry": `ID is in the list of "readthru store jobs list"`,
	"store jobs rm":    `ID is in the list of "readthru store jobs list"`,
}

// exampleOf returns the example of a command, by its names.
func exampleOf(path string) string {
	if e := examples[path]; e != "" {
		return e
	}
	return "readthru " + path
}

// withExample returns the template of a command's help: that of the library, with an example at its end.
func withExample(c *cli.Command, path string) string {
	template := cli.CommandHelpTemplate
	if len(c.Subcommands) > 0 {
		template = cli.SubcommandHelpTemplate
	}
	if c.Hidden && examples[path] == "" {
		return template
	}
	return strings.TrimRight(template, "\n") + exampleText(path)
}

// exampleText returns the end of a command's help.
func exampleText(path string) string {
	text := "\n\nEXAMPLE:\n   " + exampleOf(path) + "\n"
	if from := whence[path]; from != "" {
		text += "   " + from + "\n"
	}
	return text
}
