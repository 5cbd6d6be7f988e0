package figures

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/journal"
)

// metricsHandler serves the counters of [Stats], from a registry of our own. Labels come from closed sets: never a host
// or a URL.
func (s *Service) metricsHandler() http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(statsCollector{s}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if s.o.WorkTimes != nil {
		reg.MustRegister(s.o.WorkTimes.parts)
	}
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{Registry: reg})
}

// statsCollector turns Stats into metrics at each scrape.
type statsCollector struct{ s *Service }

var (
	tunnelsDesc = prometheus.NewDesc("readthru_tunnels_total",
		"Tunnels, by the reason for which their content was not looked at.", []string{"reason"}, nil)
	cacheDesc = prometheus.NewDesc("readthru_cache_answers_total",
		"Answers of the cache, also to requests that no reader made, such as those for robots.txt, by outcome.",
		[]string{"outcome"}, nil)
	entriesDesc  = prometheus.NewDesc("readthru_cache_entries", "Stored responses.", nil, nil)
	bytesDesc    = prometheus.NewDesc("readthru_cache_bytes", "Bytes of stored content.", nil, nil)
	pagesDesc    = prometheus.NewDesc("readthru_pages", "Pages known.", nil, nil)
	versionsDesc = prometheus.NewDesc("readthru_versions", "Versions of pages kept.", nil, nil)
	visitsDesc   = prometheus.NewDesc("readthru_visits_total",
		"Deliveries of pages to readers, by source of the markdown.", []string{"source"}, nil)
	tokensDesc = prometheus.NewDesc("readthru_tokens_total",
		"Tokens of the HTML and of the markdown delivered in its place.", []string{"form"}, nil)
	faultsDesc = prometheus.NewDesc("readthru_faults_total", "Panics that were caught.", nil, nil)
	buildDesc  = prometheus.NewDesc("readthru_build_info", "The version that runs; always 1.", []string{"version"}, nil)
	tookDesc   = prometheus.NewDesc("readthru_request_duration_seconds",
		"Requests by all doors with what they took, by outcome, each counted once.", []string{"outcome"}, nil)
	doorsDesc = prometheus.NewDesc("readthru_requests_total", "Requests by their doors, each counted once.",
		[]string{"door"}, nil)
	hiddenDesc = prometheus.NewDesc("readthru_requests_hidden_total",
		"Requests that are in no other figure, because a rule says log: off.", nil, nil)
	flowDesc = prometheus.NewDesc("readthru_content_bytes_total",
		"Bytes of requests: in from origins, out to clients, saved where the store answered.",
		[]string{"direction"}, nil)
	savedDesc = prometheus.NewDesc("readthru_origin_seconds_saved_total",
		"Time that origins took for what was answered from the store.", nil, nil)
	openDesc = prometheus.NewDesc("readthru_open", "What is in progress: requests, those to origins, renderings.",
		[]string{"part"}, nil)
	queuedDesc = prometheus.NewDesc("readthru_queue_depth",
		"What waits: pages to index and to tell the fleet, bytes to write, jobs that run.",
		[]string{"queue"}, nil)
	renderedDesc = prometheus.NewDesc("readthru_renders_total", "Pages in the browser, by outcome.",
		[]string{"outcome"}, nil)
	switchDesc = prometheus.NewDesc("readthru_switch", "1 while it is on.", []string{"switch"}, nil)
	storeDesc  = prometheus.NewDesc("readthru_store_writable", "1 unless the store takes no writes.", nil, nil)
	fleetDesc  = prometheus.NewDesc("readthru_fleet_connected", "1 while the fleet's database answers.", nil, nil)
	behindDesc = prometheus.NewDesc("readthru_fleet_behind",
		"Changes of other nodes that are not taken over yet, of at most 10,000.", nil, nil)
	sharedDesc = prometheus.NewDesc("readthru_fleet_pages_total",
		"Pages and deletions told to the fleet, taken over from it, and refused.", []string{"direction"}, nil)
	peersDesc = prometheus.NewDesc("readthru_fleet_responses_total",
		"Stored responses told to the fleet and used of others, waits for a node that asked already, late answers.",
		[]string{"what"}, nil)
	bodiesDesc = prometheus.NewDesc("readthru_fleet_bodies_total",
		"Contents put into the fleet's object store, got from it, lost there, and put again.", []string{"what"}, nil)
	bodiesUpDesc = prometheus.NewDesc("readthru_fleet_bodies_connected",
		"1 while the fleet's object store takes and gives content.", nil, nil)
	sentDesc = prometheus.NewDesc("readthru_markdown_new_sent", "Requests sent to markdown.new today.", nil, nil)
)

