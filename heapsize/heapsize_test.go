package heapsize

import (
	"runtime/debug"
	"testing"
	"testing/fstest"
)

func TestAvailable(t *testing.T) {
	machine := "MemTotal:       24000000 kB\nMemFree:        1000000 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing told": {nil, 0},
		"machine":      {map[string]string{"proc/meminfo": machine}, 24000000 << 10},
		"no limit": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/user/a\n",
			"sys/fs/cgroup/user/a/memory.max": "max\n"}, 24000000 << 10},
		"group": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/user/a\n",
			"sys/fs/cgroup/user/a/memory.max": "2147483648\n"}, 2 << 30},
		"outer group": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/user/a\n",
			"sys/fs/cgroup/user/a/memory.max": "max\n", "sys/fs/cgroup/user/memory.max": "1073741824\n"}, 1 << 30},
		"container": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/host/path\n",
			"sys/fs/cgroup/memory.max": "536870912\n"}, 512 << 20},
		"first version": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "9:cpu:/x\n4:memory:/docker/1\n",
			"sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": "268435456\n"}, 256 << 20},
		"first version, no limit": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 24000000 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{}
			for path, text := range c.files {
				files[path] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := available(files); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Setenv("GOMEMLIMIT", "")
	limit, restore := Limit(3 << 30)
	if got := debug.SetMemoryLimit(-1); got != 3<<30 || limit != got {
		t.Errorf("the limit is %d, said to be %d", got, limit)
	}
	restore()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the limit is %d afterwards, was %d", got, before)
	}
	limit, restore = Limit(0)
	if want := Available() / 5 * 4; want > 0 && limit != want {
		t.Errorf("the limit is %d, want %d", limit, want)
	}
	restore()
	t.Setenv("GOMEMLIMIT", "5GiB")
	if limit, _ = Limit(1 << 30); limit != before || debug.SetMemoryLimit(-1) != before {
		t.Errorf("the limit became %d although the environment has one", limit)
	}
}
