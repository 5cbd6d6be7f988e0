package recipe_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/recipe"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

func TestRecipesOfTheDocumentationPassTheirTests(t *testing.T) {
	text, err := os.ReadFile("../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) == 0 {
		t.Fatal("docs/recipes.md shows no recipe")
	}
	for _, b := range blocks {
		list, err := recipe.Parse([]byte(b[1]))
		if err != nil {
			t.Errorf("%v in\n%s", err, b[1])
			continue
		}
		for _, r := range list {
			results, err := r.Run(t.Context(), nil)
			if err != nil || len(results) == 0 {
				t.Errorf("%s: %d results, err = %v", r.Name, len(results), err)
			}
			for _, res := range results {
				if !res.Passed {
					t.Errorf("%s: %s", r.Name, strings.Join(res.Failures, "; "))
				}
			}
		}
	}
}
