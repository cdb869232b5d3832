package redislimit

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Time passes for what Check asks, too: where keys are on the move it would else be tried again for as long as the context lasts.
func TestTimePassesForCheck(t *testing.T) {
	client := redis.NewClient(&redis.Options{})
	defer func() { _ = client.Close() }()
	one := New(client).alone(client)
	before := one.sender.now()
	time.Sleep(time.Millisecond)
	if after := one.sender.now(); after <= before || after > time.Minute {
		t.Errorf("the time was %v and is %v: want it to pass", before, after)
	}
}
