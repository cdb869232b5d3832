package redistest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TLS is [Server] for a port of the server that speaks TLS only, with a certificate that nobody but the client of the
// returned options trusts.
func TLS(t testing.TB) *redis.Options {
	t.Helper()
	certificate, key, roots := newCertificate(t)
	var port string
	launch(t, func() []string {
		port = freePort(t)
		return []string{
			"--tls-port", port, "--tls-cert-file", certificate, "--tls-key-file", key,
			"--tls-ca-cert-file", certificate, "--tls-auth-clients", "no",
		}
	})
	return &redis.Options{
		Addr:      net.JoinHostPort(host, port),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
	}
}

// newCertificate writes a certificate for the loopback address, which is its own authority, and its key, and returns
// their paths and who trusts it.
func newCertificate(t testing.TB) (certificate, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IPAddresses:           []net.IP{net.ParseIP(host)},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(signed)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AddCert(parsed)
	return writePEM(t, "CERTIFICATE", signed), writePEM(t, "PRIVATE KEY", secret), roots
}

func writePEM(t testing.TB, block string, bytes []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "redis.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: block, Bytes: bytes}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Unix is [Server] for the server's unix socket.
func Unix(t testing.TB) *redis.Options {
	t.Helper()
	// The path of a socket is 100 bytes or so at most, which t.TempDir may be longer than.
	dir, err := os.MkdirTemp("", "redis")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "socket")
	launch(t, func() []string { return []string{"--unixsocket", socket, "--unixsocketperm", "700"} })
	return &redis.Options{Network: "unix", Addr: socket}
}

// User gives a server, whose options are those of a client that may do so, a user by the rules of ACL SETUSER, and returns
// the options of that user's client. The user has no rights but by the rules.
func User(t testing.TB, server *redis.Options, name string, rules ...string) *redis.Options {
	t.Helper()
	const password = "secret"
	client := redis.NewClient(server)
	defer func() { _ = client.Close() }()
	rules = append([]string{"reset", "on", ">" + password}, rules...)
	if err := client.ACLSetUser(context.Background(), name, rules...).Err(); err != nil {
		t.Fatal(err)
	}
	user := *server
	user.Username, user.Password = name, password
	return &user
}
