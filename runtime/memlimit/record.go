package memlimit

import (
	"encoding/binary"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// record is what a shard keeps of a bucket: a head of headSize bytes, and its name. It has no pointers, so that the garbage
// collector has nothing to look at, and is one cache line for most names of up to 24 bytes.
//
//	 0  hash     uint32
//	 4  next     uint32, the ref of the next record for which there is no place in a line
//	 8  used     uint32, of a bucket
//	12  size     uint32, of the name
//	16  mark     int64, of a bucket
//	24  part     int64, of a bucket
//	32  expires  int64, when the bucket is as new, by the limit that it was charged with last
//	40  name     its label, see labelOf, as a varint; the limit's name; the key
type record []byte

const headSize = 40

func (r record) hash() uint32        { return binary.LittleEndian.Uint32(r[0:]) }
func (r record) next() ref           { return ref(binary.LittleEndian.Uint32(r[4:])) }
func (r record) setNext(at ref)      { binary.LittleEndian.PutUint32(r[4:], uint32(at)) }
func (r record) expires() int64      { return int64(binary.LittleEndian.Uint64(r[32:])) }
func (r record) setExpires(at int64) { binary.LittleEndian.PutUint64(r[32:], uint64(at)) }

// extend keeps the bucket for longer if its limit has become slower since it was saved.
func (r record) extend(expires int64) {
	if r.expires() < expires {
		r.setExpires(expires)
	}
}

// name returns what the bucket's name is in the record.
func (r record) name() []byte { return r[headSize:][:binary.LittleEndian.Uint32(r[12:])] }

// bucket returns the bucket without its detail.
func (r record) bucket() bucket {
	return bucket{
		used: int64(binary.LittleEndian.Uint32(r[8:])),
		mark: int64(binary.LittleEndian.Uint64(r[16:])),
		part: int64(binary.LittleEndian.Uint64(r[24:])),
	}
}

// setBucket keeps the bucket without its detail. Used is at most a capacity and what can be charged in advance, and so less
// than 2^32.
func (r record) setBucket(b bucket) {
	binary.LittleEndian.PutUint32(r[8:], uint32(b.used))
	binary.LittleEndian.PutUint64(r[16:], uint64(b.mark))
	binary.LittleEndian.PutUint64(r[24:], uint64(b.part))
}

// labelOf returns what tells the names of a bucket apart where neither the limit's name nor the key does: the algorithm, and
// where the one ends and the other begins.
func labelOf(c *ratelimit.Charge) uint64 { return uint64(len(c.Name))<<3 | uint64(c.Limit.Algorithm) }

// sizeOf returns how many bytes the record of a charge's bucket has.
func sizeOf(c *ratelimit.Charge) int {
	var label [binary.MaxVarintLen64]byte
	return headSize + binary.PutUvarint(label[:], labelOf(c)) + len(c.Name) + len(c.Key)
}

// init makes a record that of a charge's bucket, which is as new.
func (r record) init(hash uint32, c *ratelimit.Charge) {
	clear(r[:headSize])
	binary.LittleEndian.PutUint32(r[0:], hash)
	name := binary.AppendUvarint(r[:headSize], labelOf(c))
	name = append(name, c.Name...)
	name = append(name, c.Key...)
	binary.LittleEndian.PutUint32(r[12:], uint32(len(name)-headSize))
}

// is reports whether the record is that of a charge's bucket.
func (r record) is(hash uint32, c *ratelimit.Charge) bool {
	if r.hash() != hash {
		return false
	}
	label, n := uint64(r[headSize]), 1
	if label >= 1<<7 { // it has more bytes
		label, n = binary.Uvarint(r[headSize:])
	}
	name := r.name()[n:]
	if label != labelOf(c) || len(name) != len(c.Name)+len(c.Key) {
		return false
	}
	for i := range len(c.Name) { // mostly two or three bytes, for which a call takes longer
		if name[i] != c.Name[i] {
			return false
		}
	}
	return string(name[len(c.Name):]) == string(c.Key)
}
