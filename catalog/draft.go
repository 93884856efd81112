package catalog

// garbage is the files one commit forgot.
type garbage struct {
	Micros int64    `json:"micros"` // when
	Files  []string `json:"files"`  // paths
}

// draft is a snapshot being made from another by edits.
type draft struct{ *Snapshot }
