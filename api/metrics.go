package api

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metricsHandler serves the counters of [Stats], from a registry of our own. Labels come from closed sets: never a host
// or a URL.
func (s *Server) metricsHandler() http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(statsCollector{s}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{Registry: reg})
}

// statsCollector turns Stats into metrics at each scrape.
type statsCollector struct{ s *Server }

var (
	requestsDesc = prometheus.NewDesc("readthru_requests_total", "Requests through the proxy, by outcome.",
		[]string{"kind"}, nil)
	cacheDesc = prometheus.NewDesc("readthru_cache_answers_total", "Answers of the cache, by outcome.",
		[]string{"outcome"}, nil)
	entriesDesc  = prometheus.NewDesc("readthru_cache_entries", "Stored responses.", nil, nil)
	bytesDesc    = prometheus.NewDesc("readthru_cache_bytes", "Bytes of stored content.", nil, nil)
	pagesDesc    = prometheus.NewDesc("readthru_pages", "Pages known.", nil, nil)
	versionsDesc = prometheus.NewDesc("readthru_versions", "Versions of pages kept.", nil, nil)
	visitsDesc   = prometheus.NewDesc("readthru_visits_total",
		"Deliveries of pages to readers, by source of the markdown.", []string{"source"}, nil)
	tokensDesc = prometheus.NewDesc("readthru_tokens_total",
		"Tokens of the HTML and of the markdown delivered in its place.", []string{"form"}, nil)
	sentDesc = prometheus.NewDesc("readthru_markdown_new_sent", "Requests sent to markdown.new today.", nil, nil)
)

// Describe names every metric.
func (c statsCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		requestsDesc, cacheDesc, entriesDesc, bytesDesc, pagesDesc, versionsDesc,
		visitsDesc, tokensDesc, sentDesc,
	} {
		ch <- d
	}
}

// Collect reads the figures.
func (c statsCollector) Collect(ch chan<- prometheus.Metric) {
	st, err := c.s.getStats(context.Background(), none{})
	if err != nil {
		ch <- prometheus.NewInvalidMetric(pagesDesc, err)
		return
	}
	counter := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, n int64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n))
	}
	counter(requestsDesc, st.Requests.Intercepted, "intercepted")
	counter(requestsDesc, st.Requests.Tunnelled, "tunnelled")
	counter(requestsDesc, st.Requests.Blocked, "blocked")
	counter(requestsDesc, st.Requests.Errors, "error")
	counter(requestsDesc, st.Requests.Total, "all")
	counter(cacheDesc, st.Cache.Hits, "hit")
	counter(cacheDesc, st.Cache.Misses, "miss")
	counter(cacheDesc, st.Cache.Revalidated, "revalidated")
	counter(cacheDesc, st.Cache.Stale, "stale")
	counter(cacheDesc, st.Cache.Bypass, "bypass")
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

func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request, _ none) error {
	s.metrics.ServeHTTP(w, r)
	return nil
}
