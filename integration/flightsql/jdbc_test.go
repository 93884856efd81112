package flightsql

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	server "github.com/tidemarkdb/tidemark/flightsql"
)

// jdbcDriver is the driver the Java program runs with.
const (
	jdbcDriver  = "org.apache.arrow:flight-sql-jdbc-driver:" + jdbcVersion
	jdbcVersion = "18.3.0"
)

// driverJar returns the path of the driver, which Maven fetches once.
func driverJar(t *testing.T) string {
	t.Helper()
	_, self, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("the source of this package cannot be located")
	}
	folder := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(self))), ".cache", "jdbc")
	jar := filepath.Join(folder, "flight-sql-jdbc-driver-"+jdbcVersion+".jar")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close() // which unlocks
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(jar); err == nil {
		return jar
	}
	run(t, exec.Command("mvn", "-q", "-B", "dependency:copy", "-Dartifact="+jdbcDriver, "-DoutputDirectory="+folder))
	return jar
}

func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

func TestJDBC(t *testing.T) {
	jar, classes := driverJar(t), t.TempDir()
	run(t, exec.Command("javac", "-d", classes, "-cp", jar, "Jdbc.java"))
	java := func(t *testing.T, addr string, args ...string) {
		run(t, exec.Command("java", append([]string{"--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp",
			jar + string(os.PathListSeparator) + classes, "Jdbc", addr}, args...)...))
	}
	t.Run("open", func(t *testing.T) { java(t, start(t, server.Options{})) })
	t.Run("user", func(t *testing.T) {
		java(t, start(t, server.Options{Users: map[string]string{"ada": "s3cret"}}), "ada", "s3cret")
	})
}
