// Check reads the examples for Compose and Kubernetes as their programs do: Compose files by the schema of its
// specification and its loader, manifests by Kubernetes' own types, strictly. It has a module of its own, so that
// nothing of this is among readthru's dependencies.
//
//	go run . ../compose ../kubernetes
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
)

// variables are those that the Compose files need.
var variables = []string{"READTHRU_TOKEN=token", "POSTGRES_PASSWORD=password", "S3_SECRET=secret"}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: check COMPOSE KUBERNETES")
		os.Exit(2)
	}
	err := errors.Join(compose(context.Background(), os.Args[1]), kubernetes(os.Args[2]))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// compose loads compose.yaml of a folder alone, and together with each other file.
func compose(ctx context.Context, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s: %d Compose files: %w", dir, len(files), err)
	}
	base := filepath.Join(dir, "compose.yaml")
	var all error
	for _, file := range files {
		paths := []string{base}
		if file != base {
			paths = append(paths, file)
		}
		options, err := cli.NewProjectOptions(paths, cli.WithName("readthru"), cli.WithEnv(variables))
		if err == nil {
			_, err = options.LoadProject(ctx)
		}
		if err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", file, err))
			continue
		}
		fmt.Println("ok", file)
	}
	return all
}

// kubernetes decodes every document of the manifests in a folder.
func kubernetes(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s: %d manifests: %w", dir, len(files), err)
	}
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	var all error
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		n := 0
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			if _, _, err := decoder.Decode(document, nil, nil); err != nil {
				all = errors.Join(all, fmt.Errorf("%s: document %d: %w", file, n+1, err))
			}
			n++
		}
		fmt.Println(n, "objects in", file)
	}
	return all
}
