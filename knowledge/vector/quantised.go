package vector

import (
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/readthru/readthru/internal/fault"
)

// Quantised is a set of vectors that finds those nearest to a query. It keeps four bits of each number, half a byte
// instead of the two or four bytes of a stored vector. It rotates each vector, subtracts the centre, and rounds
// the rest to one of 16 levels a number. The bits lie in planes, one for each power of two, so that a word holds one
// bit of 64 numbers. A query is cut into planes likewise, and an inner product takes a few ANDs and popcounts:
//
//	<code, query> = Σi Σj 2^(i+j) · ones(plane i of the code AND plane j of the query)
//
// A query scans the two upper planes of all vectors and uses both lower planes for the best of them. [Unsure] tells how
// many of the result the caller must compare exactly. The unbiased estimate from a rounded rotated vector, with a known
// spread, is the idea of RaBitQ (Gao, Long, SIGMOD 2024).
//
// Methods that change a set must not run at the same time as any other method.
type Quantised struct {
	rotation *rotation
	centre   []float32 // rotated
	words    int       // of a plane
	blocks   []*block
	slots    int   // used so far, including free slots
	free     []int // slots of removed vectors
	scratch  []float32
}

const (
	blockSlots = 1024
	noPassage  = 1<<32 - 1

	// levelStep is the distance between levels, in standard deviations of the numbers. It gives the smallest error for
	// 16 levels and a normal distribution, which rotated vectors have.
	levelStep = 0.335

	scanBits, scanClip     = 3, 2.4 // bits of a query's number in a scan, and how many standard deviations they span
	refineBits, refineClip = 6, 4
)

// block holds the vectors of blockSlots slots.
type block struct {
	upper   []uint64 // for each slot the plane of 8s and the plane of 4s
	lower   []uint64 // for each slot the plane of 2s and the plane of 1s
	passage [blockSlots]uint32
	hash    [blockSlots][16]byte
	base    [blockSlots]float32 // <vector - centre, centre>
	ones    [blockSlots]uint16  // 2·ones(plane of 8s) + ones(plane of 4s)
	scaleUp [blockSlots]float32 // turns <code, query> of the upper planes into an estimate
	scale   [blockSlots]float32 // turns <code, query> of all four planes into an estimate
	spread  [blockSlots]float32 // standard deviation of the error with all four planes, for a query of length 1
}

// NewQuantised returns an empty set. Centre is about the mean of the vectors to come: the nearer it is, the better are
// the estimates.
func NewQuantised(centre []float32) *Quantised {
	s := &Quantised{rotation: newRotation(len(centre))}
	s.words = s.rotation.size / 64
	s.centre = make([]float32, s.rotation.size)
	copy(s.centre, centre)
	s.rotation.apply(s.centre)
	s.scratch = make([]float32, s.rotation.size)
	return s
}

// at returns the place of a slot in its block.
func (s *Quantised) at(slot int) (*block, int) {
	return s.blocks[slot/blockSlots], slot % blockSlots
}

// Passage returns the passage in a slot and the hash of its text.
func (s *Quantised) Passage(slot int) (passage uint32, hash [16]byte) {
	b, i := s.at(slot)
	return b.passage[i], b.hash[i]
}

// Remove removes the vector in a slot, which a later one may take.
func (s *Quantised) Remove(slot int) {
	b, i := s.at(slot)
	b.passage[i] = noPassage
	s.free = append(s.free, slot)
}

// Add adds a passage's unit vector and returns its slot.
func (s *Quantised) Add(passage uint32, hash [16]byte, v []float32) (slot int) {
	slot = s.freeSlot()
	s.set(slot, passage, hash, v)
	return slot
}

// freeSlot returns the slot that was freed last, or a new one.
func (s *Quantised) freeSlot() int {
	if last := len(s.free) - 1; last >= 0 {
		slot := s.free[last]
		s.free = s.free[:last]
		return slot
	}
	if s.slots/blockSlots == len(s.blocks) {
		n := 2 * blockSlots * s.words
		s.blocks = append(s.blocks, &block{upper: make([]uint64, n), lower: make([]uint64, n)})
	}
	s.slots++
	return s.slots - 1
}

