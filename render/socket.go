package render

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/coder/websocket"

	"github.com/readthru/readthru/internal/fault"
)

// A page has no network, so it cannot open a WebSocket. Its class WebSocket is replaced by one that asks for it by
// requests to a path of the page's own origin, which are answered here: to open, to send, to close, and to wait for
// messages. The clock of the page stands still during such a wait as during any request, so a page is not done before
// its messages pause. Scripts may send these requests, too: that gives them what the class gives them.

// The limits of a page's WebSockets.
const (
	maxSockets = 16
	maxWaiting = 256 // messages that the page has not taken; the origin waits then
)

// sockets are the WebSockets of a page, by their numbers in the order in which it opened them. A number is taken while
// the socket is opened: its place in list is nil then, and if that fails.
type sockets struct {
	f    *traffic
	path string // of the requests about them

	mu   sync.Mutex
	list []*socket
}

// newSockets returns the WebSockets of a page that has none. The path of the requests about them is random, so that no
// page of an origin is taken for it.
func newSockets(f *traffic) *sockets {
	return &sockets{f: f, path: "/.well-known/readthru-" + strings.ToLower(rand.Text())}
}

// A socket is a WebSocket of a page: a connection of ours to the origin, and the messages that the page has not yet
// taken.
type socket struct {
	conn     *websocket.Conn
	messages chan socketMessage // closed at the end of the connection
	code     int                // of the end; set before messages is closed
	reason   string

	mu   sync.Mutex
	last time.Time // of the last message, or of the opening
	over bool
}

// talking reports whether the last message of a WebSocket came less than a while ago, and more may come.
func (c *socket) talking(while time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.over && time.Since(c.last) < while
}

// socketMessage is a message of a WebSocket as the page is given it and gives it: a text, or bytes.
type socketMessage struct {
	Text  *string `json:"text,omitempty"`
	Bytes []byte  `json:"bytes,omitempty"` // base64
}

// socketRequest is what the page's class WebSocket asks for, as JSON in a POST.
type socketRequest struct {
	Do        string   `json:"do"` // open, wait, send, close
	URL       string   `json:"url"`
	Protocols []string `json:"protocols"`
	ID        int      `json:"id"` // which socket, for all but open
	socketMessage
	Code   int    `json:"code"`
	Reason string `json:"reason"`
}

// socketAnswer is what the page's class WebSocket is answered.
type socketAnswer struct {
	ID       int             `json:"id"`
	Protocol string          `json:"protocol,omitempty"`
	Messages []socketMessage `json:"messages,omitempty"`
	Quiet    bool            `json:"quiet,omitempty"` // there was no message for a while
	Closed   bool            `json:"closed,omitempty"`
	Code     int             `json:"code,omitempty"`
	Reason   string          `json:"reason,omitempty"`
}

// owns reports whether a request of the page is about a WebSocket, by its path, whatever the origin: frames have
// others.
func (s *sockets) owns(ev *fetch.EventRequestPaused) bool {
	u, err := url.Parse(ev.Request.URL)
	return err == nil && u.Path == s.path
}

// answer answers a request of the page about a WebSocket.
func (s *sockets) answer(ev *fetch.EventRequestPaused) (*fetch.FulfillRequestParams, error) {
	var content []byte
	for _, e := range ev.Request.PostDataEntries {
		content = append(content, e.Bytes...)
	}
	var q socketRequest
	if err := json.Unmarshal(content, &q); err != nil {
		return nil, fmt.Errorf("a WebSocket: %w", err)
	}
	a, err := s.do(&q, field(ev.Request.Headers, "Origin"))
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	return fulfil(ev.RequestID, http.StatusOK, http.Header{"Content-Type": {"application/json"}}, body), nil
}

// do does what the page asks for about a WebSocket. origin is the field Origin of its request, which the browser writes
// and no script can change.
func (s *sockets) do(q *socketRequest, origin string) (*socketAnswer, error) {
	if q.Do == "open" {
		return s.open(q, origin)
	}
	s.mu.Lock()
	if q.ID < 0 || q.ID >= len(s.list) || s.list[q.ID] == nil {
		s.mu.Unlock()
		return nil, errors.New("there is no such WebSocket")
	}
	c := s.list[q.ID]
	s.mu.Unlock()
	switch q.Do {
	case "wait":
		return s.wait(q.ID, c), nil
	case "send":
		kind, content := websocket.MessageBinary, q.Bytes
		if q.Text != nil {
			kind, content = websocket.MessageText, []byte(*q.Text)
		}
		return &socketAnswer{ID: q.ID}, c.conn.Write(s.f.t.ctx, kind, content)
	case "close":
		s.f.running.Go(fault.Contain("render: close a WebSocket", func() { // it waits for the origin
			_ = c.conn.Close(websocket.StatusCode(q.Code), q.Reason)
		}))
		return &socketAnswer{ID: q.ID}, nil
	}
	return nil, fmt.Errorf("a WebSocket cannot %q", q.Do)
}

