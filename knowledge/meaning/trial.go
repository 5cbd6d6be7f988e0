package meaning

import (
	"context"
	"slices"
	"strings"

	"github.com/readthru/readthru/knowledge/excerpt"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/vector"
)

// A model is tried before it may change a ranking that words made: it gets sentences of passages that it has embedded,
// and must find the passages by them. One that cannot do that finds by chance, and must not be heard.
const (
	trialSentences = 32 // asked in one request
	trialPassages  = 64 // fewer are no trial: whatever is asked, most of them are near
	trialPlaces    = 10 // the passage must be among so many
	trialWords     = 6  // of a sentence, at least
	maxTrialWords  = 14

	// A model that finds less than the first share is worth nothing, one that finds the second is trusted wholly. Among
	// 31,000 passages of documentation, counted letters found 4 of 32, word vectors by singular values 21.
	worthless, flawless = .3, .65
)

// try tries the model when it has vectors of all passages, and again when there are twice as many. A failure is no
// news: whatever keeps the endpoint from answering is told when it keeps passages waiting.
func (v *Vectors) try(ctx context.Context) error {
	v.mu.RLock()
	space, vectors, tried := v.space, len(v.slot), v.tried
	v.mu.RUnlock()
	if vectors < trialPassages || tried > 0 && vectors < 2*tried {
		return nil
	}
	numbers, sentences := v.trialSample()
	if len(sentences) == 0 {
		return nil
	}
	prefix := prefixesOf(v.o.Model.Model()).query
	texts := make([]string, len(sentences))
	for i, s := range sentences {
		texts[i] = prefix + s
	}
	answer, err := v.o.Model.Embed(ctx, texts, "", "sentences of passages, to try the model for embeddings")
	if err != nil {
		return err
	}
	found := 0
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, x := range answer.Vectors {
		if len(x) != space.Dimension || v.near == nil {
			continue
		}
		list := v.near.Nearest(vector.Unit(x), trialPlaces, nil)
		list = list[:min(len(list), trialPlaces)]
		if len(list) == 0 || list[0].Score-list[len(list)-1].Score <= index.SameScore {
			continue // all are as near: it is there by chance
		}
		for _, near := range list {
			if number, _ := v.near.Passage(near.Slot); number == numbers[i] {
				found++
			}
		}
	}
	v.trust, v.tried = trustIn(found, len(sentences)), vectors
	v.o.Log.Info("tried the model for embeddings", "found", found, "of", len(sentences), "trust", v.trust)
	return nil
}

// trustIn returns how much a model is trusted after its trial, from 0 to 1, that found so many passages of those it was
// asked for.
func trustIn(found, asked int) float64 {
	share := float64(found) / float64(asked)
	return min(max((share-worthless)/(flawless-worthless), 0), 1)
}

// trialSample returns passages, and a sentence of each. They are those with the smallest hashes: as good as any, and
// the same each time.
func (v *Vectors) trialSample() (numbers []uint32, sentences []string) {
	type candidate struct {
		number uint32
		hash   [16]byte
	}
	var list []candidate
	smaller := func(a, b candidate) int { return slices.Compare(a.hash[:], b.hash[:]) }
	for number, hash := range v.o.Passages() {
		c := candidate{number, hash}
		if len(list) == 4*trialSentences && smaller(c, list[len(list)-1]) > 0 {
			continue
		}
		v.mu.RLock()
		_, embedded := v.slot[number]
		v.mu.RUnlock()
		if !embedded {
			continue
		}
		i, _ := slices.BinarySearchFunc(list, c, smaller)
		list = slices.Insert(list, i, c)
		list = list[:min(len(list), 4*trialSentences)]
	}
	for _, c := range list {
		if len(sentences) == trialSentences {
			break
		}
		p, err := v.o.Passage(c.number)
		if err != nil {
			continue
		}
		if s := sentenceOf(excerpt.PlainLine(p.Text)); s != "" {
			numbers, sentences = append(numbers, c.number), append(sentences, s)
		}
	}
	return numbers, sentences
}

// sentenceOf returns, to be asked for in a trial, the first words of a sentence in the middle of a line, or "" if it
// has none that is long enough.
func sentenceOf(line string) string {
	sentences := strings.Split(line, ". ")
	for i := range sentences {
		words := strings.Fields(sentences[(len(sentences)/2+i)%len(sentences)])
		if len(words) >= trialWords {
			return strings.Join(words[:min(len(words), maxTrialWords)], " ")
		}
	}
	return ""
}