// set puts a vector into a slot.
func (s *Quantised) set(slot int, passage uint32, hash [16]byte, v []float32) {
	b, i := s.at(slot)
	b.passage[i], b.hash[i] = passage, hash

	o := s.scratch
	clear(o[copy(o, v):])
	s.rotation.apply(o)
	var base, length2 float64
	for d, c := range s.centre {
		o[d] -= c
		base += float64(o[d] * c)
		length2 += float64(o[d] * o[d])
	}
	w := s.words
	eights, fours := b.upper[2*i*w:][:w], b.upper[(2*i+1)*w:][:w]
	twos, units := b.lower[2*i*w:][:w], b.lower[(2*i+1)*w:][:w]
	clear(b.upper[2*i*w:][:2*w])
	clear(b.lower[2*i*w:][:2*w])
	inverse := 1 / max(levelStep*math.Sqrt(length2/float64(len(o))), 1e-20)
	var along, alongUp, code2 float64 // <code, o>, that of the upper planes, <code, code>
	var ones uint64
	for d, x := range o {
		u := uint64(min(max(math.Floor(float64(x)*inverse)+8, 0), 15))
		k, bit := d/64, d%64
		eights[k] |= u >> 3 << bit
		fours[k] |= u >> 2 & 1 << bit
		twos[k] |= u >> 1 & 1 << bit
		units[k] |= u & 1 << bit
		ones += u >> 2
		level := float64(u) - 7.5
		along += level * float64(x)
		alongUp += (float64(u>>2) - 1.5) * float64(x)
		code2 += level * level
	}
	b.base[i], b.ones[i] = float32(base), uint16(ones)
	b.scale[i], b.scaleUp[i], b.spread[i] = 0, 0, 0
	if along > 0 && alongUp > 0 { // not so when v is the centre itself
		b.scale[i], b.scaleUp[i] = float32(length2/along), float32(length2/alongUp)
		cos2 := along * along / (code2 * length2)
		b.spread[i] = float32(math.Sqrt(length2 * max(1/cos2-1, 0) / float64(len(o))))
	}
}

// query is a query that is cut into planes.
type query struct {
	base         float32 // <centre, query>
	length       float32 // of the query minus the centre
	scan, refine levels
}

// levels are numbers rounded to low + step·u. U is cut into planes, the plane of 1s first.
type levels struct {
	low, step float32
	sum       float32 // of the rounded numbers
	planes    [][]uint64
}

// query prepares a vector to be compared with all others: rotated, centred, and cut into planes of bits.
func (s *Quantised) query(v []float32) *query {
	p := make([]float32, s.rotation.size)
	copy(p, v)
	s.rotation.apply(p)
	q := &query{}
	var length2 float64
	for d, c := range s.centre {
		q.base += p[d] * c
		p[d] -= c
		length2 += float64(p[d] * p[d])
	}
	q.length = float32(math.Sqrt(length2))
	deviation := math.Sqrt(length2 / float64(len(p)))
	q.scan = levelsOf(p, scanBits, scanClip*deviation)
	q.refine = levelsOf(p, refineBits, refineClip*deviation)
	return q
}

// levelsOf quantises: it cuts the numbers of p into planes. A number beyond clip counts as clip.
func levelsOf(p []float32, planes int, clip float64) levels {
	most := float32(int(1)<<planes - 1)
	l := levels{low: float32(-clip), step: max(float32(2*clip)/most, 1e-20), planes: make([][]uint64, planes)}
	for j := range l.planes {
		l.planes[j] = make([]uint64, len(p)/64)
	}
	for d, x := range p {
		u := uint64(min(max((x-l.low)/l.step+.5, 0), most))
		l.sum += l.low + l.step*float32(u)
		for j := range l.planes {
			l.planes[j][d/64] |= u >> j & 1 << (d % 64)
		}
	}
	return l
}

// scan estimates the scores of a block's first slots from the upper planes. A slot that is free or not allowed gets
// -Inf.
func (s *Quantised) scan(q *query, b *block, allow func(passage uint32) bool, scores []float32) {
	w := s.words
	q0, q1, q2 := q.scan.planes[0][:w], q.scan.planes[1][:w], q.scan.planes[2][:w]
	for i := range scores {
		if p := b.passage[i]; p == noPassage || allow != nil && !allow(p) {
			scores[i] = float32(math.Inf(-1))
			continue
		}
		eights, fours := b.upper[2*i*w:][:w], b.upper[(2*i+1)*w:][:w]
		var n0, n1, n2, n3 int
		for k, x := range eights {
			y := fours[k]
			n0 += bits.OnesCount64(y & q0[k])
			n1 += bits.OnesCount64(x&q0[k]) + bits.OnesCount64(y&q1[k])
			n2 += bits.OnesCount64(x&q1[k]) + bits.OnesCount64(y&q2[k])
			n3 += bits.OnesCount64(x & q2[k])
		}
		inner := q.scan.low*float32(b.ones[i]) + q.scan.step*float32(n0+2*n1+4*n2+8*n3)
		scores[i] = b.base[i] + b.scaleUp[i]*(inner-1.5*q.scan.sum)
	}
}

