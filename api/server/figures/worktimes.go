package figures

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// WorkTimes count what parts of the work took, for /metrics.
type WorkTimes struct{ parts *prometheus.HistogramVec }

// NewWorkTimes returns the times of nothing yet.
func NewWorkTimes() *WorkTimes {
	w := &WorkTimes{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "readthru_work_duration_seconds",
		Help:    "What origins, conversions, renderings, answers of models and writes of the index took.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	}, []string{"part"})}
	for _, part := range []string{"origin", "convert", "render", "model", "index"} {
		w.parts.WithLabelValues(part)
	}
	return w
}

// Observe counts a part of the work: origin, convert, render, model or index.
func (w *WorkTimes) Observe(part string, took time.Duration) {
	w.parts.WithLabelValues(part).Observe(took.Seconds())
}
