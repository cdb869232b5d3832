package grpclimit_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/grpclimit"
)

// refusal is a refusal by two limits.
func refusal() *ratelimit.LimitError {
	second := ratelimit.Limit{Count: 5, Period: time.Second}
	day := ratelimit.Limit{Count: 1000, Period: 24 * time.Hour}
	return &ratelimit.LimitError{
		Method: "users.Service.Get",
		Name:   "daily",
		Key:    "get:203.0.113.9",
		Limit:  day,
		Result: ratelimit.Result{Limit: 1000, RetryAfter: 90*time.Second + time.Microsecond},
		Status: 503,
		Refused: []ratelimit.Outcome{
			{Name: "1s", Limit: second, Result: ratelimit.Result{Limit: 5, RetryAfter: 200 * time.Millisecond}},
			{Name: "daily", Limit: day, Result: ratelimit.Result{Limit: 1000, RetryAfter: 90*time.Second + time.Microsecond}},
		},
	}
}

func TestStatus(t *testing.T) {
	undecided := &ratelimit.DecisionError{Method: "users.Service.Get", Err: errors.New("dial tcp 10.1.2.3:6379: connection refused")}
	message := refusal()
	message.Message = "Ask for more."
	never := refusal()
	never.Result.RetryAfter = ratelimit.Never
	garbled := refusal()
	garbled.Message = "\xff"
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"refusal", refusal(), `{"code":8, "message":"The request is over its limit. Try again in 91 seconds.", "details":[` +
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo", "retryDelay":"90.000001s"}, ` +
			`{"@type":"type.googleapis.com/google.rpc.QuotaFailure", "violations":[` +
			`{"subject":"1s", "description":"The request is over its limit. Try again in 91 seconds.", "quotaId":"1s", "quotaValue":"5"}, ` +
			`{"subject":"daily", "description":"The request is over its limit. Try again in 91 seconds.", "quotaId":"daily", "quotaValue":"1000"}]}]}`},
		{"message", message, `{"code":8, "message":"Ask for more.", "details":[` +
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo", "retryDelay":"90.000001s"}, ` +
			`{"@type":"type.googleapis.com/google.rpc.QuotaFailure", "violations":[` +
			`{"subject":"1s", "description":"Ask for more.", "quotaId":"1s", "quotaValue":"5"}, ` +
			`{"subject":"daily", "description":"Ask for more.", "quotaId":"daily", "quotaValue":"1000"}]}]}`},
		{"never", never, `{"code":8, "message":"The request asks for more than its limit can ever admit.", "details":[` +
			`{"@type":"type.googleapis.com/google.rpc.QuotaFailure", "violations":[` +
			`{"subject":"1s", "description":"The request asks for more than its limit can ever admit.", "quotaId":"1s", "quotaValue":"5"}, ` +
			`{"subject":"daily", "description":"The request asks for more than its limit can ever admit.", "quotaId":"daily", "quotaValue":"1000"}]}]}`},
		{"undecided", undecided, `{"code":14, "message":"The limit of the request could not be checked."}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, err := range []error{c.err, fmt.Errorf("get user: %w", c.err), grpclimit.Error(c.err), fmt.Errorf("get user: %w", grpclimit.Error(c.err))} {
				// protojson varies its blanks from build to build.
				got := status.Convert(grpclimit.Error(err)).Proto()
				want := got.ProtoReflect().New().Interface()
				if err := protojson.Unmarshal([]byte(c.want), want); err != nil {
					t.Fatal(err)
				}
				if protojson.Format(got) != protojson.Format(want) {
					t.Errorf("%v: got\n%s\nwant\n%s", err, protojson.Format(got), protojson.Format(want))
				}
			}
			if err := grpclimit.Error(c.err); !errors.Is(err, c.err) || err.Error() != status.Convert(err).Err().Error() {
				t.Errorf("got %v, which is to wrap the limiter's error and say what the caller is told", err)
			}
		})
	}

	if got := status.Convert(grpclimit.Error(garbled)); got.Code() != codes.ResourceExhausted || len(got.Details()) > 0 {
		t.Errorf("a message that is not UTF-8: got %v, want a status without details", got)
	}
	if got := status.Code(grpclimit.Error(errors.Join(undecided, refusal()))); got != codes.ResourceExhausted {
		t.Errorf("a refusal beside what could not be decided: got %v", got)
	}
}

func TestOtherErrorsStayAsTheyAre(t *testing.T) {
	plain := errors.New("no such user")
	chosen := status.Error(codes.Internal, "the service's own")
	for _, err := range []error{nil, plain, chosen, fmt.Errorf("get: %w", chosen), (*ratelimit.LimitError)(nil)} {
		if got := grpclimit.Error(err); got != err { //nolint:errorlint // the error itself, not one that wraps it
			t.Errorf("got %v, want %v itself", got, err)
		}
	}
}

// chosen is an error that a service gives a status of its own.
type chosen struct{ error }

func (chosen) GRPCStatus() *status.Status {
	return status.New(codes.PermissionDenied, "the service's own")
}
func (c chosen) Unwrap() error { return c.error }

func TestWhichOfSeveralErrorsCounts(t *testing.T) {
	undecided := &ratelimit.DecisionError{Err: status.Error(codes.Aborted, "of a store that is asked over gRPC")}
	other := status.Error(codes.NotFound, "nobody")
	for _, c := range []struct {
		name string
		err  error
		want codes.Code
	}{
		{"a status around a refusal", chosen{refusal()}, codes.PermissionDenied},
		{"that wrapped", fmt.Errorf("get: %w", chosen{refusal()}), codes.PermissionDenied},
		{"that joined", errors.Join(errors.New("close"), chosen{refusal()}), codes.PermissionDenied},
		{"a refusal around a status", fmt.Errorf("get: %w", errors.Join(refusal(), other)), codes.ResourceExhausted},
		{"a status beside a refusal", errors.Join(other, refusal()), codes.ResourceExhausted},
		{"a status beside what could not be decided", errors.Join(other, undecided), codes.Unavailable},
		{"a refusal deep in a join", fmt.Errorf("%w, %w", undecided, fmt.Errorf("get: %w", errors.Join(other, refusal()))), codes.ResourceExhausted},
		{"the status of what the store said", undecided, codes.Unavailable},
		{"a join of others", errors.Join(other, errors.New("close")), codes.NotFound},
	} {
		if got := status.Code(grpclimit.Error(c.err)); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestReadRefusal(t *testing.T) {
	with := func(code codes.Code, details ...interface {
		Reset()
		String() string
		ProtoMessage()
	},
	) error {
		s := status.New(code, "m")
		for _, d := range details {
			var err error
			if s, err = s.WithDetails(d); err != nil {
				t.Fatal(err)
			}
		}
		return s.Err()
	}
	retry := &errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)}
	quota := &errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{{Subject: "project:7"}, {Subject: "a", QuotaId: "b"}}}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"nil", nil, ""},
		{"no status", errors.New("m"), ""},
		{"another code", with(codes.Unavailable, retry), ""},
		{"a message that is too large", with(codes.ResourceExhausted), ""},
		{"another detail", with(codes.ResourceExhausted, &errdetails.Help{}), ""},
		{"a wait", with(codes.ResourceExhausted, retry), "{m 1s []}"},
		{"no length of a wait", with(codes.ResourceExhausted, &errdetails.RetryInfo{}), "{m 0s []}"},
		{"a wait below 0", with(codes.ResourceExhausted, &errdetails.RetryInfo{RetryDelay: durationpb.New(-1)}), "{m 0s []}"},
		{"limits", with(codes.ResourceExhausted, quota), "{m 2562047h47m16.854775807s [project:7 b]}"},
		{"both", with(codes.ResourceExhausted, quota, retry), "{m 1s [project:7 b]}"},
		{"wrapped", fmt.Errorf("call: %w", with(codes.ResourceExhausted, retry)), "{m 1s []}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, refused := grpclimit.ReadRefusal(c.err)
			if refused != (c.want != "") || refused && fmt.Sprint(got) != c.want {
				t.Errorf("got %v, %v, want %s", got, refused, c.want)
			}
		})
	}
}
