package agents_test

import (
	"testing"
	"time"
)

// BenchmarkFirstRead measures how long it takes from nothing until a model was told a page: "setup-ms" for the setup of
// the agent, "page-ms" from the agent's start until its first call was answered, by our tool, where no daemon has ever
// run; "plain-ms" the same by curl, without readthru. The agent's own start is in both.
func BenchmarkFirstRead(b *testing.B) {
	for _, a := range agents {
		b.Run(a.name, func(b *testing.B) {
			var setup, page, plain time.Duration
			for b.Loop() {
				b.StopTimer()
				m := newMachine(b)
				leader := newModel(b, a.curl("http://"+m.web+"/guide"))
				a.prepare(m, leader.URL)
				begun := time.Now()
				m.run(a, leader)
				plain += leader.told.Sub(begun)

				m = newMachine(b)
				leader = newModel(b, call{a.tools + "*fetch", object{"url": pageURL}})
				a.prepare(m, leader.URL)
				b.StartTimer()
				begun = time.Now()
				m.readthru("setup", a.name, "--yes")
				setup += time.Since(begun)
				begun = time.Now()
				m.run(a, leader)
				wantPage(b, "our fetch", leader.result(b, 0))
				page += leader.told.Sub(begun)
			}
			for name, d := range map[string]time.Duration{"setup-ms": setup, "page-ms": page, "plain-ms": plain} {
				b.ReportMetric(float64(d.Milliseconds())/float64(b.N), name)
			}
		})
	}
}
