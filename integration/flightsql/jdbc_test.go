package flightsql

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	server "github.com/tidemarkdb/tidemark/flightsql"
	"github.com/tidemarkdb/tidemark/integration/cache"
)

// jdbcDriver is the driver the Java program runs with.
const (
	jdbcDriver  = "org.apache.arrow:flight-sql-jdbc-driver:" + jdbcVersion
	jdbcVersion = "18.3.0"
)

// driverJar returns the path of the driver, which Maven fetches once.
func driverJar(t *testing.T) string {
	t.Helper()
	var jar string
	err := cache.Fill("jdbc", func(folder string) error {
		jar = filepath.Join(folder, "flight-sql-jdbc-driver-"+jdbcVersion+".jar")
		if _, err := os.Stat(jar); err == nil {
			return nil
		}
		out, err := exec.Command("mvn", "-q", "-B", "dependency:copy", "-Dartifact="+jdbcDriver, "-DoutputDirectory="+folder).CombinedOutput()
		if err != nil {
			return fmt.Errorf("mvn: %w\n%s", err, out)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
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
