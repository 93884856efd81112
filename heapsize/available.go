package heapsize

import (
	"bufio"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// Available returns the memory that the process may use: that of the machine, or of the innermost control group with a
// smaller limit. It is 0 where the system does not tell.
func Available() int64 { return available(os.DirFS("/")) }

func available(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	take := func(n int64, ok bool) {
		if ok && n > 0 {
			least = min(least, n)
		}
	}
	take(machineBytes(root))
	for _, line := range lines(root, "proc/self/cgroup") { // ID:CONTROLLERS:PATH
		parts := strings.SplitN(line, ":", 3)
		if len(parts) < 3 {
			continue
		}
		folder, name := "sys/fs/cgroup", "memory.max"
		if strings.Contains(","+parts[1]+",", ",memory,") {
			folder, name = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if parts[1] != "" {
			continue
		}
		// Within a container the path may be one of the host's, of which only the root is to be seen.
		for at := path.Join("/", parts[2]); ; at = path.Dir(at) {
			take(number(root, path.Join(folder, at, name)))
			if at == "/" {
				break
			}
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

func machineBytes(root fs.FS) (int64, bool) {
	for _, line := range lines(root, "proc/meminfo") { // MemTotal:  24000000 kB
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" {
			n, err := strconv.ParseInt(f[1], 10, 53)
			return n << 10, err == nil
		}
	}
	return 0, false
}

// number reads a file that holds one number; a group without a limit says max, or a number too large for a machine.
func number(root fs.FS, name string) (int64, bool) {
	all := lines(root, name)
	if len(all) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(all[0], 10, 64)
	return n, err == nil
}

func lines(root fs.FS, name string) (out []string) {
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		out = append(out, strings.TrimSpace(s.Text()))
	}
	return out
}
