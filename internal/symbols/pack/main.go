// Command pack compresses its standard input by brotli, as the grammars are embedded: gzip leaves half as much again.
// The same input gives the same bytes.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/andybalholm/brotli"
)

func main() {
	w := brotli.NewWriterOptions(os.Stdout, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24})
	_, err := io.Copy(w, os.Stdin)
	if err = errors.Join(err, w.Close()); err != nil {
		fmt.Fprintln(os.Stderr, "pack: error:", err)
		os.Exit(1)
	}
}
