package bucket

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// MaxContent is the most bytes of a content before compression; what claims to have more is not decompressed.
const MaxContent = 64 << 20

// encoder and decoder compress content for the database and the object store. Their options are valid.
var (
	encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxContent),
		zstd.WithDecodeAllCapLimit(true))
)

// Pack compresses a content for the database or the object store.
func Pack(content []byte) []byte { return encoder.EncodeAll(content, nil) }

// Unpack returns a content of a length after it was checked to be the one of a hash. What is longer is not read.
func Unpack(packed []byte, length int, hash []byte) ([]byte, error) {
	if length < 0 || length > MaxContent {
		return nil, fmt.Errorf("it has %d bytes", length)
	}
	content, err := decoder.DecodeAll(packed, make([]byte, 0, length))
	if err != nil {
		return nil, fmt.Errorf("decompress it: %w", err)
	}
	if sum := sha256.Sum256(content); len(content) != length || string(sum[:]) != string(hash) {
		return nil, errors.New("its content is not what its hash says")
	}
	return content, nil
}