// refine estimates a slot's score from all planes.
func (s *Quantised) refine(q *query, slot int) Near {
	b, i := s.at(slot)
	w := s.words
	inner := 8*q.refine.inner(b.upper[2*i*w:][:w]) + 4*q.refine.inner(b.upper[(2*i+1)*w:][:w]) +
		2*q.refine.inner(b.lower[2*i*w:][:w]) + q.refine.inner(b.lower[(2*i+1)*w:][:w])
	return Near{
		Slot: slot, Spread: b.spread[i] * q.length,
		Score: q.base + b.base[i] + b.scale[i]*(inner-7.5*q.refine.sum),
	}
}

// inner returns the sum of the numbers whose bits are set in a plane: the inner product of a query and one plane of a
// code.
func (l *levels) inner(plane []uint64) float32 {
	ones, weighed := 0, 0
	for _, x := range plane {
		ones += bits.OnesCount64(x)
	}
	for j, of := range l.planes {
		n := 0
		of = of[:len(plane)]
		for k, x := range plane {
			n += bits.OnesCount64(x & of[k])
		}
		weighed += n << j
	}
	return l.low*float32(ones) + l.step*float32(weighed)
}

// Near is a vector near a query.
type Near struct {
	Slot   int
	Score  float32 // estimate of the cosine
	Spread float32 // standard deviation of its error
}

// Nearest returns the vectors with the best estimates among those allowed, best first: at least n if there are so many.
// A nil allow allows all.
func (s *Quantised) Nearest(v []float32, n int, allow func(passage uint32) bool) []Near {
	q := s.query(v)
	scores := make([]float32, s.slots)
	inParallel(len(s.blocks), func(i int) {
		s.scan(q, s.blocks[i], allow, scores[i*blockSlots:min((i+1)*blockSlots, s.slots)])
	})
	// Of 100,000 random vectors, the hardest case, the best hundredth held 99.8 % of the true first ten, and the best
	// fiftieth held all.
	best := largest(scores, max(s.slots/100, 2*n, 1000))
	found := make([]Near, len(best))
	const run = 64
	inParallel((len(best)+run-1)/run, func(i int) {
		for j := i * run; j < min((i+1)*run, len(best)); j++ {
			found[j] = s.refine(q, best[j])
		}
	})
	slices.SortFunc(found, func(a, b Near) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return a.Slot - b.Slot
	})
	return found
}

// Unsure returns how many of the first in a list from [Quantised.Nearest] may belong to the true first n, at most
// limit. An exact comparison must settle it.
func Unsure(list []Near, n, limit int) int {
	if len(list) <= n {
		return len(list)
	}
	// The difference of two estimates is usually off by 1.4 spreads. Of 100,000 random vectors a margin of 2 spreads kept
	// .990 of the true first ten, 2.5 spreads .992 and 3 spreads .996, with 23, 28 and 34 vectors to compare. Of tight
	// clusters each kept all, with 76, 117 and 172.
	bar := list[n-1].Score - 1.5*list[n-1].Spread
	for n < min(len(list), limit) && list[n].Score+list[n].Spread > bar {
		n++
	}
	return n
}

// largest returns, for the nearest vectors, the indices of about the n largest scores: of all scores at least as large
// as the n-th, give or take a 4096th of their range. Scores of -Inf do not count.
func largest(scores []float32, n int) []int {
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, x := range scores {
		if x >= -math.MaxFloat32 {
			low = min(low, x)
			high = max(high, x)
		}
	}
	if low > high {
		return nil
	}
	const buckets = 4096
	var count [buckets]int
	per := (buckets - 1) / max(high-low, 1e-20)
	for _, x := range scores {
		if x >= low {
			count[int((x-low)*per)]++
		}
	}
	cut, total := buckets, 0
	for cut > 0 && total < n {
		cut--
		total += count[cut]
	}
	list := make([]int, 0, total)
	for i, x := range scores {
		if x >= low && int((x-low)*per) >= cut {
			list = append(list, i)
		}
	}
	return list
}

// inParallel calls f, for parts of a set of vectors, with 0 … n-1, on several processors if that is worth it. It
// panics if f does: what f has not done must not be taken for a result.
func inParallel(n int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n/2, 8)
	if workers < 2 {
		for i := range n {
			f(i)
		}
		return
	}
	var wg sync.WaitGroup
	failed := make(chan error, workers)
	for w := range workers {
		wg.Go(fault.ContainTo(func(err error) { failed <- err }, "knowledge: compare codes", func() {
			for i := n * w / workers; i < n*(w+1)/workers; i++ {
				f(i)
			}
		}))
	}
	wg.Wait()
	select {
	case err := <-failed:
		panic(err)
	default:
	}
}