// Describe names every metric. It implements [prometheus.Collector].
func (c statsCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		tunnelsDesc, cacheDesc, entriesDesc, bytesDesc, pagesDesc, versionsDesc,
		visitsDesc, tokensDesc, sentDesc,
		faultsDesc, buildDesc, tookDesc, doorsDesc, hiddenDesc, flowDesc, savedDesc, openDesc, queuedDesc, renderedDesc,
		switchDesc, storeDesc, fleetDesc, behindDesc, sharedDesc, peersDesc, bodiesDesc, bodiesUpDesc,
	} {
		ch <- d
	}
}

// Collect reads the figures at a scrape. What the journal counts by outcome is a histogram, the rest counters and
// gauges.
func (c statsCollector) Collect(ch chan<- prometheus.Metric) {
	st, err := c.s.GetStats(context.Background(), api.None{})
	if err != nil {
		ch <- prometheus.NewInvalidMetric(pagesDesc, err)
		return
	}
	counter := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
	}
	gauge(buildDesc, 1, st.Version)
	counter(faultsDesc, st.Faults)
	told := c.s.o.Journal.Sums()
	for outcome, d := range told.Durations {
		under, sum := map[float64]uint64{}, uint64(0)
		for i, limit := range journal.Limits {
			sum += uint64(d.Under[i])
			under[limit.Seconds()] = sum
		}
		ch <- prometheus.MustNewConstHistogram(tookDesc, uint64(d.Count), d.Sum.Seconds(), under, outcome)
	}
	for door, n := range told.Doors {
		counter(doorsDesc, n, door)
	}
	counter(hiddenDesc, told.Hidden)
	counter(flowDesc, told.BytesIn, "in")
	counter(flowDesc, told.BytesOut, "out")
	counter(flowDesc, told.BytesSaved, "saved")
	ch <- prometheus.MustNewConstMetric(savedDesc, prometheus.CounterValue, told.Saved.Seconds())
	health := c.s.o.Store.Health()
	gauge(queuedDesc, st.Index.Queued, "index")
	gauge(queuedDesc, health.Queued, "store_bytes")
	gauge(queuedDesc, int64(st.Work.Jobs), "jobs")
	gauge(openDesc, int64(st.Work.Requests), "requests")
	gauge(openDesc, int64(st.Work.Origins), "origins")
	gauge(openDesc, int64(st.Work.Renders), "renders")
	counter(renderedDesc, st.Render.Pages, "done")
	counter(renderedDesc, st.Render.Failed, "failed")
	truth := map[bool]int64{true: 1}
	gauge(storeDesc, truth[health.State == "ok"])
	if f := st.Fleet; f != nil {
		gauge(fleetDesc, truth[f.State == fleet.Connected])
		gauge(behindDesc, f.Behind)
		gauge(queuedDesc, f.Outbox, "fleet")
		counter(sharedDesc, f.Published, "told")
		counter(sharedDesc, f.Taken, "taken")
		counter(sharedDesc, f.Refused, "refused")
		counter(peersDesc, f.Told, "told")
		counter(peersDesc, f.Reused, "used")
		counter(peersDesc, f.Waited, "waited")
		counter(peersDesc, f.Late, "late")
		if b := f.Bodies; b.State != "" {
			gauge(bodiesUpDesc, truth[b.State == fleet.Connected])
			gauge(queuedDesc, b.Held, "fleet bodies")
			counter(bodiesDesc, b.Put, "put")
			counter(bodiesDesc, b.Got, "got")
			counter(bodiesDesc, b.Lost, "lost")
			counter(bodiesDesc, b.Repaired, "put_again")
		}
	}
	switches := c.s.o.Switches()
	gauge(switchDesc, truth[switches.Paused], "paused")
	gauge(switchDesc, truth[switches.Offline], "offline")
	for reason, n := range told.Tunnels {
		counter(tunnelsDesc, n, reason)
	}
	if c.s.o.Cache != nil {
		own := c.s.o.Cache()
		counter(cacheDesc, own.Hits, "hit")
		counter(cacheDesc, own.Misses, "miss")
		counter(cacheDesc, own.Revalidated, "revalidated")
		counter(cacheDesc, own.Stale, "stale")
		counter(cacheDesc, own.Bypass, "bypass")
	}
	gauge(entriesDesc, st.Cache.Entries)
	gauge(bytesDesc, st.Cache.Bytes)
	gauge(pagesDesc, st.Pages.Total)
	gauge(versionsDesc, st.Pages.Versions)
	for source, n := range st.Pages.BySource {
		counter(visitsDesc, n, string(source))
	}
	counter(tokensDesc, st.Tokens.HTML, "html")
	counter(tokensDesc, st.Tokens.Markdown, "markdown")
	gauge(sentDesc, st.MarkdownNew.Sent)
}

// ServeMetrics answers with the metrics of Prometheus.
func (s *Service) ServeMetrics(w http.ResponseWriter, r *http.Request, _ api.None) error {
	s.metrics.ServeHTTP(w, r)
	return nil
}