// open opens a WebSocket of the page through Options.Sockets, with the page's origin and without cookies. Redirects are
// not followed, as browsers do not.
func (s *sockets) open(q *socketRequest, origin string) (*socketAnswer, error) {
	o := s.f.t.o
	if o.Sockets == nil {
		return nil, errors.New("pages have no WebSockets here")
	}
	s.mu.Lock()
	id := len(s.list)
	if id == maxSockets {
		s.mu.Unlock()
		return nil, fmt.Errorf("over %d WebSockets", maxSockets)
	}
	s.list = append(s.list, nil)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.f.t.ctx, s.f.t.requestTime(q.URL))
	defer cancel()
	head := http.Header{"Origin": {origin}}
	if o.UserAgent != "" {
		head.Set("User-Agent", o.UserAgent)
	}
	conn, resp, err := websocket.Dial(ctx, q.URL, &websocket.DialOptions{
		HTTPClient: &http.Client{
			Transport:     o.Sockets,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		HTTPHeader: head, Subprotocols: q.Protocols,
	})
	if err != nil {
		return nil, err
	}
	if resp.Body != nil {
		defer resp.Body.Close() // the library says that it need not be
	}
	conn.SetReadLimit(o.MaxBody)
	c := &socket{conn: conn, messages: make(chan socketMessage, maxWaiting), last: time.Now()}
	s.mu.Lock()
	s.list[id] = c
	s.mu.Unlock()
	failed := func(err error) {
		_ = conn.CloseNow() // the origin must not keep it
		s.f.t.end(err)
	}
	s.f.running.Go(fault.ContainTo(failed, "render: read a WebSocket", func() { s.read(c, q.URL) }))
	return &socketAnswer{ID: id, Protocol: conn.Subprotocol()}, nil
}

// talking reports whether a WebSocket of the page has messages without a pause. Then the page is not done.
func (s *sockets) talking() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.list, func(c *socket) bool {
		return c != nil && c.talking(s.f.t.o.stepTimes().message)
	})
}

// read takes the messages of a WebSocket of the page until it ends. A page that does not take them stops the reading at
// maxWaiting, and so the origin.
func (s *sockets) read(c *socket, from string) {
	defer close(c.messages)
	defer c.conn.CloseNow() //nolint:errcheck // it has ended
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.over = true
	}()
	for first := true; ; first = false {
		kind, content, err := c.conn.Read(s.f.t.ctx)
		if err != nil {
			// 1006 is the code for a connection that ended without a close frame (RFC 6455, section 7.1.5).
			c.code = 1006 // nobody closed it
			if e, ok := errors.AsType[websocket.CloseError](err); ok {
				c.code, c.reason = int(e.Code), e.Reason
			}
			return
		}
		if first {
			if u, err := url.Parse(from); err == nil { // what it says now tells nothing about later
				s.f.note(Response{URL: u, Status: http.StatusOK, Header: http.Header{"Cache-Control": {"no-cache"}}})
			}
		}
		if !s.f.take(len(content)) {
			// 1009 is the code for a message that is too big (RFC 6455, section 7.4.1).
			c.code, c.reason = 1009, "too many bytes"
			return
		}
		m := socketMessage{Bytes: content}
		if kind == websocket.MessageText {
			text := string(content)
			m = socketMessage{Text: &text}
		}
		c.mu.Lock()
		c.last = time.Now()
		c.mu.Unlock()
		select {
		case c.messages <- m:
		case <-s.f.t.ctx.Done():
			return
		}
	}
}

// take counts bytes of a WebSocket among those of the page's responses, and reports whether the page may have them.
func (f *traffic) take(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes += int64(n)
	return f.bytes <= maxTotal
}

// wait returns the messages of a WebSocket that came, or that none came for a while. While it waits the clock of the
// page stands still; after a pause the page is told so, and its clock may go on.
func (s *sockets) wait(id int, c *socket) *socketAnswer {
	c.mu.Lock()
	rest := s.f.t.o.stepTimes().message - time.Since(c.last)
	c.mu.Unlock()
	a := &socketAnswer{ID: id}
	timer := time.NewTimer(max(0, rest))
	defer timer.Stop()
	select {
	case m, ok := <-c.messages:
		if !ok {
			a.Closed, a.Code, a.Reason = true, c.code, c.reason
			return a
		}
		a.Messages = append(a.Messages, m)
	case <-timer.C:
		a.Quiet = true
	case <-s.f.t.ctx.Done():
		a.Quiet = true
	}
	for len(a.Messages) > 0 {
		select {
		case m, ok := <-c.messages:
			if ok {
				a.Messages = append(a.Messages, m)
				continue
			}
		default:
		}
		break // the next wait tells of the end
	}
	return a
}

