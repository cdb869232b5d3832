package annotations

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const (
	wantDuration = `want seconds, or a duration such as 500ms, 10s, 1m30s, 24h, 7d`
	wantRate     = `want a count and a period, such as 5/s, 100/m, 1000/h, 10/d, 20/15m`
	wantCaller   = `want a name of a-z, 0-9, _ and -, such as user`
	wantMethod   = `want a method name, or a prefix with * behind, such as List*`
	wantAny      = `want key, count, time, rate, ip, by, algorithm, burst, refill, cost, skip, refund, wait, fallback, fail, mode, ` +
		`onempty, prefetch, message, status, name or methods`
	wantForm = `want attributes such as count=5, or skip`
	missing  = `count is missing: write count=5, or rate=5/s`
)

// invalid are directives with a ^ before each byte at which a mistake is reported, and the mistakes in that order.
var invalid = []struct {
	directive string
	want      []string
}{
	// The form.
	{`^//ratelimit:`, []string{`//ratelimit: is empty: ` + wantForm}},
	{"^//ratelimit: \t", []string{`//ratelimit: is empty: ` + wantForm}},
	{`//ratelimit:^limit`, []string{`limit without attributes: want limit count=5`}},
	{`//ratelimit:skip  ^count=5`, []string{`skip stands alone: want //ratelimit:skip, or the attribute skip={condition}`}},
	{`//ratelimit:skip ^// not now`, []string{`skip stands alone: want //ratelimit:skip, or the attribute skip={condition}`}},
	{`//ratelimit:^limits count=^0`, []string{`unknown directive "limits": did you mean "limit"?`, `count=0: want 1 to 1000000000`}},
	{`//ratelimit:^exempt`, []string{`unknown directive "exempt": did you mean "skip"?`}},
	{`//ratelimit:^Skip`, []string{`unknown directive "Skip": did you mean "skip"?`}},
	{`//ratelimit:^Key`, []string{`unknown directive "Key": did you mean "key"?`}},
	{`//ratelimit:^testGet count=5`, []string{`unknown directive "testGet": ` + wantForm}},
	{`//ratelimit:^5/s`, []string{`unknown directive "5/s": ` + wantForm}},
	{`^//ratelimit:key=a`, []string{missing}},
	{`^//ratelimit:limit key=a ^foo=1`, []string{missing, `unknown attribute "foo": ` + wantAny}},

	// Colons, which other notations have in the place of =.
	{`//ratelimit:count^:5`, []string{`count: colon in place of =: want count=VALUE`}},
	{`//ratelimit:key^:abc count=3`, []string{`key: colon in place of =: want key=VALUE`}},
	{`//ratelimit:ip^:true count=^0`, []string{`ip: colon in place of =: want ip=VALUE`, `count=0: want 1 to 1000000000`}},
	{`^//ratelimit:ip^:true`, []string{missing, `ip: colon in place of =: want ip=VALUE`}},
	{`//ratelimit:count=5 time^: 3`, []string{`time: colon in place of =: want time=VALUE`}},
	{`//ratelimit:^Count^:5 ^ip:`, []string{
		`unknown attribute "Count": did you mean "count"?`,
		`Count: colon in place of =: want Count=VALUE`,
		`ip: empty value: want ip=VALUE`,
	}},
	{`//ratelimit:count=5 ^key: cost={n}`, []string{`key: empty value: want key=VALUE`}}, // and cost is not a part of the key
	{`//ratelimit:rate=5/s ^message: fail=closed`, []string{`message: empty value: want message=VALUE`}},
	{`//ratelimit:rate=5/s message^:fail=closed`, []string{`message: colon in place of =: want message=VALUE`}},
	{`//ratelimit:count=5 key^: user:{id}`, []string{`key: colon in place of =: want key=VALUE`}},
	{"//ratelimit:count=5 ^key=\ttime^: 10s", []string{`key: empty value: want key=VALUE`, `time: colon in place of =: want time=VALUE`}},
	{`//ratelimit:limit^:count=5`, []string{`limit: colon behind it: want a blank`}},
	{`//ratelimit:limit^:count^:5`, []string{`limit: colon behind it: want a blank`, `count: colon in place of =: want count=VALUE`}},
	{`//ratelimit:^limit^:5`, []string{`unknown attribute "limit": did you mean "count"?`, `limit: colon in place of =: want limit=VALUE`}},
	{`//ratelimit:^skip:true`, []string{`"skip:true": want skip alone`}},
	{`//ratelimit:^limit:skip`, []string{`"limit:skip": want skip alone`}},
	{`//ratelimit:skip^:{a} count=5`, []string{`skip: colon in place of =: want skip=VALUE`}},
	{`//ratelimit:^hello:5 count=5`, []string{`unknown directive "hello:5": ` + wantForm}},
	{`//ratelimit:count=5 ^hello:5`, []string{`"hello:5": want name=value`}},

	// Names.
	{`//ratelimit:count=5 ^ipLimit=true`, []string{`unknown attribute "ipLimit": did you mean "ip"?`}},
	{`//ratelimit:^Key=a count=5`, []string{`unknown attribute "Key": did you mean "key"?`}},
	{`//ratelimit:^kye=a count=5`, []string{`unknown attribute "kye": did you mean "key"?`}},
	{`//ratelimit:^limit=5`, []string{`unknown attribute "limit": did you mean "count"?`}}, // and count is not missing
	{`//ratelimit:^rates=5/s`, []string{`unknown attribute "rates": did you mean "rate"?`}},
	{`//ratelimit:count=5 ^period=1 ^capacity=9`, []string{
		`unknown attribute "period": did you mean "time"?`,
		`unknown attribute "capacity": did you mean "burst"?`,
	}},
	{`//ratelimit:count=5 ^algo=gcra`, []string{`unknown attribute "algo": did you mean "algorithm"?`}},
	{`//ratelimit:count=5 ^status_code=503`, []string{`unknown attribute "status_code": did you mean "status"?`}},
	{`//ratelimit:count=5 ^on-empty=deny`, []string{`unknown attribute "on-empty": did you mean "onempty"?`}},
	{`//ratelimit:count=5 ^user`, []string{`unknown attribute "user": did you mean "by"?`}},
	{`//ratelimit:count=5 ^zzz={a b}`, []string{`unknown attribute "zzz": ` + wantAny}},
	{`//ratelimit:count=5 ^count=6`, []string{`count is written twice: want it once`}},
	{`//ratelimit:ip count=5 ^ip=true`, []string{`ip is written twice: want it once`}},
	{`//ratelimit:^count`, []string{`count: want count=VALUE`}},
	{`//ratelimit:count=5 ^burst ip`, []string{`burst: want burst=VALUE`}},
	{`//ratelimit:count=5 ^5 ^=6 ^a.b=c`, []string{`"5": want name=value`, `"=6": want name=value`, `"a.b=c": want name=value`}},
	{`^//ratelimit:^, key=a`, []string{missing, `unknown directive ",": ` + wantForm}},

	// Blanks, quotes and braces.
	{`//ratelimit:count=5 ^key=`, []string{`key: empty value: want key=VALUE`}},
	{`//ratelimit:^count= time=1`, []string{`count: empty value: want count=VALUE`}},
	{`//ratelimit:^count = time=1`, []string{`count: empty value: want count=VALUE`}},
	{`//ratelimit:rate=5/s message^ =fail=closed`, []string{`message: blanks around =: want message=VALUE`}},
	{`//ratelimit:count=5 ^key=""`, []string{`key: empty value: want key=VALUE`}},
	{"//ratelimit:count=5 ^message=``", []string{`message: empty value: want message=VALUE`}},
	{`//ratelimit:count^ = 5 time^= 1 burst^ =^x`, []string{
		`count: blanks around =: want count=VALUE`,
		`time: blanks around =: want time=VALUE`,
		`burst: blanks around =: want burst=VALUE`,
		`burst=x: want an integer, 1 to 1000000000`,
	}},
	{`//ratelimit:count=5 ^// per second`, []string{`comment after the attributes: want it on a line of its own`}},
	{`//ratelimit:count=5 key=^"a b`, []string{`key: string is not closed: want "`}},
	{`//ratelimit:key=^"a\" count=5`, []string{`key: string is not closed: want "`}}, // count may be inside
	{"//ratelimit:count=5 key=^`a b\"", []string{"key: raw string is not closed: want `"}},
	{`//ratelimit:count=5 key="a"^b burst=^0`, []string{
		`key: text after the closing quote: want a blank`,
		`burst=0: want 1 to 1000000000`,
	}},
	{"//ratelimit:count=5 key=`a`^`b`", []string{`key: text after the closing quote: want a blank`}},
	{`//ratelimit:count=5 key=a^"b c" ^foo=1`, []string{
		`key: quote inside a bare value: want the whole value quoted`,
		`unknown attribute "foo": ` + wantAny,
	}},
	{`//ratelimit:count=5 message="^\q^\x4 ^\'"`, []string{
		`message: unknown escape \q: want one of a Go string`,
		`message: unknown escape \x: want one of a Go string`,
		`message: unknown escape \': want one of a Go string`,
	}},
	{`//ratelimit:count=5 key=a^{b count=6`, []string{`key: { is not closed: want }`}},
	{`//ratelimit:count=5 key=a^{"}`, []string{`key: { is not closed: want }`}},
	{`//ratelimit:count=5 key="a^{b"`, []string{`key: { is not closed: want }`}},
	{"//ratelimit:count=5^\x00", []string{`count: control character U+0000: want printable text`}},
	{"//ratelimit:count=5 message=a^\x7fb", []string{`message: control character U+007F: want printable text`}},
	{"//ratelimit:count=5 message=\"a^\tb\"", []string{`message: control character U+0009: want printable text`}},
	{`//ratelimit:count=5 message="a\u00e9^\n"`, []string{`message: control character U+000A: want printable text`}},
	{"//ratelimit:count=5 message=a^\xffb", []string{`message: byte 0xff: want UTF-8`}},
	{`//ratelimit:count=5 message="a^\xff"`, []string{`message: byte 0xff: want UTF-8`}},
	{"//ratelimit:count=^5\u00a0time=1", []string{`count="5\u00a0time=1": want an integer, 1 to 1000000000`}}, // pasted from the web

	// Numbers.
	{`//ratelimit:count=^0`, []string{`count=0: want 1 to 1000000000`}},
	{`//ratelimit:count=^-1`, []string{`count=-1: want 1 to 1000000000`}},
	{`//ratelimit:count=^1000000001`, []string{`count=1000000001: want 1 to 1000000000`}},
	{`//ratelimit:count=^99999999999999999999`, []string{`count=99999999999999999999: want 1 to 1000000000`}},
	{`//ratelimit:count=^1e6`, []string{`count=1e6: want an integer, 1 to 1000000000`}},
	{`//ratelimit:count=^+5`, []string{`count=+5: want an integer, 1 to 1000000000`}},
	{`//ratelimit:count=^5, time=1`, []string{`count=5,: want an integer, 1 to 1000000000`}},
	{`//ratelimit:count="^5 "`, []string{`count="5 ": want an integer, 1 to 1000000000`}},
	{`//ratelimit:count=5 burst=^0`, []string{`burst=0: want 1 to 1000000000`}},
	{`//ratelimit:count=5 prefetch=^1`, []string{`prefetch=1: want 2 to 1000000000`}},
	{`//ratelimit:count=5 status=^200`, []string{`status=200: want 400 to 999`}},
	{`//ratelimit:count=5 status=^1000`, []string{`status=1000: want 400 to 999`}},
	{`//ratelimit:count=5 status=^Conflict`, []string{`status=Conflict: want an integer, 400 to 999`}},
	{`//ratelimit:count=5 cost=^-1`, []string{`cost=-1: want 0 to 1000000000`}},
	{`//ratelimit:count=5 cost=^n`, []string{`cost=n: want an integer, 0 or more, or an expression in braces`}},
	{`//ratelimit:count=5 cost=^{n}{m}`, []string{`cost={n}{m}: want an integer, 0 or more, or an expression in braces`}},
	{`//ratelimit:count=5 cost=^T{n}`, []string{`cost=T{n}: want an integer, 0 or more, or an expression in braces`}},

	// Periods and rates.
	{`//ratelimit:count=5 time=^0`, []string{`time=0: want 1ms to 366d`}},
	{`//ratelimit:count=5 time=^0ms`, []string{`time=0ms: want 1ms to 366d`}},
	{`//ratelimit:count=5 time=^367d`, []string{`time=367d: want 1ms to 366d`}},
	{`//ratelimit:count=5 time=^366d1ms`, []string{`time=366d1ms: want 1ms to 366d`}},
	{`//ratelimit:count=5 time=^99999999999999999999`, []string{`time=99999999999999999999: want 1ms to 366d`}},
	{`//ratelimit:count=5 time=^5x`, []string{`time=5x: ` + wantDuration}},
	{`//ratelimit:count=5 time=^s`, []string{`time=s: ` + wantDuration}},
	{`//ratelimit:count=5 time=^-1s`, []string{`time=-1s: ` + wantDuration}},
	{`//ratelimit:count=5 time=^1.5s`, []string{`time=1.5s: ` + wantDuration}},
	{`//ratelimit:count=5 time=^30s1m`, []string{`time=30s1m: ` + wantDuration}},
	{`//ratelimit:count=5 time=^1m30`, []string{`time=1m30: ` + wantDuration}},
	{`//ratelimit:count=5 time=^1m1m`, []string{`time=1m1m: ` + wantDuration}},
	{`//ratelimit:count=5 time=^100us`, []string{`time=100us: ` + wantDuration}},
	{`//ratelimit:count=5 wait=^0`, []string{`wait=0: want 1ms to 366d`}},
	{`//ratelimit:count=5 wait=^soon`, []string{`wait=soon: ` + wantDuration}},
	{`//ratelimit:rate=^5`, []string{`rate=5: ` + wantRate}},
	{`//ratelimit:rate=^5/`, []string{`rate=5/: ` + wantRate}},
	{`//ratelimit:rate=^/s`, []string{`rate=/s: ` + wantRate}},
	{`//ratelimit:rate=^5/60`, []string{`rate=5/60: ` + wantRate}}, // not a fraction
	{`//ratelimit:rate=^5/min`, []string{`rate=5/min: ` + wantRate}},
	{`//ratelimit:rate=^0.5/s`, []string{`rate=0.5/s: want a whole count, such as 1/2s`}},
	{`//ratelimit:rate=^2.0/m`, []string{`rate=2.0/m: want a whole count, such as 2/m`}},
	{`//ratelimit:rate=^1.25/1d`, []string{`rate=1.25/1d: want a whole count, such as 5/4d`}},
	{`//ratelimit:rate=^-0.5/s`, []string{`rate=-0.5/s: ` + wantRate}},
	{`//ratelimit:rate=^0.0/s`, []string{`rate=0.0/s: ` + wantRate}},
	{`//ratelimit:rate=^0.5/15m`, []string{`rate=0.5/15m: ` + wantRate}},
	{`//ratelimit:rate=^0/s`, []string{`rate=0/s: want a count of 1 to 1000000000`}},
	{`//ratelimit:rate=^5/0s`, []string{`rate=5/0s: want a period of 1ms to 366d`}},
	{`//ratelimit:rate=^5/400d`, []string{`rate=5/400d: want a period of 1ms to 366d`}},

	// Words and names.
	{`//ratelimit:count=5 ip=^yes`, []string{`ip=yes: want true or false`}},
	{`//ratelimit:count=5 algorithm=^fastest`, []string{
		`algorithm=fastest: want token-bucket, fixed-window, sliding-log, sliding-window, leaky-bucket or concurrency`,
	}},
	{`//ratelimit:count=5 algorithm=^fixed cost=^6`, []string{`algorithm=fixed: did you mean "fixed-window"?`, `cost=6: want 0 to the capacity, 5`}},
	{`//ratelimit:count=5 algorithm=^TokenBucket`, []string{`algorithm=TokenBucket: did you mean "token-bucket"?`}},
	{`//ratelimit:count=5 algorithm=^gcra burst=5`, []string{`algorithm=gcra: did you mean "leaky-bucket"?`}},
	{`//ratelimit:count=5 algorithm=^fixed_windwo`, []string{`algorithm=fixed_windwo: did you mean "fixed-window"?`}},
	{`//ratelimit:count=5 refill=^smooth`, []string{`refill=smooth: did you mean "greedy"?`}},
	{`//ratelimit:count=5 fail=^close`, []string{`fail=close: did you mean "closed"?`}},
	{`//ratelimit:count=5 fail=^deny onempty=^closed`, []string{`fail=deny: did you mean "closed"?`, `onempty=closed: did you mean "deny"?`}},
	{`//ratelimit:count=5 mode=^x`, []string{`mode=x: want enforce, shadow or off`}},
	{`//ratelimit:count=5 onempty=^x`, []string{`onempty=x: want deny, share or allow`}},
	{`//ratelimit:count=5 name=^1s`, []string{`name=1s: only a limit without name= is called by its period: want letters, digits and _, not starting with a digit`}},
	{`//ratelimit:count=5 name=^1st`, []string{`name=1st: want letters, digits and _, not starting with a digit`}},
	{`//ratelimit:count=5 name=^per-second`, []string{`name=per-second: want letters, digits and _, not starting with a digit`}},
	{`//ratelimit:count=5 fallback=^pkg.Func`, []string{`fallback=pkg.Func: want the name of a function or method`}},
	{`//ratelimit:count=5 fallback=^return`, []string{`fallback=return: want the name of a function or method`}},
	{`//ratelimit:count=5 fallback=^_`, []string{`fallback=_: want the name of a function or method`}},
	{`//ratelimit:count=5 ^timeUnit=SECONDS`, []string{`unknown attribute "timeUnit": did you mean "time"?`}},
	{`//ratelimit:count=5 ^limitType=user`, []string{`unknown attribute "limitType": did you mean "by"?`}},
	{`//ratelimit:^permitsPerSecond=5`, []string{`unknown attribute "permitsPerSecond": did you mean "rate"?`}},
	{`//ratelimit:count=5 by=^User`, []string{`by: "User": ` + wantCaller}},
	{`//ratelimit:count=5 by=ip,^,^ip,^`, []string{`by: "": ` + wantCaller, `by: "ip" is listed twice: want it once`, `by: "": ` + wantCaller}},
	{`//ratelimit:count=5 by="ip,^ user"`, []string{`by: " user": ` + wantCaller}},
	{`//ratelimit:count=5 methods=Get,^*Get,^L*t,^Get,^a.b,^func`, []string{
		`methods: "*Get": ` + wantMethod,
		`methods: "L*t": ` + wantMethod,
		`methods: "Get" is listed twice: want it once`,
		`methods: "a.b": ` + wantMethod,
		`methods: "func": ` + wantMethod,
	}},

	// Key templates and expressions.
	{`//ratelimit:count=5 key=^#id`, []string{`key: #id is not replaced: want {id}, an expression of Go`}},
	{`//ratelimit:count=5 key=user:^#user.id`, []string{`key: #user.id is not replaced: want {user.id}, an expression of Go`}},
	{`//ratelimit:count=5 key="'user:' + ^#user.getId() + ^#p1"`, []string{
		`key: #user.getId() is not replaced: want {user.getId()}, an expression of Go`,
		`key: #p1 is not replaced: want {$1}, an expression of Go`,
	}},
	{`//ratelimit:count=5 key=a^}b^}`, []string{`key: } without {: want }} for a literal brace`, `key: } without {: want }} for a literal brace`}},
	{`//ratelimit:count=5 key={^}{ ^}`, []string{`key: {} is empty: want an expression`, `key: {} is empty: want an expression`}},
	{`//ratelimit:count=5 key=^{@}^{@IP}^{@ip.x}`, []string{`key: {@}: ` + wantCaller, `key: {@IP}: ` + wantCaller, `key: {@ip.x}: ` + wantCaller}},
	{`//ratelimit:count=5 key=x{a +^}`, []string{`key: {a +}: expected operand, found }`}},
	{`//ratelimit:count=5 key={f(a^}{b ^c}`, []string{`key: {f(a}: missing ',' before } in argument list`, `key: {b c}: expected }, found c`}},
	{`//ratelimit:count=5 key={a^;}`, []string{`key: {a;}: expected }, found ';'`}},
	{`//ratelimit:count=5 key="\u0041é{a ^b}"`, []string{`key: {a b}: expected }, found b`}},
	{`//ratelimit:count=5 key={a^$0}`, []string{`key: {a$0}: illegal character U+0024 '$'`}},
	{`//ratelimit:count=5 key={^$x}{^$01}`, []string{`key: {$x}: illegal character U+0024 '$'`, `key: {$01}: illegal character U+0024 '$'`}},
	{`//ratelimit:count=5 key={a ^// b}`, []string{`key: {a // b}: want no comment`}},
	{`//ratelimit:count=5 key={a ^/* b */ + 1}`, []string{`key: {a /* b */ + 1}: want no comment`}},
	{`//ratelimit:count=5 skip=^true`, []string{`skip=true: want a condition in braces, such as skip={n == 0}`}},
	{`//ratelimit:count=5 refund=^{a}x`, []string{`refund={a}x: want a condition in braces, such as refund={n == 0}`}},
	{`//ratelimit:count=5 skip={^}`, []string{`skip: {} is empty: want an expression`}},
	{`//ratelimit:count=5 cost={^@n}`, []string{`cost: {@n}: illegal character U+0040 '@'`}},
	{`//ratelimit:count=5 refund={err ^= nil}`, []string{`refund: {err = nil}: expected '==', found '='`}},

	// One attribute against another.
	{`//ratelimit:^count=5 rate=5/s ^time=1`, []string{
		`count beside rate: want rate alone, or count and time`,
		`time beside rate: want rate alone, or count and time`,
	}},
	{`//ratelimit:count=5 algorithm=fixed-window ^burst=5 ^refill=greedy`, []string{
		`burst with algorithm=fixed-window: want token-bucket or leaky-bucket`,
		`refill with algorithm=fixed-window: want token-bucket`,
	}},
	{`//ratelimit:count=5 ^refill=greedy algorithm=leaky-bucket`, []string{`refill with algorithm=leaky-bucket: want token-bucket`}},
	{`//ratelimit:count=5 algorithm=sliding-log ^prefetch=5`, []string{
		`prefetch with algorithm=sliding-log: want token-bucket, leaky-bucket or fixed-window`,
	}},
	{`//ratelimit:count=5 algorithm=concurrency ^prefetch=2 ^burst=^0`, []string{
		`prefetch with algorithm=concurrency: want token-bucket, leaky-bucket or fixed-window`,
		`burst with algorithm=concurrency: want token-bucket or leaky-bucket`,
		`burst=0: want 1 to 1000000000`,
	}},
	{`//ratelimit:count=^1000001`, []string{`count=1000001: more than 1000000 a second: want at most 1000000 per 1s`}},
	{`//ratelimit:count=^1001 time=1ms algorithm=sliding-log`, []string{`count=1001: more than 1000000 a second: want at most 1000 per 1ms`}},
	{`//ratelimit:rate=^2000000/s`, []string{`rate=2000000/s: more than 1000000 a second: want at most 1000000 per 1s`}},
	{`//ratelimit:count=5 time=365d burst=^501`, []string{`burst=501: fills in more than 100 years at 5 per 365d: want at most 500`}},
	{`//ratelimit:rate=1/366d burst=^1000000000`, []string{`burst=1000000000: fills in more than 100 years at 1 per 366d: want at most 99`}},
	{`//ratelimit:count=5 prefetch=^6`, []string{`prefetch=6: want 2 to the count, 5`}},
	{`//ratelimit:count=1 prefetch=^2`, []string{`prefetch=2: want none, the count is 1`}},
	{`//ratelimit:count=100 burst=5 prefetch=^6`, []string{`prefetch=6: want 2 to the burst, 5`}},
	{`//ratelimit:count=100 burst=1 prefetch=^2`, []string{`prefetch=2: want none, the burst is 1`}},
	{`//ratelimit:count=5 burst=100 prefetch=^6`, []string{`prefetch=6: want 2 to the count, 5`}},
	{`//ratelimit:count=5 cost=3 prefetch=^2`, []string{`prefetch=2: want at least the cost, 3, which a call takes at once anyway`}},
	{`//ratelimit:count=5 cost=^6 prefetch=2`, []string{`cost=6: want 0 to the capacity, 5`}},
	{`//ratelimit:count=5 cost=^6`, []string{`cost=6: want 0 to the capacity, 5`}},
	{`//ratelimit:count=5 burst=3 cost=^4`, []string{`cost=4: want 0 to the capacity, 3`}},
	{`//ratelimit:count=5000 cost=^1001 algorithm=concurrency`, []string{`cost=1001: want 0 to 1000 slots a call`}},
	{`//ratelimit:^rate=2/s algorithm=concurrency`, []string{`rate with algorithm=concurrency: want count=, the slots, and time= for a lease other than 30s`}},
	{`//ratelimit:count=5 cost=^6 algorithm=concurrency`, []string{`cost=6: want 0 to the capacity, 5`}},
	{`//ratelimit:count=5 algorithm=concurrency ^refund={err != nil}`, []string{
		`refund with algorithm=concurrency: want none, a call gives its slots back when it ends`,
	}},
	{`//ratelimit:count=5 ^refund={err != nil} cost=0 ^wait=1s`, []string{
		`refund with cost=0: want none, a call takes nothing that could come back`,
		`wait with cost=0: want none, such a call is never refused`,
	}},
	{`//ratelimit:count=5 ^prefetch=2 cost=0`, []string{`prefetch with cost=0: want none, a call takes nothing that could be taken in advance`}},
	{`//ratelimit:count=5 wait=1s ^prefetch=2`, []string{`prefetch with wait: want one of them, units that are taken in advance know of no turns`}},
	{`//ratelimit:rate=1000000/s wait=^16m41s`, []string{
		`wait=16m41s: 1000000 per 1s come to more than 1000000000 in that time: want at most 16m40s`,
	}},
	{`//ratelimit:count=3 time=1ms wait=^366d algorithm=leaky-bucket`, []string{
		`wait=366d: 3 per 1ms come to more than 1000000000 in that time: want at most 92h35m33s`,
	}},
	{`//ratelimit:rate=^x cost=6 prefetch=9`, []string{`rate=x: ` + wantRate}}, // nothing to compare with

	// Everything at once, in order of offset.
	{`^//ratelimit:cost=^n ^ipLimit=1 time=^5x burst=^0 key={^} ^time=2`, []string{
		missing,
		`cost=n: want an integer, 0 or more, or an expression in braces`,
		`unknown attribute "ipLimit": did you mean "ip"?`,
		`time=5x: ` + wantDuration,
		`burst=0: want 1 to 1000000000`,
		`key: {} is empty: want an expression`,
		`time is written twice: want it once`,
	}},

	// What Go does not read as a directive.
	{`^// ratelimit:count=5`, []string{`"// ratelimit:count" is not read as a directive: want "//ratelimit:count"`}},
	{"^//\tratelimit:skip", []string{`"//\tratelimit:skip" is not read as a directive: want "//ratelimit:skip"`}},
	{"^//\u00a0ratelimit:skip", []string{`"//\u00a0ratelimit:skip" is not read as a directive: want "//ratelimit:skip"`}},
	{`^//ratelimit: key=a`, []string{`"//ratelimit: key" is not read as a directive: want "//ratelimit:key"`}},
	{`^//ratelimit: five per second`, []string{`"//ratelimit: five" is not read as a directive: want "//ratelimit:five"`}},
	{`^// ratelimit: limit ip Key=a`, []string{`"// ratelimit: limit" is not read as a directive: want "//ratelimit:limit"`}},
	{`^//RateLimit:Key=a count=5`, []string{`"//RateLimit:Key" is not read as a directive: want "//ratelimit:key"`}},
	{`^//RateLimit:`, []string{`"//RateLimit:" is not read as a directive: want "//ratelimit:"`}},
	{`^//rate-limit:ipLimit=1`, []string{`"//rate-limit:ipLimit" is not read as a directive: want "//ratelimit:ip"`}},
	{`^//rate_limit:skip`, []string{`"//rate_limit:skip" is not read as a directive: want "//ratelimit:skip"`}},
	{`^//ratelimit key=a`, []string{`"//ratelimit key" is not read as a directive: want "//ratelimit:key"`}},
	{`^// ratelimit count=5`, []string{`"// ratelimit count" is not read as a directive: want "//ratelimit:count"`}},
	{`^//ratelimit skip`, []string{`"//ratelimit skip" is not read as a directive: want "//ratelimit:skip"`}},
	{`^//ratelimit :key=a`, []string{`"//ratelimit :key" is not read as a directive: want "//ratelimit:key"`}},
	{`^///ratelimit:key=a`, []string{`"///ratelimit:key" is not read as a directive: want "//ratelimit:key"`}},
	{`^//ratelmit:limit=4`, []string{`"//ratelmit:limit" is not read as a directive: want "//ratelimit:count"`}},
	{`^//ratelimitgen:limit count=4`, []string{`"//ratelimitgen:limit" is not read as a directive: want "//ratelimit:limit"`}},
	{`^//ratelimit`, []string{`"//ratelimit" is not read as a directive: want "//ratelimit:"`}},
	{`^//ratelimit;count=5`, []string{`"//ratelimit;count" is not read as a directive: want "//ratelimit:count"`}},
	{`^//ratelimit.count=5`, []string{`"//ratelimit.count" is not read as a directive: want "//ratelimit:count"`}},
	{`^//rate limit:count=5`, []string{`"//rate limit:count" is not read as a directive: want "//ratelimit:count"`}},
	{"^//\u200bratelimit:count=5", []string{`"//\u200bratelimit:count" is not read as a directive: want "//ratelimit:count"`}},
	{`^//ratelimit,count=5`, []string{`"//ratelimit,count" is not read as a directive: want "//ratelimit:count"`}},
	{`^//ratelimit/count=5`, []string{`"//ratelimit/count" is not read as a directive: want "//ratelimit:count"`}},
	{`^//ratelimit_count=5`, []string{`"//ratelimit_count" is not read as a directive: want "//ratelimit:count"`}},
	{"^//ratelimit\uff1acount=5", []string{`"//ratelimit\uff1acount" is not read as a directive: want "//ratelimit:count"`}},
	{"^//ratelimit\u200b:count=5", []string{`"//ratelimit\u200b:count" is not read as a directive: want "//ratelimit:count"`}},
	{"^//ratelimit\u00a0:count=5", []string{`"//ratelimit\u00a0:count" is not read as a directive: want "//ratelimit:count"`}},
	{`^//ratelimit=5`, []string{`"//ratelimit=5" is not read as a directive: want "//ratelimit:5"`}},
	{`^//ratelimit-count=5`, []string{`"//ratelimit-count" is not read as a directive: want "//ratelimit:count"`}},
	{`^//ratelimit(count=5)`, []string{`"//ratelimit(count" is not read as a directive: want "//ratelimit:count"`}},
	{`^//@ratelimit:count=5`, []string{`"//@ratelimit:count" is not read as a directive: want "//ratelimit:count"`}},
	{`^// @RateLimit(key = "testGet", time = 1)`, []string{`"// @RateLimit(key" is not read as a directive: want "//ratelimit:key"`}},
	{`^//@RateLimit`, []string{`"//@RateLimit" is not read as a directive: want "//ratelimit:"`}},
	{`^//@RateLimits({@RateLimit(count=5), @RateLimit(count=9)})`, []string{`"//@RateLimits(" is not read as a directive: want "//ratelimit:"`}},
	{`^//@RateLimits({`, []string{`"//@RateLimits(" is not read as a directive: want "//ratelimit:"`}},
	{`^//@RateLimit()`, []string{`"//@RateLimit(" is not read as a directive: want "//ratelimit:"`}},
	{`^//@RateLimiter(name = "backend")`, []string{`"//@RateLimiter(name" is not read as a directive: want "//ratelimit:name"`}},
	{`^// @RateLimiter("backend")`, []string{`"// @RateLimiter(" is not read as a directive: want "//ratelimit:"`}},
	{`^//@AccessLimit(seconds = 5, maxCount = 10)`, []string{`"//@AccessLimit(seconds" is not read as a directive: want "//ratelimit:time"`}},
	{`^//@Limit(key = "x", period = 10)`, []string{`"//@Limit(key" is not read as a directive: want "//ratelimit:key"`}},
	{`^//go:ratelimit count=5`, []string{`"//go:ratelimit count" is not read as a directive: want "//ratelimit:count"`}},
	{`^//+ratelimit:count=5`, []string{`"//+ratelimit:count" is not read as a directive: want "//ratelimit:count"`}},
	{`^//#ratelimit:count=5`, []string{`"//#ratelimit:count" is not read as a directive: want "//ratelimit:count"`}},
	{`^/*ratelimit:key=a*/`, []string{`"/*ratelimit:key" is not read as a directive: want "//ratelimit:key"`}},
	{`^/* ratelimit: skip */`, []string{`"/* ratelimit: skip" is not read as a directive: want "//ratelimit:skip"`}},
	{"/*\r\nGet gets.\r\n^\tratelimit:count=5\r\n*/", []string{`"ratelimit:count" is not read as a directive: want "//ratelimit:count"`}},
	{"/*\n^ * ratelimit:count=5\n */", []string{`"* ratelimit:count" is not read as a directive: want "//ratelimit:count"`}},
}

// splitMarks removes the ^ from a directive and returns where they were.
func splitMarks(marked string) (directive string, offsets []int) {
	for i, part := range strings.Split(marked, "^") {
		if i > 0 {
			offsets = append(offsets, len(directive))
		}
		directive += part
	}
	return directive, offsets
}

func TestParseErrors(t *testing.T) {
	for _, test := range invalid {
		directive, offsets := splitMarks(test.directive)
		a, err := Parse(directive)
		var mistakes Errors
		if a != nil || !errors.As(err, &mistakes) {
			t.Errorf("%s\ngot  %v, %v\nwant mistakes", directive, a, err)
			continue
		}
		if want := strings.Join(test.want, "\n"); err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", directive, err, want)
		}
		var got []int
		for _, mistake := range mistakes {
			got = append(got, mistake.Offset)
			if mistake.Error() != mistake.Message {
				t.Errorf("%s\ngot  %q\nwant %q", directive, mistake.Error(), mistake.Message)
			}
		}
		if !slices.Equal(got, offsets) {
			t.Errorf("%s\ngot  offsets %d\nwant offsets %d\n%v", directive, got, offsets, err)
		}
	}
}
