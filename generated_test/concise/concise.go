// Package concise has expressions whose code is to be as short, and as narrow, as if written by hand.
package concise

import "context"

type Conn struct {
	Partition int32
	configs   int
	config    *Config
}

type Config struct{ User, Host, Port string }

// Config counts its calls.
func (c *Conn) Config() *Config {
	c.configs++
	return c.config
}

type Pool struct{ Conns []*Conn }

type Service interface {
	// Once makes one call for three parts of the key.
	//
	//ratelimit:key=once:{c.Config().User}:{c.Config().Host}:{c.Config().Port} count=1 time=1h
	Once(c *Conn) error
	// Converted has one conversion where the value is the same by two.
	//
	//ratelimit:key=converted:{int(c.Partition)}:{uint(b)}:{int(n)} count=9 time=1h cost={int(c.Partition)}
	Converted(c *Conn, b uint8, n int64) error
	// Array has a pointer that is never nil.
	//
	//ratelimit:count=1 time=1h skip={(*[2]int)(ns)[1] == 2}
	Array(ns []int) error
	// Wide has conditions within conditions that are too wide for a line.
	//
	//ratelimit:count=1 time=1h skip={!(pool.Conns[0].Partition > 1 && pool.Conns[1].Partition > 1) && !(n == 1 || pool.Conns[2].Partition == 2)}
	Wide(ctx context.Context, pool *Pool, n int) error
	// Back has them after the call.
	//
	//ratelimit:count=1 time=1h refund={pool.Conns[0].Partition > 1 && pool.Conns[1].Partition > 1 && pool.Conns[2].Partition > 1}
	Back(pool *Pool) error
}
