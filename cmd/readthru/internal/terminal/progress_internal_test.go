package terminal

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestALongFetchTellsThatItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ch := make(chan int)
		go func() {
			time.Sleep(12 * time.Second)
			ch <- 7
		}()
		urls := []string{"https://a.test/?token=secret"}
		if got := Await(NewWait(&out), ch, 0, urls); got != 7 {
			t.Errorf("got %d", got)
		}
		want := "readthru: https://a.test/?token=***: waiting for 5s\n" +
			"readthru: https://a.test/?token=***: waiting for 10s\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