// withOwnConnections returns the value of a Content-Security-Policy with which a page may send requests to its own
// origin, since its WebSockets are made of them. It may connect to what it could connect to before. Of several policies
// in a field each must allow it; connect-src falls back to default-src.
func withOwnConnections(value string) string {
	policies := strings.Split(value, ",") // each of them holds
	for i, policy := range policies {
		list := strings.Split(policy, ";")
		rest, own := "", -1
		for n, directive := range list {
			switch words := strings.Fields(directive); {
			case len(words) == 0:
			case strings.EqualFold(words[0], "connect-src") && own < 0: // the first counts
				own = n
			case strings.EqualFold(words[0], "default-src") && rest == "":
				rest = strings.Join(words[1:], " ") + " "
			}
		}
		switch {
		case own >= 0:
			list[own] = addSelf(list[own])
		case rest != "":
			list = append(list, addSelf(" connect-src "+rest))
		}
		policies[i] = strings.Join(list, ";")
	}
	return strings.Join(policies, ",")
}

// addSelf adds 'self', for sockets, to the sources of a directive. Beside another source 'none' means nothing.
func addSelf(directive string) string { return strings.TrimRight(directive, " ") + " 'self'" }

// prepareSockets replaces the class WebSocket in each frame before the page's own scripts.
const prepareSockets = `(() => {
	const ask = fetch.bind(window), later = setTimeout.bind(window), at = location.origin + %q;
	const call = async (what) => (await ask(at, {method: 'POST', body: JSON.stringify(what)})).json();
	const encode = async (data) => {
		if (typeof data === 'string') return {text: data};
		const bytes = new Uint8Array(data instanceof Blob ? await data.arrayBuffer() : data.buffer || data);
		let text = '';
		for (const b of bytes) text += String.fromCharCode(b);
		return {bytes: btoa(text)};
	};
	const kinds = ['open', 'message', 'error', 'close'];
	window.WebSocket = class WebSocket extends EventTarget {
		static CONNECTING = 0; static OPEN = 1; static CLOSING = 2; static CLOSED = 3;
		CONNECTING = 0; OPEN = 1; CLOSING = 2; CLOSED = 3;
		binaryType = 'blob'; bufferedAmount = 0; extensions = ''; protocol = ''; readyState = 0;
		onopen = null; onmessage = null; onerror = null; onclose = null;
		#id = -1; #sent = Promise.resolve();
		constructor(url, protocols = []) {
			super();
			const u = new URL(url, document.baseURI);
			u.protocol = u.protocol.replace('http', 'ws');
			if (!/^wss?:$/.test(u.protocol) || u.hash) throw new DOMException('invalid URL of a WebSocket', 'SyntaxError');
			if (location.protocol === 'https:' && u.protocol === 'ws:') throw new DOMException('not secure', 'SecurityError');
			this.url = u.href;
			for (const kind of kinds) this.addEventListener(kind, (e) => this['on' + kind]?.call(this, e));
			this.#run([].concat(protocols).map(String));
		}
		send(data) {
			if (this.readyState === 0) throw new DOMException('still connecting', 'InvalidStateError');
			if (this.readyState !== 1) return;
			this.#sent = this.#sent.then(async () => call({do: 'send', id: this.#id, ...await encode(data)})).catch(() => {});
		}
		close(code = 1000, reason = '') {
			if (this.readyState > 1) return;
			this.readyState = 2;
			if (this.#id >= 0) call({do: 'close', id: this.#id, code, reason}).catch(() => {});
		}
		async #run(protocols) {
			try {
				const opened = await call({do: 'open', url: this.url, protocols});
				this.#id = opened.id;
				this.protocol = opened.protocol || '';
				if (this.readyState === 2) return void this.#end(1006, '');
				this.readyState = 1;
				this.dispatchEvent(new Event('open'));
				for (;;) {
					const got = await call({do: 'wait', id: this.#id});
					for (const m of got.messages || []) this.#take(m);
					if (got.closed) return void this.#end(got.code, got.reason || '');
					if (got.quiet) await new Promise((done) => later(done, 500));
				}
			} catch {
				this.dispatchEvent(new Event('error'));
				this.#end(1006, '');
			}
		}
		#take(m) {
			if (this.readyState !== 1) return;
			let data = m.text;
			if (data === undefined) {
				data = Uint8Array.from(atob(m.bytes || ''), (c) => c.charCodeAt(0)).buffer;
				if (this.binaryType === 'blob') data = new Blob([data]);
			}
			this.dispatchEvent(new MessageEvent('message', {data, origin: new URL(this.url).origin}));
		}
		#end(code, reason) {
			if (this.readyState === 3) return;
			this.readyState = 3;
			this.dispatchEvent(new CloseEvent('close', {code, reason, wasClean: code !== 1006}));
		}
	};
})()`
