package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/fault"
)

// lastAnswers is how long calls that run when the input ends may still be answered: a program that pipes requests in
// and closes the pipe wants the answers.
const lastAnswers = 10 * time.Second

// Serve speaks the protocol on a pair of streams, one message per line, until in or ctx ends. Calls that run when in
// ends have ten seconds to be answered; when ctx ends they end, too. A client that closes its end of out ends the
// session, which is not an error. A message that is not JSON, or over 4 MiB, is answered with an error and does not end
// the session. Serve closes in if it is an [io.Closer].
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	st := &stream{
		in: in, out: out, messages: make(chan jsonrpc.Message), stop: make(chan struct{}),
		answered: make(chan struct{}, 1), pending: map[any]bool{},
	}
	session, err := s.sdk.Connect(context.WithoutCancel(ctx), st, nil)
	if err != nil {
		return fmt.Errorf("begin a session: %w", err)
	}
	release := context.AfterFunc(ctx, func() { _ = st.Close() })
	defer release()
	err = session.Wait()
	_ = st.Close() // the session has ended: stop its goroutine
	if errors.Is(err, io.EOF) || errors.Is(err, errStopped) ||
		errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) {
		return nil // the client has left
	}
	return err
}

var errStopped = errors.New("the session was stopped")

// A stream is a connection of the SDK over a pair of streams, one message per line. Unlike the SDK's it continues after
// a message that cannot be parsed: one bad line of a client does not take its tools away.
type stream struct {
	in       io.Reader
	out      io.Writer
	messages chan jsonrpc.Message // from in; closed at the end of in
	stop     chan struct{}        // closed by Close
	answered chan struct{}        // gets an element after an answer
	once     sync.Once
	err      error // why in ended; set before messages is closed

	mu      sync.Mutex   // guards out and pending
	pending map[any]bool // ids of calls without an answer
}

var _ sdk.Transport = (*stream)(nil)

// Connect starts to read messages. It is called once, by the SDK. The goroutine ends with the input or with Close.
func (s *stream) Connect(context.Context) (sdk.Connection, error) {
	go fault.Contain("mcp: end the messages", func() {
		defer close(s.messages)
		if err := fault.Catch("mcp: read messages", func() error { s.readLines(); return nil }); err != nil {
			s.err = err
		}
	})()
	return s, nil
}

// SessionID is empty: a pair of streams is one session.
func (s *stream) SessionID() string { return "" }

// Close ends the session: it stops the reading, and closes the input, which else a read would wait for.
func (s *stream) Close() error {
	s.once.Do(func() {
		close(s.stop)
		if c, ok := s.in.(io.Closer); ok {
			_ = c.Close() // its rest is not needed
		}
	})
	return nil
}

// Read returns the next message. At the end of the input it waits for the answers of running calls and returns io.EOF.
func (s *stream) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg, ok := <-s.messages:
		if ok {
			return msg, nil
		}
	case <-s.stop:
		return nil, errStopped
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	// Calls that run are answered before the SDK learns of the end of the input, because it ends them with the session.
	end := time.NewTimer(lastAnswers)
	defer end.Stop()
	for s.waiting() {
		select {
		case <-s.answered:
		case <-end.C:
			return nil, s.err
		case <-s.stop:
			return nil, errStopped
		}
	}
	return nil, s.err
}

// waiting reports whether calls have no answer yet, for which Read waits at the end of the input.
func (s *stream) waiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) > 0
}

// Write sends a message, whole and on a line of its own, and marks the call that it answers as answered. The SDK calls
// it from several goroutines.
func (s *stream) Write(_ context.Context, msg jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.out.Write(append(line, '\n'))
	if r, ok := msg.(*jsonrpc.Response); ok {
		delete(s.pending, r.ID.Raw())
		select {
		case s.answered <- struct{}{}:
		default: // it already has one
		}
	}
	return err
}

// refuse answers a line that is not a message, from the reading goroutine. The answer has no id, since none could be
// read (JSON-RPC 2.0, section 5).
func (s *stream) refuse(code int, what string) {
	b, _ := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": code, "message": what},
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(append(b, '\n')) // the end of the input shows that the client is gone
}

// readLines reads messages from the input until it or the session ends. It leaves the reason in s.err.
func (s *stream) readLines() {
	r := bufio.NewReaderSize(s.in, 64<<10)
	for {
		line, err := readLine(r, maxRequest)
		if errors.Is(err, errLongLine) {
			s.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is over %d bytes", maxRequest))
			continue
		}
		if msg := s.decode(bytes.TrimSpace(line)); msg != nil {
			select {
			case s.messages <- msg:
			case <-s.stop:
				s.err = errStopped
				return
			}
		}
		if err != nil {
			s.err = err
			return
		}
	}
}

// decode returns the message of a line, or nil. It answers a line that is neither a message nor blank with an error. A
// call is pending from here on until Write sends its answer.
func (s *stream) decode(line []byte) jsonrpc.Message {
	if len(line) == 0 {
		return nil
	}
	if line[0] == '[' {
		s.refuse(jsonrpc.CodeInvalidRequest, "batches are not supported: send one message per line")
		return nil
	}
	msg, err := jsonrpc.DecodeMessage(line)
	switch {
	case err != nil && !json.Valid(line):
		s.refuse(jsonrpc.CodeParseError, "the line is not JSON")
		return nil
	case err != nil:
		s.refuse(jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC message: "+clip.Line(err.Error(), 200))
		return nil
	}
	if call, ok := msg.(*jsonrpc.Request); ok && call.IsCall() {
		s.mu.Lock()
		s.pending[call.ID.Raw()] = true
		s.mu.Unlock()
	}
	return msg
}

var errLongLine = errors.New("the line is too long")

// readLine returns the next line of the input. It skips a line over limit bytes and returns errLongLine, without
// keeping the line in memory. The last line may lack its end; it is returned with io.EOF.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > limit; !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && err == nil {
			return nil, errLongLine
		}
		if long {
			return nil, err
		}
		return line, err
	}
}
